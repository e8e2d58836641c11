//! Peers that cut their flights into other pieces than we do (RFC 6347 sections 4.2.2 and 4.2.3).

use crate::{assert_works, pair};
use dtls_core::{Micros, Timers};
use dtls_tests::{Fate, Kind, Link, Network, Refragmenter, Shape};

const KINDS: [(Kind, Kind); 4] = [
    (Kind::Nothing, Kind::Raw),
    (Kind::Raw, Kind::Raw),
    (Kind::Nothing, Kind::X509),
    (Kind::X509, Kind::X509),
];

/// Each of them is allowed; both directions of a link have the same one.
const SHAPES: [(&str, Shape); 10] = [
    ("one message per record", Shape::WHOLE),
    (
        "one message per datagram",
        Shape {
            datagram: 0,
            ..Shape::WHOLE
        },
    ),
    (
        "all messages in one record",
        Shape {
            record: usize::MAX,
            ..Shape::WHOLE
        },
    ),
    (
        "one byte per fragment",
        Shape {
            fragment: 1,
            ..Shape::WHOLE
        },
    ),
    (
        "one byte per fragment, many fragments in a record, last first",
        Shape {
            fragment: 1,
            record: 40,
            backwards: true,
            ..Shape::WHOLE
        },
    ),
    (
        "one byte per fragment, each in a datagram",
        Shape {
            fragment: 1,
            datagram: 0,
            ..Shape::WHOLE
        },
    ),
    (
        "halves that overlap",
        Shape {
            fragment: 50,
            overlap: 25,
            ..Shape::WHOLE
        },
    ),
    (
        "fragments that repeat all that came before",
        Shape {
            fragment: 16,
            overlap: usize::MAX,
            ..Shape::WHOLE
        },
    ),
    (
        "the whole message first, and then its beginnings",
        Shape {
            fragment: 16,
            overlap: usize::MAX,
            backwards: true,
            ..Shape::WHOLE
        },
    ),
    (
        "small datagrams, the last fragment first",
        Shape {
            fragment: 30,
            overlap: 3,
            record: 2,
            datagram: 100,
            backwards: true,
        },
    ),
];

/// Nothing is lost, so nothing has to be repeated, however it is cut.
#[test]
fn every_shape_of_a_flight_is_understood() {
    for (name, shape) in SHAPES {
        for (client_kind, server_kind) in KINDS {
            let mut net = Network::new(1);
            let mut middlebox = Refragmenter::new(&[shape]);
            net.hook(move |datagram| {
                middlebox.cut(datagram);
                Fate::Pass
            });
            let (mut client, mut server) = pair(&net, client_kind, server_kind);
            // Pieces that come when their message is complete look like a retransmission, and would be answered.
            client.config.answer_retransmissions = false;
            server.config.answer_retransmissions = false;
            client.connect(&server);
            net.run(&mut [&mut client, &mut server]);
            let case = format!("{name}, {client_kind:?} and {server_kind:?}");
            assert!(client.connected().is_some(), "{case}: {:?}", client.seen);
            assert_eq!(client.machine.retransmissions(), 0, "{case}");
            assert_eq!(server.machine.retransmissions(), 0, "{case}");
            assert_works(&mut net, &mut client, &mut server);
        }
    }
}

/// Every transmission is cut in another way, and of the pieces some are lost, some come twice and some late: what has come
/// of the one fits what has come of the other.
#[test]
fn pieces_of_different_transmissions_fit_together() {
    let timers = Timers {
        retransmissions: 50,
        maximum: Micros::from_secs(2),
        handshake: Micros::from_secs(3_600),
        linger: Micros::from_secs(3_600),
        ..Timers::INTERNET
    };
    let shapes = SHAPES.map(|(_, shape)| shape);
    let mut reused = 0;
    for seed in 0..200 {
        let (client_kind, server_kind) = KINDS[usize::try_from(seed).unwrap() % KINDS.len()];
        let mut net = Network::new(seed);
        net.link = Link {
            loss: 10,
            duplicated: 10,
            jitter: Micros::from_millis(30),
            ..Link::PERFECT
        };
        let mut middlebox = Refragmenter::new(&shapes);
        net.hook(move |datagram| {
            middlebox.cut(datagram);
            Fate::Pass
        });
        let (mut client, mut server) = pair(&net, client_kind, server_kind);
        (client.config.timers, server.config.timers) = (timers, timers);
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        assert_eq!(
            (client.failure(), server.failure()),
            (None, None),
            "seed {seed}"
        );
        net.unhook();
        assert_works(&mut net, &mut client, &mut server);
        reused += usize::from(client.machine.retransmissions() > 0);
    }
    assert!(
        reused > 50,
        "{reused}: there has to be something to put together"
    );
}
