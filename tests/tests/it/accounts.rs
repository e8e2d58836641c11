//! The account of each phase: sums, and delays that land where they were put.

use crate::{CLIENT, SERVER, pair, to_datagram};
use dtls_core::{Mark, Micros, Operation, Phase};
use dtls_tests::{Fate, Kind, Network, Peer};

const DELAY: Micros = Micros::from_millis(500);

/// Times of all phases: the client's four, the server's three.
fn times(net: &mut Network, client: &mut Peer, server: &mut Peer) -> [u64; 7] {
    client.connect(server);
    net.run(&mut [client, server]);
    assert!(client.connected().is_some() && server.connected().is_some());
    assert_eq!(
        client.machine.retransmissions() + server.machine.retransmissions(),
        0
    );
    Phase::ALL.map(|phase| {
        let machine = if phase.is_client() {
            &client.machine
        } else {
            &server.machine
        };
        machine.meter().phase(phase).time.0
    })
}

/// What each phase took longer with a delay than without: in units of the delay, and nothing in between.
fn longer(delay: impl FnOnce(&mut Network, &mut Peer, &mut Peer)) -> [u64; 7] {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    let before = times(&mut net, &mut client, &mut server);
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    delay(&mut net, &mut client, &mut server);
    let after = times(&mut net, &mut client, &mut server);
    core::array::from_fn(|phase| {
        let more = after[phase] - before[phase];
        assert_eq!(
            more % DELAY.0,
            0,
            "a part of a delay in {:?}",
            Phase::ALL[phase]
        );
        more / DELAY.0
    })
}

/// End-to-end time is the sum of the phases, on each side.
#[test]
fn phases_add_up_to_the_whole() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    for peer in [&mut client, &mut server] {
        peer.engine.delays = [1, 2, 3, 4, 5].map(Micros::from_millis);
    }
    let times = times(&mut net, &mut client, &mut server);
    for peer in [&client, &server] {
        let marks = &peer.machine.recorder().marks;
        let is_begin = |mark: &Mark| matches!(mark, Mark::Phase(_));
        let begin = marks.iter().find(|(.., mark)| is_begin(mark)).unwrap().0;
        let end = marks
            .iter()
            .find(|(.., mark)| *mark == Mark::Connected)
            .unwrap()
            .0;
        assert_eq!(peer.machine.meter().total(), end.since(begin));
        assert!(peer.machine.meter().is_connected());
    }
    assert_eq!(
        client.machine.meter().total().0,
        times[..4].iter().sum::<u64>()
    );
    assert_eq!(
        server.machine.meter().total().0,
        times[4..].iter().sum::<u64>()
    );
    // Three round trips of 20 ms, and everybody's work.
    assert!(client.machine.meter().total() > Micros::from_millis(60));
    assert!(times.iter().all(|&time| time > 0), "{times:?}");
}

/// Network alone: every phase that waits takes round trips, every phase that works takes no virtual time.
#[test]
fn work_that_takes_no_time_is_free() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    let times = times(&mut net, &mut client, &mut server);
    assert_eq!(times, [20_000, 20_000, 0, 20_000, 0, 20_000, 0]);
}

/// A slow flight lands in the phase of the one who waits for it, on each side that waits.
#[test]
fn a_slow_flight_lands_in_its_phase() {
    let flights = [
        (CLIENT, 0, [1, 0, 0, 0, 0, 0, 0]),
        (SERVER, 0, [1, 0, 0, 0, 0, 0, 0]),
        (CLIENT, 1, [0, 1, 0, 0, 0, 0, 0]),
        (SERVER, 1, [0, 1, 0, 0, 0, 1, 0]),
        (CLIENT, 2, [0, 0, 0, 1, 0, 1, 0]),
        (SERVER, 2, [0, 0, 0, 1, 0, 0, 0]),
    ];
    for (from, nth, expected) in flights {
        let longer = longer(|net, _, _| net.hook(to_datagram(from, nth, Fate::Late(DELAY))));
        assert_eq!(longer, expected, "datagram {nth} of {from}");
    }
}

/// A slow operation lands in the phase in which it works, and the other side waits meanwhile.
#[test]
fn a_slow_operation_lands_in_its_phase() {
    let client_works = [0, 0, 1, 0, 0, 1, 0];
    for operation in Operation::ALL {
        let longer = longer(|_, client, _| client.engine.delays[operation as usize] = DELAY);
        assert_eq!(longer, client_works, "client, {operation:?}");
    }
    let flight_4 = [0, 1, 0, 0, 1, 0, 0];
    let flight_6 = [0, 0, 0, 1, 0, 0, 1];
    for (operation, expected) in [
        (Operation::Generate, flight_4),
        (Operation::Sign, flight_4),
        (Operation::Agree, flight_6),
        (Operation::Verify, flight_6),
        (Operation::Peer, flight_6),
    ] {
        let longer = longer(|_, _, server| server.engine.delays[operation as usize] = DELAY);
        assert_eq!(longer, expected, "server, {operation:?}");
    }
}

/// The time of questions is a part of their phase's.
#[test]
fn questions_are_accounted_inside_their_phase() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    for peer in [&mut client, &mut server] {
        peer.engine.delays = [1, 2, 3, 4, 5].map(Micros::from_millis);
    }
    times(&mut net, &mut client, &mut server);
    for peer in [&client, &server] {
        for operation in Operation::ALL {
            let accounts = Phase::ALL.map(|phase| peer.machine.meter().phase(phase));
            let time: u64 = accounts
                .iter()
                .map(|account| account.questions[operation as usize].0)
                .sum();
            let asked = peer
                .engine
                .asked
                .iter()
                .filter(|&&asked| asked == operation)
                .count();
            let expected = peer.engine.delays[operation as usize].0 * u64::try_from(asked).unwrap();
            assert_eq!(time, expected, "{operation:?}");
            assert_eq!(asked, 1, "{operation:?}");
            for account in accounts {
                let questions: u64 = account.questions.iter().map(|time| time.0).sum();
                assert!(questions <= account.time.0);
            }
        }
    }
}

/// A flight that is sent again is booked as that.
#[test]
fn retransmissions_are_booked_to_their_phase() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    net.hook(to_datagram(CLIENT, 2, Fate::Drop));
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    let account = client.machine.meter().phase(Phase::AwaitServerFinished);
    assert_eq!(account.retransmissions, 1);
    assert_eq!(client.machine.meter().flight_sent(5).1, 2);
}
