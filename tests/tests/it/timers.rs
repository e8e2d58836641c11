//! Deadlines: acting at what `poll_timeout` says, and at nothing else, is enough.

use crate::{CLIENT, SERVER, assert_works, pair, to_datagram};
use dtls_core::{AlertDescription, Fatal, Instant, Mark, Micros, Timers};
use dtls_tests::wire::{self, ALERT, HANDSHAKE};
use dtls_tests::{Endpoint, Fate, Kind, Network, Seen, address};

/// RFC 6347 section 4.2.4.1: 1 s, doubled up to 60 s, and then it is over.
#[test]
fn nobody_answers() {
    let mut net = Network::new(1);
    net.link.loss = 100;
    let (mut client, server) = pair(&net, Kind::Raw, Kind::Raw);
    let begin = net.clock().time();
    client.connect(&server);
    net.run(&mut [&mut client]);
    let sent: Vec<_> = net
        .log
        .iter()
        .map(|sent| sent.at.since(begin).0 / 1_000_000)
        .collect();
    assert_eq!(sent, [0, 1, 3, 7, 15, 31, 63, 123]);
    assert_eq!(client.seen, [Seen::Failed(Fatal::TimedOut)]);
    assert_eq!(net.clock().time().since(begin), Micros::from_secs(183));
    assert!(client.workspace.is_vacant());
    assert_eq!(client.deadline(), None);
}

/// RFC 7925 section 11.
#[test]
fn constrained_timers_begin_at_nine_seconds() {
    let mut net = Network::new(1);
    net.link.loss = 100;
    let (mut client, server) = pair(&net, Kind::Raw, Kind::Raw);
    client.config.timers = Timers {
        retransmissions: 3,
        ..Timers::CONSTRAINED
    };
    let begin = net.clock().time();
    client.connect(&server);
    net.run(&mut [&mut client]);
    let sent: Vec<_> = net
        .log
        .iter()
        .map(|sent| sent.at.since(begin).0 / 1_000_000)
        .collect();
    assert_eq!(sent, [0, 9, 27, 63]);
    assert_eq!(net.clock().time().since(begin), Micros::from_secs(123));
}

/// The deadline of the whole handshake ends it, however long the timers are.
#[test]
fn the_handshake_deadline_comes_first() {
    let mut net = Network::new(1);
    net.link.loss = 100;
    let (mut client, server) = pair(&net, Kind::Raw, Kind::Raw);
    client.config.timers.handshake = Micros::from_secs(20);
    client.connect(&server);
    let time = net.run(&mut [&mut client]);
    assert_eq!(client.seen, [Seen::Failed(Fatal::TimedOut)]);
    assert_eq!(time, Micros::from_secs(20));
}

/// RFC 6347 section 4.2.4: a server waits as a client does; then its memory is free again.
#[test]
fn a_client_that_vanishes_costs_a_server_nothing_for_long() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    net.hook(|datagram| {
        let later = datagram.from == address(CLIENT) && datagram.nth >= 2;
        if later { Fate::Drop } else { Fate::Pass }
    });
    client.config.timers.handshake = Micros::from_millis(900);
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(server.seen, [Seen::Failed(Fatal::TimedOut)]);
    let last = server.machine.recorder().marks.iter().rev();
    let attempts = last.filter_map(|(.., mark)| match mark {
        Mark::Sent { attempt, .. } => Some(*attempt),
        _ => None,
    });
    assert_eq!(attempts.max(), Some(7));
    assert!(server.workspace.is_vacant());
    net.unhook();
    client.seen.clear();
    client.config.timers = Timers::INTERNET;
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_works(&mut net, &mut client, &mut server);
}

/// RFC 6347 section 4.2.4: the peer's retransmission shows that our flight was lost; it is answered, but only once before
/// our own deadline.
#[test]
fn a_repeated_flight_is_answered_once_per_deadline() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    client.config.timers.initial = Micros::from_millis(100);
    server.config.timers.initial = Micros::from_secs(9);
    net.hook(|datagram| {
        let flight4 = datagram.from == address(SERVER) && (1..4).contains(&datagram.nth);
        if flight4 { Fate::Drop } else { Fate::Pass }
    });
    client.connect(&server);
    net.run_for(Micros::from_secs(8), &mut [&mut client, &mut server]);
    let from_server = net
        .log
        .iter()
        .filter(|sent| sent.from == address(SERVER))
        .count();
    assert_eq!(
        from_server, 3,
        "HelloVerifyRequest, flight 4, and one answer to many copies"
    );
    assert!(client.machine.retransmissions() > 3);
}

/// … and a client that waits for flight 6 answers the server's copies of flight 4, too.
#[test]
fn a_waiting_client_answers_a_repeated_flight() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    client.config.timers.initial = Micros::from_secs(9);
    server.config.timers.initial = Micros::from_millis(100);
    net.hook(to_datagram(CLIENT, 2, Fate::Drop));
    client.connect(&server);
    let time = net.run(&mut [&mut client, &mut server]);
    assert_eq!(server.machine.retransmissions(), 1);
    assert!(
        time < Micros::from_secs(1),
        "{time:?}: long before the client's own timer"
    );
    assert_works(&mut net, &mut client, &mut server);
}

/// An alert in plaintext can come from anybody: it is told, and the handshake goes on.
#[test]
fn a_forged_alert_does_not_end_a_handshake() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    client.connect(&server);
    net.inject(
        address(SERVER),
        address(CLIENT),
        &wire::forged(ALERT, 9, &[2, 40]),
    );
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(
        client.seen[0],
        Seen::PlaintextAlert(AlertDescription::HANDSHAKE_FAILURE)
    );
    assert_works(&mut net, &mut client, &mut server);
}

/// … unless nothing better comes before the next deadline, or the config trusts it.
#[test]
fn an_alert_that_nothing_contradicts_ends_a_handshake() {
    for (trust, seconds) in [(false, 1), (true, 0)] {
        let mut net = Network::new(1);
        let (mut client, server) = pair(&net, Kind::Raw, Kind::Raw);
        client.config.trust_plaintext_alerts = trust;
        client.connect(&server);
        net.inject(
            address(SERVER),
            address(CLIENT),
            &wire::forged(ALERT, 9, &[2, 40]),
        );
        let time = net.run(&mut [&mut client]);
        let fatal = Fatal::AlertReceived(AlertDescription::HANDSHAKE_FAILURE);
        assert_eq!(client.seen.last(), Some(&Seen::Failed(fatal)));
        assert_eq!(time.0 / 1_000_000, seconds);
        assert!(client.workspace.is_vacant());
    }
}

/// RFC 6347 section 4.1.1.1: after several timeouts the datagrams get smaller, because a path may not carry large ones.
#[test]
fn datagrams_shrink_when_large_ones_get_lost() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::X509, Kind::X509);
    net.hook(|datagram| {
        let large = datagram.bytes.len() > 548;
        if large { Fate::Drop } else { Fate::Pass }
    });
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert!(
        net.log.iter().any(|sent| sent.bytes.len() > 548),
        "there was something to shrink"
    );
    assert_works(&mut net, &mut client, &mut server);
}

/// Nothing runs any more when both are connected: not even for the last flight (RFC 6347 section 4.2.4).
#[test]
fn an_association_has_no_timer() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    client.connect(&server);
    assert!(net.run(&mut [&mut client, &mut server]) < Micros::from_secs(1));
    assert_eq!([client.deadline(), server.deadline()], [None::<Instant>; 2]);
}

/// RFC 6347 section 4.2.4: the last flight is sent again as often as the peer asks, for twice the lifetime of a segment.
#[test]
fn the_last_flight_is_sent_again() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    net.hook(|datagram| {
        let last = datagram.from == address(SERVER) && (2..6).contains(&datagram.nth);
        if last { Fate::Drop } else { Fate::Pass }
    });
    client.connect(&server);
    let time = net.run(&mut [&mut client, &mut server]);
    assert_eq!(time.0 / 1_000_000, 15, "asked after 1, 3, 7 and 15 s");
    assert_eq!(server.seen.len(), 1);
    assert_works(&mut net, &mut client, &mut server);
}

/// … and not longer.
#[test]
fn the_last_flight_is_forgotten_after_the_linger_time() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    server.config.timers.linger = Micros::from_secs(5);
    net.hook(|datagram| {
        let last = datagram.from == address(SERVER) && (2..5).contains(&datagram.nth);
        if last { Fate::Drop } else { Fate::Pass }
    });
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(client.seen, [Seen::Failed(Fatal::TimedOut)]);
}

/// A lost ClientHello is the client's to repeat; the gate keeps nothing that could (RFC 6347 section 4.2.1).
#[test]
fn the_gate_never_retransmits() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    net.hook(to_datagram(SERVER, 0, Fate::Drop));
    client.connect(&server);
    net.run_for(Micros::from_millis(999), &mut [&mut client, &mut server]);
    assert_eq!(net.log.len(), 2);
    assert_eq!(server.deadline(), None);
    net.run(&mut [&mut client, &mut server]);
    assert_works(&mut net, &mut client, &mut server);
}

/// A Finished in the clear, sent ahead of its time, is no Finished: the real one is not kept from its place.
#[test]
fn a_forged_early_finished_changes_nothing() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    let finished = |seq: u8| {
        let mut body = vec![20, 0, 0, 12, 0, seq, 0, 0, 0, 0, 0, 12];
        body.extend([seq; 12]);
        wire::forged(HANDSHAKE, 50, &body)
    };
    client.connect(&server);
    net.run_for(Micros::from_millis(35), &mut [&mut client, &mut server]);
    // Flight 5 is Certificate, ClientKeyExchange, CertificateVerify, Finished, from message_seq 2 on.
    net.inject(address(CLIENT), address(SERVER), &finished(5));
    // Flight 4 is five messages from 1 on; the server's Finished comes behind them.
    net.inject(address(SERVER), address(CLIENT), &finished(6));
    net.run(&mut [&mut client, &mut server]);
    assert_eq!([client.failure(), server.failure()], [None; 2]);
    assert_works(&mut net, &mut client, &mut server);
}
