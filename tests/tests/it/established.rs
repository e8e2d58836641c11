//! Associations.

use crate::{CLIENT, SERVER, assert_works, pair, to_datagram};
use dtls_core::{AlertDescription, Discard, Micros, SendError};
use dtls_tests::wire::{self, ALERT, APPLICATION_DATA, HANDSHAKE};
use dtls_tests::{Fate, Kind, Network, Peer, Seen, address};

fn connected(net: &mut Network) -> (Peer, Peer) {
    let (mut client, mut server) = pair(net, Kind::Raw, Kind::Raw);
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_works(net, &mut client, &mut server);
    (client, server)
}

/// RFC 5246 section 7.2.1: close_notify is answered with close_notify, and then it is over on both sides.
#[test]
fn close_notify_is_answered() {
    let mut net = Network::new(1);
    let (mut client, mut server) = connected(&mut net);
    client.association.as_mut().unwrap().close();
    assert!(client.send(b"too late").is_err());
    let before = net.log.len();
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(
        server.seen.last(),
        Some(&Seen::Closed(AlertDescription::CLOSE_NOTIFY))
    );
    let alerts = net.log[before..]
        .iter()
        .flat_map(|sent| wire::records(&sent.bytes));
    let kinds: Vec<_> = alerts.map(|record| (record.kind, record.epoch)).collect();
    assert_eq!(kinds, [(ALERT, 1); 2]);
    for peer in [&mut client, &mut server] {
        assert!(
            peer.association
                .as_ref()
                .is_none_or(|association| association.is_over())
        );
        assert_eq!(peer.send(b"nothing more"), Err(SendError::Closed));
    }
}

/// After it was closed, a new handshake makes a new association.
#[test]
fn a_closed_pair_connects_again() {
    let mut net = Network::new(1);
    let (mut client, mut server) = connected(&mut net);
    server.association.as_mut().unwrap().close();
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(client.connected(), None);
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_works(&mut net, &mut client, &mut server);
}

/// RFC 6347 section 4.1.2.6: a copy of a record is dropped, in whatever order they come.
#[test]
fn replayed_records_are_dropped() {
    let mut net = Network::new(1);
    let (mut client, mut server) = connected(&mut net);
    let before = server.received().len();
    let mut datagrams = Vec::new();
    for number in 0..20u8 {
        client.send(&[number]).unwrap();
        net.run(&mut [&mut client, &mut server]);
        datagrams.push(net.log.last().unwrap().bytes.clone());
    }
    assert_eq!(server.received().len() - before, 20);
    for datagram in datagrams.iter().rev().chain(&datagrams) {
        net.inject(address(CLIENT), address(SERVER), datagram);
    }
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(server.received().len() - before, 20);
    assert_eq!(server.machine.discards(Discard::Replayed), 40);
}

/// RFC 6347 section 4.1.2.6: late records inside the window are taken, those before it are not.
#[test]
fn late_records_are_taken_inside_the_window_only() {
    for (gap, taken) in [(1, true), (31, true), (63, true), (64, false), (200, false)] {
        let mut net = Network::new(1);
        let (mut client, mut server) = connected(&mut net);
        net.hook(to_datagram(CLIENT, 4, Fate::Drop));
        let before = server.received().len();
        client.send(b"late").unwrap();
        net.run(&mut [&mut client, &mut server]);
        assert_eq!(server.received().len(), before, "the hook caught it");
        let late = net.log.last().unwrap().bytes.clone();
        for _ in 0..gap {
            client.send(b"in time").unwrap();
        }
        net.run(&mut [&mut client, &mut server]);
        net.inject(address(CLIENT), address(SERVER), &late);
        net.run(&mut [&mut client, &mut server]);
        assert_eq!(
            server.received().last() == Some(&&b"late"[..]),
            taken,
            "{gap} later"
        );
    }
}

/// RFC 6347 section 4.1: nothing in epoch 0 is ever application data, and nothing there ends an association.
#[test]
fn epoch_0_carries_no_data_and_ends_nothing() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    let forged = [
        wire::forged(APPLICATION_DATA, 40, b"in the clear"),
        wire::forged(ALERT, 41, &[1, 0]),
        wire::forged(HANDSHAKE, 42, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        wire::forged(20, 43, &[1]),
    ];
    client.connect(&server);
    for _ in 0..12 {
        for forged in &forged {
            net.inject(address(CLIENT), address(SERVER), forged);
            net.inject(address(SERVER), address(CLIENT), forged);
        }
        net.run_for(Micros::from_millis(7), &mut [&mut client, &mut server]);
    }
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(client.received().len() + server.received().len(), 0);
    assert_works(&mut net, &mut client, &mut server);
    for forged in [
        wire::forged(ALERT, 44, &[2, 40]),
        wire::forged(ALERT, 45, &[1, 0]),
    ] {
        net.inject(address(CLIENT), address(SERVER), &forged);
        net.inject(address(SERVER), address(CLIENT), &forged);
    }
    assert_works(&mut net, &mut client, &mut server);
}

/// A wrong bit anywhere in a record: it is dropped, and the association goes on (RFC 6347 section 4.1.2.7).
#[test]
fn altered_records_are_dropped() {
    let mut net = Network::new(1);
    let (mut client, mut server) = connected(&mut net);
    client.send(b"whole").unwrap();
    net.hook(to_datagram(CLIENT, 4, Fate::Drop));
    net.run(&mut [&mut client, &mut server]);
    let record = net.log.last().unwrap().bytes.clone();
    let before = server.received().len();
    for byte in 0..record.len() {
        let mut altered = record.clone();
        altered[byte] ^= 1 << (byte % 8);
        net.inject(address(CLIENT), address(SERVER), &altered);
    }
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(server.received().len(), before);
    assert!(server.machine.discards(Discard::BadMac) >= record.len() - wire::RECORD_HEADER);
    net.inject(address(CLIENT), address(SERVER), &record);
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(
        server.received().last(),
        Some(&&b"whole"[..]),
        "it was not used up"
    );
}

/// Several records in one datagram, one of them wrong (RFC 6347 section 4.1.1).
#[test]
fn a_wrong_record_does_not_take_its_neighbours_with_it() {
    let mut net = Network::new(1);
    let (mut client, mut server) = connected(&mut net);
    let before = server.received().len();
    net.hook(|_| Fate::Drop);
    let mut datagram = Vec::new();
    for data in [b"one", b"two", b"six"] {
        client.send(data).unwrap();
        net.run(&mut [&mut client, &mut server]);
        datagram.extend(&net.log.last().unwrap().bytes);
    }
    let third = datagram.len() / 3;
    datagram[third + 25] ^= 1;
    net.inject(address(CLIENT), address(SERVER), &datagram);
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(server.received()[before..], [b"one", b"six"]);
}

/// Data that shares a datagram with, or comes right behind, the last flight reaches the new association.
#[test]
fn data_right_behind_the_last_flight_arrives() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    client.connect(&server);
    net.run_for(Micros::from_millis(55), &mut [&mut client, &mut server]);
    assert!(server.connected().is_some() && client.connected().is_none());
    server.send(b"at once").unwrap();
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(client.received(), [b"at once"]);
}

/// RFC 5246 section 7.2: nothing is sent in an association's name that was not asked for. Silence stays silence.
#[test]
fn an_idle_association_sends_nothing() {
    let mut net = Network::new(1);
    let (mut client, mut server) = connected(&mut net);
    let before = net.log.len();
    net.run_for(Micros::from_secs(7_000), &mut [&mut client, &mut server]);
    assert_eq!(net.log.len(), before);
}

/// Data longer than the output is refused and not cut (the error says how much room it takes).
#[test]
fn data_that_does_not_fit_is_refused() {
    let mut net = Network::new(1);
    let (mut client, mut server) = connected(&mut net);
    let mut out = [0; 64];
    let association = client.association.as_mut().unwrap();
    let (before, behind) = association.overhead();
    assert_eq!(
        association.send(&mut client.machine, &[7; 64], &mut out),
        Err(SendError::TooSmall(64 + before + behind))
    );
    let n = association
        .send(&mut client.machine, &[7; 35], &mut out)
        .unwrap();
    client.send_raw(&out[..n]);
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(server.received().last(), Some(&&[7; 35][..]));
}
