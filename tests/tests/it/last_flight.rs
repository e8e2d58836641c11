//! The last flight outlives its handshake (RFC 6347 section 4.2.4).

use crate::SERVER;
use dtls_core::{Discard, Micros, Timers};
use dtls_tests::wire::{self, APPLICATION_DATA, HANDSHAKE};
use dtls_tests::{
    Endpoint, Gateway, Insider, Kind, Network, Peer, Seen, Side, address, client_config,
    server_config,
};

/// The client's association, and a stalled handshake in the only room.
struct Scene {
    net: Network,
    server: Gateway,
    busy: Peer,
    insider: Insider,
    /// The client's Finished, in plaintext, and the server's.
    finished: Vec<u8>,
    answer: Vec<u8>,
}

const CLIENT: u16 = 2;
const LINGER: Micros = Micros::from_secs(240);

impl Scene {
    fn new() -> Self {
        let mut net = Network::new(1);
        let mut config = server_config(Kind::Raw, Kind::Raw);
        config.timers = Timers {
            linger: LINGER,
            handshake: Micros::from_secs(7_000),
            initial: Micros::from_secs(3_000),
            maximum: Micros::from_secs(3_000),
            ..Timers::INTERNET
        };
        let mut server = Gateway::new(&net, SERVER, config, 2, 1);
        let mut peer = Peer::client(&net, CLIENT, client_config(Kind::Raw, Kind::Raw));
        peer.connect(&server);
        net.run(&mut [&mut peer, &mut server]);
        let insider = Insider::new(&net, &peer.machine.secrets[0]);
        let [finished, answer] =
            [(Side::Client, CLIENT), (Side::Server, SERVER)].map(|(side, from)| {
                let mut sent = net.log.iter().filter(|sent| sent.from == address(from));
                let last = &sent.next_back().expect("the last flight").bytes;
                let record = wire::records(last).pop().expect("Finished");
                let opened = insider.open(side, &last[record.range]);
                opened.expect("the right keys")
            });
        // The memory of that handshake serves somebody else now, who takes his time.
        let mut busy = Peer::client(&net, 4, client_config(Kind::Raw, Kind::Raw));
        busy.engine.delays = [Micros::from_secs(6_000); 5];
        busy.connect(&server);
        net.run_for(Micros::from_millis(100), &mut [&mut busy, &mut server]);
        assert_eq!(server.table.occupancy(), (1, 1));
        Self {
            net,
            server,
            busy,
            insider,
            finished,
            answer,
        }
    }

    /// What the server sends to the client when this comes from there.
    fn answers(&mut self, datagram: &[u8]) -> Vec<Vec<u8>> {
        let Self {
            net, server, busy, ..
        } = self;
        let before = net.log.len();
        net.inject(address(CLIENT), server.address(), datagram);
        net.run_for(Micros::from_millis(50), &mut [busy, server]);
        let sent = net.log[before..].iter();
        sent.filter(|sent| sent.to == address(CLIENT))
            .map(|sent| sent.bytes.clone())
            .collect()
    }

    /// A handshake record of the client.
    fn seal(&self, sequence: u8, message: &[u8]) -> Vec<u8> {
        self.insider
            .seal(Side::Client, sequence, HANDSHAKE, message)
    }

    fn wait(&mut self, span: Micros) {
        self.net
            .run_for(span, &mut [&mut self.busy, &mut self.server]);
    }
}

/// Each copy is answered once, from the association alone, with the same Finished under a new record number; a replayed
/// record is no copy.
#[test]
fn each_copy_of_finished_is_answered_once() {
    let mut scene = Scene::new();
    let mut numbers = std::collections::HashSet::new();
    for sequence in 10..60 {
        let copy = scene.seal(sequence, &scene.finished);
        let answers = scene.answers(&copy);
        assert_eq!(answers.len(), 1, "copy {sequence}");
        let [change_cipher_spec, finished] = &wire::records(&answers[0])[..] else {
            panic!("ChangeCipherSpec and Finished: {answers:?}")
        };
        for record in [change_cipher_spec, finished] {
            let number = answers[0][record.range.clone()][3..11].to_vec();
            assert!(numbers.insert(number), "a record number was used twice");
        }
        let finished = &answers[0][finished.range.clone()];
        assert_eq!(
            scene.insider.open(Side::Server, finished).as_ref(),
            Some(&scene.answer)
        );
        assert!(scene.answers(&copy).is_empty(), "the record is a replay");
    }
    assert_eq!(scene.server.machine.discards(Discard::Replayed), 50);
    assert_eq!(scene.server.table.occupancy(), (1, 1));
}

/// Two copies in one datagram are answered with one.
#[test]
fn copies_in_one_datagram_are_answered_together() {
    let mut scene = Scene::new();
    let copies = [7, 8u8].map(|sequence| scene.seal(sequence, &scene.finished));
    assert_eq!(scene.answers(&copies.concat()).len(), 1);
}

/// For as long as configured, to the millisecond, and not longer.
#[test]
fn the_last_flight_is_answered_for_twice_the_lifetime_of_a_segment() {
    let mut scene = Scene::new();
    // 130 ms have passed since the server was connected, and a datagram takes 10 ms.
    let marks = scene.server.machine.recorder().marks.iter();
    let connected = marks
        .filter(|(.., mark)| *mark == dtls_core::Mark::Connected)
        .map(|(at, ..)| *at)
        .next()
        .unwrap();
    let passed = scene.net.clock().time().since(connected);
    scene.wait(Micros(LINGER.0 - passed.0 - 11_000));
    let copy = scene.seal(10, &scene.finished);
    assert_eq!(scene.answers(&copy).len(), 1, "a millisecond before");
    let copy = scene.seal(11, &scene.finished);
    assert!(scene.answers(&copy).is_empty(), "and just behind");
}

/// Only the very Finished that ended the handshake is answered: another one means nothing, be it as authentic as it may.
#[test]
fn another_finished_is_not_answered() {
    let mut scene = Scene::new();
    let mut sequence = 10;
    for byte in 0..scene.finished.len() {
        let mut other = scene.finished.clone();
        other[byte] ^= 0x40;
        sequence += 1;
        let record = scene.seal(sequence, &other);
        assert!(scene.answers(&record).is_empty(), "byte {byte}");
    }
    let truncated = scene.seal(sequence + 1, &scene.finished[..20]);
    let empty = scene.seal(sequence + 2, &[]);
    assert!(scene.answers(&[truncated, empty].concat()).is_empty());
    // The association has suffered nothing.
    let data = scene
        .insider
        .seal(Side::Client, 100, APPLICATION_DATA, b"still here");
    scene.answers(&data);
    let last = scene.server.seen.last();
    assert_eq!(
        last,
        Some(&(address(CLIENT), Seen::Data(b"still here".to_vec())))
    );
}
