//! Loss, duplication and reordering (RFC 6347 sections 4.1.2.6 and 4.2.4).

use crate::{CLIENT, SERVER, assert_works, pair, to_datagram};
use dtls_core::{Micros, Timers};
use dtls_tests::wire;
use dtls_tests::{Fate, Kind, Link, Network, Peer};

/// The largest datagram of the small cases: every flight but the ClientHellos takes several.
const SMALL: u16 = 200;
const CASES: [(Kind, Kind, u16); 4] = [
    (Kind::Nothing, Kind::Raw, 1232),
    (Kind::Raw, Kind::Raw, 1232),
    (Kind::Raw, Kind::Raw, SMALL),
    (Kind::X509, Kind::X509, SMALL),
];

/// Runs a handshake on which `fate` falls once, for each datagram of the undisturbed handshake.
fn each_datagram(fate: Fate, check: impl Fn(&mut Network, &mut Peer, &mut Peer)) {
    for (client_kind, server_kind, mtu) in CASES {
        let start = |net: &mut Network| {
            let (mut client, mut server) = pair(net, client_kind, server_kind);
            net.link.mtu = mtu.into();
            client.config.mtu = mtu;
            server.config.mtu = mtu;
            client.connect(&server);
            net.run(&mut [&mut client, &mut server]);
            (client, server)
        };
        let mut honest = Network::new(1);
        start(&mut honest);
        for number in [CLIENT, SERVER] {
            let from = dtls_tests::address(number);
            let sent = honest.log.iter().filter(|sent| sent.from == from).count();
            for nth in 0..sent {
                let mut net = Network::new(1);
                net.hook(to_datagram(number, nth, fate));
                let (mut client, mut server) = start(&mut net);
                assert!(
                    client.connected().is_some() && server.connected().is_some(),
                    "{client_kind:?} {server_kind:?} {mtu} {fate:?} {number} {nth}: {:?} {:?}",
                    client.seen,
                    server.seen
                );
                assert!(net.log.len() >= honest.log.len());
                check(&mut net, &mut client, &mut server);
                net.link.mtu = 1232;
                assert_works(&mut net, &mut client, &mut server);
            }
        }
    }
}

/// RFC 6347 section 4.2.4.
#[test]
fn every_single_loss_is_repaired() {
    each_datagram(Fate::Drop, |_, client, server| {
        let repeated = client.machine.retransmissions() + server.machine.retransmissions();
        assert!(repeated > 0, "only a retransmission can repair it");
    });
}

/// RFC 6347 section 4.2.4: what is sent again is the same messages, byte for byte, in records of their own.
#[test]
fn retransmissions_repeat_the_same_messages() {
    each_datagram(Fate::Drop, |net, _, _| {
        let mut bodies = std::collections::HashMap::new();
        let mut records = std::collections::HashSet::new();
        for sent in &net.log {
            for record in wire::records(&sent.bytes) {
                let number = sent.bytes[record.range][3..11].to_vec();
                assert!(
                    records.insert((sent.from, number)),
                    "a record number was used twice"
                );
            }
            for message in wire::messages(&sent.bytes) {
                let bytes = &sent.bytes[message.range.clone()];
                let offset = u32::from_be_bytes([0, bytes[6], bytes[7], bytes[8]]);
                for (place, byte) in (offset..).zip(&bytes[wire::HANDSHAKE_HEADER..]) {
                    let place = (sent.from, message.kind, message.seq, place);
                    let before = bodies.insert(place, *byte);
                    assert!(
                        before.is_none_or(|before| before == *byte),
                        "message {} of type {} changed",
                        message.seq,
                        message.kind
                    );
                }
            }
        }
    });
}

/// RFC 6347 sections 4.1.2.6 and 4.2.2: a copy at once, and one that comes when all is over, change nothing.
#[test]
fn every_duplicate_is_harmless() {
    for later in [Micros(1), Micros::from_millis(35), Micros::from_secs(5)] {
        each_datagram(Fate::Twice(later), |_, client, server| {
            assert_eq!(client.failure(), None);
            assert_eq!(server.failure(), None);
        });
    }
}

/// RFC 6347 section 4.2.2: a datagram that comes after its successor.
#[test]
fn every_reordering_of_neighbours_is_repaired() {
    each_datagram(Fate::Late(Micros::from_millis(5)), |_, client, server| {
        let repeated = client.machine.retransmissions() + server.machine.retransmissions();
        assert_eq!(repeated, 0, "it came before any timer ran out");
    });
}

/// A datagram that is later than the first retransmission.
#[test]
fn every_late_datagram_is_harmless() {
    each_datagram(Fate::Late(Micros::from_millis(1_500)), |_, _, _| {});
}

/// Seeded loss of 30 % both ways, alone and with all other mishaps. Whoever is patient enough connects: if one handshake of
/// these does not, something got stuck. The number of seeds comes from `DTLS_LOSS_SEEDS`.
#[test]
fn thirty_percent_loss_is_survived() {
    let seeds = std::env::var("DTLS_LOSS_SEEDS").map_or(100, |seeds| {
        seeds.parse().expect("DTLS_LOSS_SEEDS is a number")
    });
    let lossy = Link {
        loss: 30,
        ..Link::PERFECT
    };
    let nasty = Link {
        jitter: Micros::from_millis(30),
        loss: 15,
        burst_begins: 10,
        burst_ends: 60,
        duplicated: 10,
        ..Link::PERFECT
    };
    let patient = Timers {
        retransmissions: 20,
        handshake: Micros::from_secs(3_600),
        linger: Micros::from_secs(3_600),
        ..Timers::INTERNET
    };
    let mut times = Vec::new();
    for seed in 0..seeds {
        let (client_kind, server_kind, mtu) = CASES[usize::try_from(seed).unwrap() % CASES.len()];
        for link in [lossy, nasty] {
            let mut net = Network::new(seed);
            net.link = link;
            let (mut client, mut server) = pair(&net, client_kind, server_kind);
            for peer in [&mut client, &mut server] {
                (peer.config.mtu, peer.config.timers) = (mtu, patient);
            }
            client.connect(&server);
            times.push(net.run(&mut [&mut client, &mut server]).0 / 1_000);
            assert!(
                client.connected().is_some(),
                "seed {seed}: {:?} {:?}",
                client.seen,
                server.seen
            );
            assert_works(&mut net, &mut client, &mut server);
        }
    }
    times.sort_unstable();
    println!(
        "{} handshakes with 30 % loss: median {} ms, slowest {} ms",
        times.len(),
        times[times.len() / 2],
        times[times.len() - 1]
    );
}
