//! Every order in which the datagrams of a flight, or its records, can arrive (RFC 6347 sections 4.2.2 and 4.2.4).

use crate::{CLIENT, SERVER, assert_works, pair};
use dtls_core::Micros;
use dtls_tests::{Fate, Kind, Network, Passing, address, wire};

/// All orders of `n` things.
fn orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for shorter in orders(n - 1) {
        for place in 0..n {
            let mut order = shorter.clone();
            order.insert(place, n - 1);
            all.push(order);
        }
    }
    all
}

/// A handshake at this MTU under a hook; it has to connect, whatever the hook does to the order.
fn connects(
    client: Kind,
    server: Kind,
    mtu: u16,
    hook: impl FnMut(&mut Passing<'_>) -> Fate + 'static,
) -> Network {
    let mut net = Network::new(3);
    net.hook(hook);
    let (mut client, mut server) = pair(&net, client, server);
    for peer in [&mut client, &mut server] {
        peer.config.mtu = mtu;
    }
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(
        (client.failure(), server.failure()),
        (None, None),
        "MTU {mtu}"
    );
    net.unhook();
    assert_works(&mut net, &mut client, &mut server);
    net
}

/// The datagrams of the flights that take several, in every order: their first transmission arrives in that order, long
/// before any timer runs out.
#[test]
fn datagrams_of_a_flight_in_every_order() {
    let mut tried = 0;
    for (client, server) in [
        (Kind::Nothing, Kind::Raw),
        (Kind::Raw, Kind::Raw),
        (Kind::X509, Kind::X509),
    ] {
        for mtu in [128, 150, 200] {
            let honest = connects(client, server, mtu, |_| Fate::Pass);
            // Before its flight 4 the server has sent a HelloVerifyRequest, before flight 5 the client two ClientHellos.
            for (sender, first) in [(SERVER, 1), (CLIENT, 2)] {
                let sent = honest
                    .log
                    .iter()
                    .filter(|sent| sent.from == address(sender))
                    .count();
                let flight = sent - first - 2; // behind it: one record of data, and flight 6 or nothing
                let flight = if sender == SERVER { flight } else { flight + 1 };
                if flight > 6 {
                    continue; // 5,040 orders and more say nothing new
                }
                for order in orders(flight) {
                    tried += 1;
                    connects(client, server, mtu, move |datagram| {
                        let place = datagram
                            .nth
                            .checked_sub(first)
                            .and_then(|nth| order.get(nth));
                        match place {
                            Some(place) if datagram.from == address(sender) => {
                                Fate::Late(Micros::from_millis(u64::try_from(*place).unwrap()))
                            }
                            _ => Fate::Pass,
                        }
                    });
                }
            }
        }
    }
    println!("{tried} orders of datagrams");
    assert!(tried > 1_000);
}

/// Every message in a record of its own, and the records of a flight in every order in one datagram.
#[test]
fn records_of_a_flight_in_every_order() {
    let mut tried = 0;
    for (client, server) in [
        (Kind::Nothing, Kind::Raw),
        (Kind::Raw, Kind::Raw),
        (Kind::X509, Kind::X509),
    ] {
        // Flight 4, flight 5 and flight 6: whose, and which of their datagrams.
        for (sender, nth) in [(SERVER, 1), (CLIENT, 2), (SERVER, 2)] {
            let honest = connects(client, server, 1232, |_| Fate::Pass);
            let datagram = honest
                .log
                .iter()
                .filter(|sent| sent.from == address(sender))
                .nth(nth)
                .unwrap();
            for order in orders(wire::split(&datagram.bytes).len()) {
                tried += 1;
                connects(client, server, 1232, move |datagram| {
                    if datagram.from == address(sender) {
                        let records = wire::split(datagram.bytes);
                        *datagram.bytes = if datagram.nth == nth {
                            order
                                .iter()
                                .flat_map(|place| records[*place].clone())
                                .collect()
                        } else {
                            records.concat()
                        };
                    }
                    Fate::Pass
                });
            }
        }
    }
    println!("{tried} orders of records");
    assert!(tried > 500);
}
