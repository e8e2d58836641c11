//! Truncated and flipped bytes: nothing panics, nothing connects that should not, and the next handshake works.

use crate::{CLIENT, SERVER, assert_works, pair};
use dtls_core::Fatal;
use dtls_tests::wire::{self, CERTIFICATE, CLIENT_HELLO, HELLO_VERIFY_REQUEST};
use dtls_tests::{Fate, Kind, Network, Passing, address};

/// The datagrams of an undisturbed handshake: sender, number among the sender's, payload.
fn honest(kind: Kind) -> Vec<(u16, usize, Vec<u8>)> {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, kind, kind);
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    let mut counts = [0; 2];
    net.log
        .iter()
        .map(|sent| {
            let from = if sent.from == address(CLIENT) {
                CLIENT
            } else {
                SERVER
            };
            let count = &mut counts[usize::from(from == CLIENT)];
            *count += 1;
            (from, *count - 1, sent.bytes.clone())
        })
        .collect()
}

/// Each handshake message cut short at each byte, with headers that agree: complete, in order, and wrong. It ends at most
/// this attempt (RFC 5246 section 7.2.2, decode_error); it never connects.
fn truncate_messages(kind: Kind, which: impl Fn(u8) -> bool) {
    let mut cuts = 0;
    for (from, _, datagram) in honest(kind) {
        for message in wire::messages(&datagram) {
            if !which(message.kind) {
                continue;
            }
            for len in 0..message.body_len() {
                let mut net = Network::new(1);
                let (mut client, mut server) = pair(&net, kind, kind);
                let (kind_of, seq) = (message.kind, message.seq);
                net.hook(move |datagram: &mut Passing<'_>| {
                    if datagram.from == address(from) {
                        let all = wire::messages(datagram.bytes);
                        let found = all.iter().find(|m| m.kind == kind_of && m.seq == seq);
                        if let Some(message) = found {
                            wire::truncate(datagram.bytes, message, len);
                        }
                    }
                    Fate::Pass
                });
                client.connect(&server);
                net.run(&mut [&mut client, &mut server]);
                let case = format!("{kind:?}: message {seq} of type {kind_of} cut to {len}");
                // The first ClientHello is no part of what the cookie leads to (RFC 6347 section 4.2.1), and without its
                // extensions it is whole.
                if (kind_of, seq, len) == (CLIENT_HELLO, 0, 44) {
                    assert_works(&mut net, &mut client, &mut server);
                    continue;
                }
                assert!(client.connected().is_none(), "{case}");
                assert!(server.connected().is_none(), "{case}");
                let victim = if from == CLIENT { &server } else { &client };
                // What the gate or the cookie exchange sees costs no handshake: it is dropped.
                let stateless = [CLIENT_HELLO, HELLO_VERIFY_REQUEST].contains(&kind_of);
                assert!(stateless || victim.failure().is_some(), "{case}");
                net.unhook();
                client.seen.clear();
                server.seen.clear();
                client.connect(&server);
                net.run(&mut [&mut client, &mut server]);
                assert_works(&mut net, &mut client, &mut server);
                cuts += 1;
            }
        }
    }
    println!("{kind:?}: {cuts} truncated messages");
    assert!(cuts > 300, "{cuts}");
}

#[test]
fn truncated_messages_never_connect() {
    truncate_messages(Kind::Raw, |_| true);
}

#[test]
fn truncated_certificates_never_connect() {
    truncate_messages(Kind::X509, |kind| kind == CERTIFICATE);
}

/// A datagram that was cut on its way is lost, as far as it was cut (RFC 6347 section 4.1.2.7): a retransmission repairs it.
#[test]
fn truncated_datagrams_are_repaired() {
    for (from, nth, datagram) in honest(Kind::Raw) {
        for len in (0..datagram.len()).step_by(3) {
            let mut net = Network::new(1);
            let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
            net.hook(move |datagram| {
                if datagram.from == address(from) && datagram.nth == nth {
                    datagram.bytes.truncate(len);
                }
                Fate::Pass
            });
            client.connect(&server);
            net.run(&mut [&mut client, &mut server]);
            assert!(
                client.connected().is_some(),
                "{from} {nth} {len}: {:?}",
                client.seen
            );
            assert_works(&mut net, &mut client, &mut server);
        }
    }
}

/// One wrong bit in each byte of each datagram: both connect with the same keys, or neither does.
#[test]
fn flipped_bits_never_give_different_keys() {
    let (mut repaired, mut failed) = (0, 0);
    for (from, nth, datagram) in honest(Kind::Raw) {
        for byte in 0..datagram.len() {
            let mut net = Network::new(1);
            let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
            net.hook(move |datagram| {
                if datagram.from == address(from) && datagram.nth == nth {
                    datagram.bytes[byte] ^= 1 << (byte % 8);
                }
                Fate::Pass
            });
            client.connect(&server);
            net.run(&mut [&mut client, &mut server]);
            let case = format!("{from} {nth} {byte}");
            assert_eq!(
                client.connected().is_some(),
                server.connected().is_some(),
                "{case}"
            );
            if client.connected().is_some() {
                assert_works(&mut net, &mut client, &mut server);
                repaired += 1;
            } else {
                assert!(client.failure().is_some(), "{case}");
                failed += 1;
            }
        }
    }
    println!("one wrong bit: {repaired} handshakes connected, {failed} failed");
    assert!(repaired > 0 && failed > 0);
}

/// RFC 6347 section 4.1.2.7: junk is dropped, whatever state it comes in.
#[test]
fn junk_changes_nothing() {
    let junk: [&[u8]; 6] = [
        b"",
        b"\x16",
        &[0; 13],
        &[0xff; 64],
        // A record that says it is longer than the datagram, and one of version 3.3.
        b"\x16\xfe\xfd\0\0\0\0\0\0\0\x09\x40\x00\x01",
        b"\x16\x03\x03\0\0\0\0\0\0\0\x09\0\x01\x01",
    ];
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    client.connect(&server);
    for _ in 0..20 {
        for junk in junk {
            net.inject(address(CLIENT), address(SERVER), junk);
            net.inject(address(SERVER), address(CLIENT), junk);
        }
        net.run_for(
            dtls_core::Micros::from_millis(7),
            &mut [&mut client, &mut server],
        );
    }
    assert_works(&mut net, &mut client, &mut server);
    assert_eq!([client.failure(), server.failure()], [None::<Fatal>; 2]);
    assert!(client.machine.discards(dtls_core::Discard::Malformed) > 0);
}
