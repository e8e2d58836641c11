//! ChangeCipherSpec: neither authenticated nor part of the transcript, so its place in the flight is all there is to check
//! (RFC 5246 section 7.1: immediately before Finished).

use crate::{CLIENT, SERVER, assert_works, pair};
use dtls_core::{Fatal, Micros};
use dtls_tests::wire;
use dtls_tests::{Fate, Kind, Network, Seen, address};

const CHANGE_CIPHER_SPEC: u8 = 20;

/// Kinds of credential, and the messages of flight 5 in the clear.
const CASES: [(Kind, Kind, usize); 3] = [
    (Kind::Nothing, Kind::Raw, 1),
    (Kind::Raw, Kind::Raw, 3),
    (Kind::X509, Kind::X509, 3),
];

/// Flight 5 as records of one message each, if this datagram is one: [Certificate,] ClientKeyExchange,
/// [CertificateVerify,] ChangeCipherSpec, Finished.
fn flight5(datagram: &[u8], plain: usize) -> Option<Vec<Vec<u8>>> {
    let records = wire::split(datagram);
    let change = records.get(plain)?;
    (change[0] == CHANGE_CIPHER_SPEC).then_some(records)
}

/// A client that sends ChangeCipherSpec so many records too early is not let in by that flight, in whatever order the
/// datagram has them: the numbers of the records tell. All else is as it should be, Finished included. (If it said all
/// that again, it would have sent a ChangeCipherSpec behind the messages, the first copies of them.)
#[test]
fn one_that_was_sent_too_early_does_not_count() {
    for (client_kind, server_kind, plain) in CASES {
        for early in 1..=plain {
            for arrives_early in [true, false] {
                let mut net = Network::new(1);
                let (mut client, mut server) = pair(&net, client_kind, server_kind);
                let mut was_sent = false;
                net.hook(move |datagram| {
                    if was_sent && datagram.from == address(CLIENT) {
                        return Fate::Drop;
                    }
                    let Some(mut records) = flight5(datagram.bytes, plain) else {
                        return Fate::Pass;
                    };
                    was_sent = true;
                    // Each record gets the number of its place in the order in which they are sent.
                    let numbers: Vec<_> = records.iter().map(|one| one[3..11].to_vec()).collect();
                    records[plain - early..=plain].rotate_right(1);
                    for (record, number) in records.iter_mut().zip(&numbers) {
                        record[3..11].copy_from_slice(number);
                    }
                    if !arrives_early {
                        records[plain - early..=plain].rotate_left(1);
                    }
                    *datagram.bytes = records.concat();
                    Fate::Pass
                });
                client.connect(&server);
                net.run(&mut [&mut client, &mut server]);
                let case = format!("{client_kind:?} {early} {arrives_early}");
                let timed_out = [Seen::Failed(Fatal::TimedOut)];
                assert_eq!(server.seen, timed_out, "{case}");
                assert_eq!(client.seen, timed_out, "{case}");
            }
        }
    }
}

/// One that was sent in its place and overtakes the messages before it, or the Finished behind it, counts: nothing has to be
/// repeated.
#[test]
fn one_that_overtakes_counts() {
    for (client_kind, server_kind, plain) in CASES {
        for place in 0..=plain {
            for alone in [true, false] {
                let mut net = Network::new(1);
                let (mut client, mut server) = pair(&net, client_kind, server_kind);
                net.hook(move |datagram| {
                    let Some(mut records) = flight5(datagram.bytes, plain) else {
                        return Fate::Pass;
                    };
                    records[place..=plain].rotate_right(1);
                    if alone {
                        *datagram.bytes = records.remove(0);
                        *datagram.followers = records;
                    } else {
                        *datagram.bytes = records.concat();
                    }
                    Fate::Pass
                });
                client.connect(&server);
                let time = net.run(&mut [&mut client, &mut server]);
                let case = format!("{client_kind:?} {place} {alone}: {:?}", server.seen);
                assert!(client.connected().is_some(), "{case}");
                assert!(time < Micros::from_secs(1), "{case}");
                assert_works(&mut net, &mut client, &mut server);
            }
        }
    }
}

/// Without one there is no Finished, on either side.
#[test]
fn none_is_not_enough() {
    for dropped in [CLIENT, SERVER] {
        let mut net = Network::new(1);
        let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
        net.hook(move |datagram| {
            let mut kept = Vec::new();
            for record in wire::records(datagram.bytes) {
                if record.kind != CHANGE_CIPHER_SPEC || datagram.from != address(dropped) {
                    kept.extend(&datagram.bytes[record.range]);
                }
            }
            *datagram.bytes = kept;
            Fate::Pass
        });
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        assert_eq!(client.seen, [Seen::Failed(Fatal::TimedOut)]);
        assert_eq!(server.connected().is_some(), dropped == SERVER);
    }
}
