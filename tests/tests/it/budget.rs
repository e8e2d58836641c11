//! Bytes on the wire and in memory.

use crate::{assert_works, pair};
use dtls_core::{Association, Fatal, Micros, Workspace};
use dtls_tests::{Kind, Machine, Network};

/// A mutual handshake with raw public keys and a cookie: at most 1,083 bytes of UDP payload (signatures vary by a few
/// bytes), always 6 datagrams.
#[test]
fn a_mutual_handshake_takes_1083_bytes_and_6_datagrams() {
    let mut sizes = Vec::new();
    for seed in 0..24 {
        let mut net = Network::new(seed);
        let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        assert!(client.connected().is_some() && server.connected().is_some());
        let datagrams: Vec<_> = net.log.iter().map(|sent| sent.bytes.len()).collect();
        assert_eq!(datagrams.len(), 6, "{datagrams:?}");
        sizes.push((datagrams.iter().sum::<usize>(), datagrams));
    }
    sizes.sort();
    let (Some(least), Some(most)) = (sizes.first(), sizes.last()) else {
        panic!("there were handshakes")
    };
    println!(
        "mutual raw public keys, cookie: {} to {} bytes in 6 datagrams {:?}",
        least.0, most.0, most.1
    );
    assert!(most.0 <= 1083, "{most:?}");
}

/// The meter's account of bytes and datagrams is what the network saw, flight by flight.
#[test]
fn the_meters_agree_with_the_network() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    for (flight, sent) in (1..).zip(&net.log) {
        let meter = if flight % 2 == 1 {
            client.machine.meter()
        } else {
            server.machine.meter()
        };
        let bytes = u32::try_from(sent.bytes.len()).unwrap();
        // Flight 2 belongs to no handshake: the gate has no state, and no meter (RFC 6347 section 4.2.1).
        let expected = if flight == 2 { (0, 0) } else { (bytes, 1) };
        assert_eq!(meter.flight_sent(flight), expected, "flight {flight}");
    }
}

#[test]
fn an_association_is_small() {
    let size = size_of::<Association>();
    println!("an association takes {size} bytes here");
    assert!(size <= 160, "{size}");
}

/// 512 bytes are enough for raw public keys, also when every flight comes in pieces and out of order.
#[test]
fn half_a_kilobyte_is_enough_for_raw_public_keys() {
    for seed in 0..20 {
        let mut net = Network::new(seed);
        net.link.jitter = Micros::from_millis(5);
        let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
        for peer in [&mut client, &mut server] {
            peer.workspace = Box::new(Workspace::<Machine, [u8; 512]>::new());
            peer.config.mtu = 200;
        }
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        let machines = [&client.machine, &server.machine];
        assert!(
            machines
                .iter()
                .all(|machine| machine.retransmissions() == 0)
        );
        assert_works(&mut net, &mut client, &mut server);
    }
}

/// A message that the memory has no room for ends a handshake at once, and the error says how much it needs.
#[test]
fn memory_that_is_too_small_is_told() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::X509, Kind::X509);
    client.workspace = Box::new(Workspace::<Machine, [u8; 64]>::new());
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    let Some(Fatal::MessageTooLarge(size)) = client.failure() else {
        panic!("{:?}", client.seen)
    };
    assert!(size > 64 && size < 1_000, "{size}");
    assert!(client.workspace.is_vacant());
}
