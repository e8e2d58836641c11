//! What stops the retransmission timer, what sets it back, and what does neither (RFC 6347 section 4.2.4.1).

use crate::{CLIENT, SERVER, assert_works, pair};
use dtls_core::{Fatal, Instant, Micros};
use dtls_tests::wire::{self, CLIENT_HELLO, SERVER_HELLO};
use dtls_tests::{Endpoint, Fate, Kind, Link, Network, Passing, Peer, Seen, address};

/// A timer that does not run out in these tests.
const NEVER: Micros = Micros::from_secs(3_000);

/// Client and server with flights of several datagrams. One of them never repeats anything of itself.
fn one_patient(net: &Network, patient: u16) -> (Peer, Peer) {
    let (mut client, mut server) = pair(net, Kind::Raw, Kind::Raw);
    for peer in [&mut client, &mut server] {
        peer.config.mtu = 150;
        peer.config.timers.handshake = Micros::from_secs(7_000);
        if peer.address() == address(patient) {
            (peer.config.timers.initial, peer.config.timers.maximum) = (NEVER, NEVER);
        }
    }
    (client, server)
}

/// When, in milliseconds from the beginning, this sender sent a message of this type.
fn sent_at(net: &Network, begin: Instant, from: u16, kind: u8) -> Vec<u64> {
    let sent = net.log.iter().filter(|sent| sent.from == address(from));
    let sent = sent.filter(|sent| {
        let messages = wire::messages(&sent.bytes);
        messages
            .iter()
            .any(|message| message.kind == kind && message.range.len() > wire::HANDSHAKE_HEADER)
    });
    sent.map(|sent| sent.at.since(begin).0 / 1_000).collect()
}

/// Drops what carries a fragment of a message of this type, until so many datagrams of it are gone.
fn without(kind: u8, from: u16, mut times: usize) -> impl FnMut(&mut Passing<'_>) -> Fate {
    move |datagram| {
        let messages = wire::messages(datagram.bytes);
        let carries = messages.iter().any(|message| message.kind == kind);
        if datagram.from == address(from) && carries && times > 0 {
            times -= 1;
            Fate::Drop
        } else {
            Fate::Pass
        }
    }
}

const SERVER_HELLO_DONE: u8 = 14;
const CERTIFICATE_VERIFY: u8 = 15;

/// The beginning of flight 4 is no reason to wait longer than for nothing at all, and none to start over.
#[test]
fn a_partial_flight_4_leaves_the_clients_timer_alone() {
    let mut net = Network::new(1);
    let begin = net.clock().time();
    let (mut client, mut server) = one_patient(&net, SERVER);
    net.hook(without(SERVER_HELLO_DONE, SERVER, 3));
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    // Flight 3 leaves after one round trip of 20 ms; the server answers one copy until its own timer runs out, so the
    // second and third of these got no flight 4.
    let hellos = sent_at(&net, begin, CLIENT, CLIENT_HELLO);
    assert_eq!(hellos[..5], [0, 20, 1_020, 3_020, 7_020]);
}

/// … and the same on the other side.
#[test]
fn a_partial_flight_5_leaves_the_servers_timer_alone() {
    let mut net = Network::new(1);
    let begin = net.clock().time();
    let (mut client, mut server) = one_patient(&net, CLIENT);
    net.hook(without(CERTIFICATE_VERIFY, CLIENT, 100));
    client.connect(&server);
    net.run_for(Micros::from_secs(40), &mut [&mut client, &mut server]);
    let hellos = sent_at(&net, begin, SERVER, SERVER_HELLO);
    assert_eq!(hellos, [30, 1_030, 3_030, 7_030, 15_030, 31_030]);
    assert!(server.machine.discards(dtls_core::Discard::Repeated) > 0);
}

/// A flight that had to be repeated leaves its long timer to the next one; the first that had not sets it back.
#[test]
fn backoff_is_kept_until_a_flight_without_loss() {
    let mut net = Network::new(1);
    let begin = net.clock().time();
    let (mut client, mut server) = one_patient(&net, SERVER);
    client.config.mtu = 1232;
    // The first two ClientHellos get lost, then the first with a cookie.
    net.hook(|datagram| {
        let lost = datagram.from == address(CLIENT) && [0, 1, 3].contains(&datagram.nth);
        if lost { Fate::Drop } else { Fate::Pass }
    });
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    let hellos = sent_at(&net, begin, CLIENT, CLIENT_HELLO);
    // 1 s and 2 s for flight 1; flight 3 begins with the 4 s that flight 1 ended with.
    assert_eq!(hellos, [0, 1_000, 3_000, 3_020, 7_020]);
    assert_works(&mut net, &mut client, &mut server);

    // Now flight 3 goes through at once, and the first flight 5 is lost: it waits for 1 s again.
    let mut net = Network::new(1);
    let (mut client, mut server) = one_patient(&net, SERVER);
    client.config.mtu = 1232;
    net.hook(|datagram| {
        let lost = datagram.from == address(CLIENT) && [0, 1, 4].contains(&datagram.nth);
        if lost { Fate::Drop } else { Fate::Pass }
    });
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    let verifies = sent_at(&net, begin, CLIENT, CERTIFICATE_VERIFY);
    assert_eq!(verifies, [3_040, 4_040]);
    assert_works(&mut net, &mut client, &mut server);
}

/// Whoever asks more often than the deadlines say gets the same handshake, datagram by datagram: between them there is
/// nothing to do.
#[test]
fn deadlines_tell_all_there_is_to_do() {
    for seed in 0..20 {
        let mut logs = Vec::new();
        for span in [Micros::from_secs(600), Micros::from_millis(7)] {
            let mut net = Network::new(seed);
            net.link = Link {
                loss: 30,
                ..Link::PERFECT
            };
            let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
            client.connect(&server);
            let end = net.clock().time().after(Micros::from_secs(600));
            while net.clock().time() < end {
                net.run_for(span, &mut [&mut client, &mut server]);
                if client.deadline().is_none() && server.deadline().is_none() {
                    break;
                }
            }
            logs.push((net.log, client.seen, server.seen));
        }
        assert!(logs[0] == logs[1], "seed {seed}");
    }
}

/// … and whoever comes late finds it undone, not lost.
#[test]
fn a_harness_that_sleeps_too_long_loses_nothing() {
    let mut net = Network::new(1);
    let (mut client, server) = pair(&net, Kind::Raw, Kind::Raw);
    client.connect(&server);
    let mut now = net.clock().time();
    let mut sent = 0;
    client.poll(now, &mut |_, _| sent += 1);
    for nap in 1..=7 {
        let deadline = client.deadline().expect("a timer runs");
        now = deadline.after(Micros::from_millis(900));
        client.poll(now, &mut |_, _| sent += 1);
        assert_eq!(sent, 1 + nap, "one transmission for one deadline");
        assert!(client.deadline() > Some(now), "the next one lies ahead");
    }
    net.link.loss = 100;
    assert_eq!(client.failure(), None);
    client.poll(client.deadline().unwrap(), &mut |_, _| sent += 1);
    assert_eq!(client.failure(), Some(Fatal::TimedOut));
    assert_eq!((sent, client.deadline()), (8, None));
}

/// Time may begin anywhere: handshakes that have to be repeated, lingering and giving up, at zero and near the end.
#[test]
fn time_near_the_ends_of_its_range() {
    const BEFORE_THE_END: Instant = Instant(u64::MAX - 400_000_000);
    for begin in [Instant(0), BEFORE_THE_END] {
        let mut spans = Vec::new();
        for begin in [begin, Instant(1_000_000_000)] {
            let mut net = Network::new(1).beginning_at(begin);
            let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
            // The last flight gets lost three times, so that the server's association answers it.
            net.hook(|datagram| {
                let lost = datagram.from == address(SERVER) && (2..5).contains(&datagram.nth);
                if lost { Fate::Drop } else { Fate::Pass }
            });
            client.connect(&server);
            net.run(&mut [&mut client, &mut server]);
            assert_works(&mut net, &mut client, &mut server);
            spans.push(net.clock().time().since(begin));
        }
        assert_eq!(spans[0], spans[1], "it takes as long as at any other time");
    }
    // A deadline beyond the end of time is at the end of time.
    for seconds in [0, 1, 100, 182] {
        let end = Instant(u64::MAX);
        let begin = Instant(end.0 - seconds * 1_000_000);
        let mut net = Network::new(1).beginning_at(begin);
        net.link.loss = 100;
        let (mut client, server) = pair(&net, Kind::Raw, Kind::Raw);
        client.connect(&server);
        net.run(&mut [&mut client]);
        assert_eq!(client.seen, [Seen::Failed(Fatal::TimedOut)]);
        assert_eq!(net.clock().time(), end);
        assert!(client.workspace.is_vacant());
    }
}

/// While a question is open nothing is repeated; when it is answered and the peer's flight is not complete, the timer runs
/// again with the value it had.
#[test]
fn the_timer_goes_on_after_a_question() {
    let mut net = Network::new(1);
    let begin = net.clock().time();
    let (mut client, mut server) = one_patient(&net, CLIENT);
    client.config.mtu = 1232;
    server.engine.delays[dtls_core::Operation::Peer as usize] = Micros::from_secs(5);
    // CertificateVerify comes, Finished does not.
    net.hook(|datagram| {
        if datagram.from == address(CLIENT) && datagram.nth == 2 {
            let records = wire::records(datagram.bytes);
            let finished = records.iter().find(|record| record.epoch == 1);
            datagram
                .bytes
                .truncate(finished.expect("flight 5").range.start);
        }
        Fate::Pass
    });
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    // The question is open from 50 ms to 5,050 ms. The client answers the repetition with all of flight 5.
    let hellos = sent_at(&net, begin, SERVER, SERVER_HELLO);
    assert_eq!(hellos, [30, 6_050]);
    assert_works(&mut net, &mut client, &mut server);
}
