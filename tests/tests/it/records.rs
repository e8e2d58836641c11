//! The record layer (RFC 6347 section 4.1, RFC 5246 section 6.2, RFC 6655 section 3).

use crate::{CLIENT, SERVER, assert_works, pair, to_datagram};
use dtls_core::{Discard, Fatal, Micros};
use dtls_tests::wire::{
    self, ALERT, APPLICATION_DATA, CLIENT_HELLO, HANDSHAKE, HELLO_VERIFY_REQUEST, SERVER_HELLO,
};
use dtls_tests::{
    Endpoint as _, Fate, Gateway, Insider, Kind, Network, Passing, Peer, Seen, Side, address,
    client_config, server_config,
};

const CHANGE_CIPHER_SPEC: u8 = 20;

/// All records that somebody sent: header and body.
fn records_of(net: &Network, from: u16) -> Vec<Vec<u8>> {
    let sent = net.log.iter().filter(|sent| sent.from == address(from));
    let records = sent.flat_map(|sent| {
        let records = wire::records(&sent.bytes).into_iter();
        records.map(|record| sent.bytes[record.range].to_vec())
    });
    records.collect()
}

/// Epoch and sequence number.
fn number(record: &[u8]) -> (u16, u64) {
    let number = u64::from_be_bytes(record[3..11].try_into().expect("a header"));
    ((number >> 48) as u16, number & ((1 << 48) - 1))
}

fn connected(net: &mut Network) -> (Peer, Peer, Insider) {
    let (mut client, mut server) = pair(net, Kind::Raw, Kind::Raw);
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_works(net, &mut client, &mut server);
    let insider = Insider::new(net, &client.machine.secrets[0]);
    (client, server, insider)
}

/// RFC 6347 section 4.1: version, epoch and sequence number of everything that is sent, with and without losses. The epoch
/// grows with ChangeCipherSpec, numbers count from 0 in each epoch and are never used twice. RFC 5246 section 6.2.1: no
/// empty fragment but of application data, of which we have none here.
#[test]
fn every_record_has_a_number_of_its_own() {
    for lost in 0..8 {
        let mut net = Network::new(1);
        let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
        for peer in [&mut client, &mut server] {
            peer.config.mtu = 200;
        }
        net.hook(move |datagram: &mut Passing<'_>| {
            if datagram.nth == lost {
                Fate::Drop
            } else {
                Fate::Pass
            }
        });
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        net.unhook();
        assert_works(&mut net, &mut client, &mut server);
        for from in [CLIENT, SERVER] {
            let records = records_of(&net, from);
            let mut next = [0, 0];
            for record in &records {
                assert_eq!(record[1..3], [254, 253], "DTLS 1.2");
                assert!(record.len() > wire::RECORD_HEADER, "an empty record");
                let (epoch, sequence) = number(record);
                let own_count = from == CLIENT || epoch == 1 || is_handshake_of_server(record);
                let next = &mut next[usize::from(epoch)];
                assert!(
                    sequence >= *next || !own_count,
                    "{from}: {epoch} {sequence} after {next}"
                );
                *next = sequence + 1;
                if epoch == 1 {
                    assert_eq!(
                        record[3..11],
                        record[13..21],
                        "RFC 6655 section 3: the nonce is the number"
                    );
                }
            }
            let first_protected = records
                .iter()
                .position(|record| number(record).0 == 1)
                .expect("Finished");
            assert_eq!(records[first_protected - 1][0], CHANGE_CIPHER_SPEC);
            assert_eq!(number(&records[first_protected]), (1, 0));
            if from == CLIENT {
                assert_eq!(number(&records[0]), (0, 0));
            }
        }
    }
}

/// A HelloVerifyRequest takes the client's number, whatever it is.
fn is_handshake_of_server(record: &[u8]) -> bool {
    record[0] != HANDSHAKE || record[wire::RECORD_HEADER] != HELLO_VERIFY_REQUEST
}

/// RFC 6347 section 4.2.1: the number of a ClientHello is the number of its HelloVerifyRequest, and of the first ServerHello;
/// so is message_seq. The body of a HelloVerifyRequest says DTLS 1.0, whatever will be negotiated.
#[test]
fn answers_take_the_number_of_the_client_hello() {
    for lost in 0..4 {
        let mut net = Network::new(1);
        let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
        net.hook(move |datagram: &mut Passing<'_>| {
            let early = datagram.from == address(SERVER) && datagram.nth < lost;
            if early { Fate::Drop } else { Fate::Pass }
        });
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        assert_works(&mut net, &mut client, &mut server);
        let mut asked = None;
        let mut answers = Vec::new();
        for sent in &net.log {
            for message in wire::messages(&sent.bytes) {
                let of = (number(&sent.bytes[message.record.clone()]), message.seq);
                match message.kind {
                    CLIENT_HELLO => asked = Some(of),
                    HELLO_VERIFY_REQUEST => {
                        assert_eq!(Some(of), asked);
                        let body = message.range.start + wire::HANDSHAKE_HEADER;
                        assert_eq!(sent.bytes[body..body + 2], [254, 255]);
                        answers.push(of);
                    }
                    SERVER_HELLO if !answers.is_empty() => {
                        assert_eq!(Some(of), asked);
                        answers.clear();
                    }
                    _ => {}
                }
            }
        }
        assert_eq!(answers, [], "a ServerHello came");
    }
}

/// RFC 6347 section 4.2.1: the version of a HelloVerifyRequest says nothing about what will be negotiated.
#[test]
fn the_version_of_a_hello_verify_request_is_not_judged() {
    for version in [[254, 253], [254, 252], [3, 3], [0, 0]] {
        let mut net = Network::new(1);
        let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
        net.hook(crate::altering(
            SERVER,
            HELLO_VERIFY_REQUEST,
            move |_, body| {
                body[..2].copy_from_slice(&version);
            },
        ));
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        assert_works(&mut net, &mut client, &mut server);
    }
}

/// RFC 5246 appendix E.1: in front of a hello stands any version of DTLS, and of nothing else. RFC 6347 section 4.1: behind
/// ChangeCipherSpec, it is the negotiated one.
#[test]
fn record_versions() {
    for (version, works) in [
        ([254, 255], true),
        ([254, 252], true),
        ([254, 0], true),
        ([3, 1], false),
        ([253, 255], false),
    ] {
        let mut net = Network::new(1);
        let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
        net.hook(move |datagram: &mut Passing<'_>| {
            for record in wire::records(datagram.bytes) {
                if record.epoch == 0 {
                    datagram.bytes[record.range.start + 1..][..2].copy_from_slice(&version);
                }
            }
            Fate::Pass
        });
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        assert_eq!(client.connected().is_some(), works, "{version:?}");
    }
    let mut net = Network::new(1);
    let (mut client, mut server, insider) = connected(&mut net);
    let mut record = insider.seal(Side::Client, 40, APPLICATION_DATA, b"another version");
    record[2] = 255;
    let before = server.received().len();
    net.inject(address(CLIENT), address(SERVER), &record);
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(server.received().len(), before);
    assert_works(&mut net, &mut client, &mut server);
}

/// RFC 6655 section 3: the sender chooses the explicit part of the nonce; that ours is the number of the record binds nobody
/// else. The additional data binds the number (RFC 5246 section 6.2.3.3).
#[test]
fn the_explicit_nonce_is_the_senders_choice() {
    let mut net = Network::new(1);
    let (mut client, mut server, insider) = connected(&mut net);
    let before = server.received().len();
    let epoch = 1 << 48;
    for (sequence, explicit) in [(40, 0), (41, u64::MAX), (42, 7)] {
        let record = insider.seal_with(
            Side::Client,
            epoch | sequence,
            explicit,
            APPLICATION_DATA,
            b"taken",
        );
        net.inject(address(CLIENT), address(SERVER), &record);
    }
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(server.received()[before..], [b"taken"; 3]);
}

/// RFC 6347 sections 4.1 and 4.1.2.7: authentic, but in the wrong epoch, of a type that nobody knows, or of one that has no
/// place there. RFC 5246 section 6.2.1: empty application data is data.
#[test]
fn what_is_authentic_and_useless_is_dropped() {
    let mut net = Network::new(1);
    let (mut client, mut server, insider) = connected(&mut net);
    let before = [client.seen.len(), server.seen.len()];
    for side in [Side::Client, Side::Server] {
        let (from, to) = if side == Side::Client {
            (CLIENT, SERVER)
        } else {
            (SERVER, CLIENT)
        };
        let mut junk: Vec<_> = [0, 24, 25, 26, 255]
            .map(|kind| insider.seal(side, kind / 8 + 20, kind, b"\x01"))
            .to_vec();
        junk.push(insider.seal(side, 60, CHANGE_CIPHER_SPEC, &[1]));
        junk.push(insider.seal(side, 61, HANDSHAKE, &[20, 0, 0, 12, 0, 9]));
        junk.push(insider.seal(side, 62, HANDSHAKE, &[]));
        junk.push(insider.seal(side, 63, ALERT, &[]));
        for epoch in [0, 2, 3, 0xffff] {
            let number = epoch << 48 | 64;
            junk.push(insider.seal_with(side, number, number, APPLICATION_DATA, b"epoch"));
        }
        for record in junk {
            net.inject(address(from), address(to), &record);
        }
        net.run(&mut [&mut client, &mut server]);
        assert_eq!([client.seen.len(), server.seen.len()], before);
        let empty = insider.seal(side, 65, APPLICATION_DATA, &[]);
        net.inject(address(from), address(to), &empty);
        net.run(&mut [&mut client, &mut server]);
        let receiver = if side == Side::Client {
            &mut server
        } else {
            &mut client
        };
        assert_eq!(receiver.seen.pop(), Some(Seen::Data(vec![])));
    }
    assert_works(&mut net, &mut client, &mut server);
}

/// RFC 6347 sections 4.1 and 4.2.4: application data of the new epoch that overtakes Finished is not delivered before it. It
/// is dropped here; what comes afterwards is delivered.
#[test]
fn data_before_finished_is_dropped() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    net.hook(to_datagram(SERVER, 2, Fate::Late(Micros::from_millis(100))));
    client.connect(&server);
    net.run_for(Micros::from_millis(55), &mut [&mut client, &mut server]);
    server.send(b"too early").unwrap();
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(client.received(), [b""; 0]);
    assert!(client.machine.discards(Discard::Early) > 0);
    assert_works(&mut net, &mut client, &mut server);
}

/// RFC 6347 section 4.1: until a handshake has completed, records of epoch 0 are taken, also behind those of epoch 1.
#[test]
fn the_old_epoch_is_open_until_finished() {
    for (from, nth) in [(CLIENT, 2), (CLIENT, 3), (CLIENT, 4)] {
        let mut net = Network::new(1);
        let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
        client.config.mtu = 160;
        net.hook(to_datagram(from, nth, Fate::Late(Micros::from_millis(100))));
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        assert_eq!(
            client.machine.retransmissions() + server.machine.retransmissions(),
            0,
            "{nth}"
        );
        assert_works(&mut net, &mut client, &mut server);
    }
}

/// RFC 6347 section 4.1: numbers never wrap, not even if a client begins where they end. It costs the server nothing, and
/// keeps nobody out.
#[test]
fn a_client_that_begins_at_the_last_number_is_refused() {
    let mut net = Network::new(1);
    let mut server = Gateway::new(&net, SERVER, server_config(Kind::Raw, Kind::Raw), 1, 1);
    let mut client = Peer::client(&net, CLIENT, client_config(Kind::Raw, Kind::Raw));
    net.hook(|datagram: &mut Passing<'_>| {
        let to_number = |bytes: &mut [u8], high: u8| bytes[5..10].fill(high);
        if datagram.from == address(CLIENT) {
            to_number(datagram.bytes, 0xff);
        } else if datagram.nth == 0 {
            to_number(datagram.bytes, 0);
        }
        Fate::Pass
    });
    client.connect(&server);
    net.run_for(Micros::from_millis(500), &mut [&mut client, &mut server]);
    assert_eq!(
        server.seen,
        [(address(CLIENT), Seen::Failed(Fatal::IllegalParameter))]
    );
    assert_eq!(server.table.occupancy(), (0, 0));
    assert_eq!(server.deadline(), None);
    net.unhook();
    net.run(&mut [&mut client, &mut server]);
    assert!(client.connected().is_some(), "{:?}", client.seen);
}
