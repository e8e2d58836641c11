//! The loss grid: clients that try again, as any client would, on a network that loses three datagrams of ten.

use crate::pair;
use dtls_core::{Instant, Micros, Timers};
use dtls_tests::{Kind, Link, Network, Peer};

/// What a client is given: handshakes, begun again if need be, and the data that follows.
const PATIENCE: Micros = Micros::from_secs(300);
/// A handshake that takes longer than this is begun again: a new one starts with a short timer.
const TIMERS: Timers = Timers {
    handshake: Micros::from_secs(40),
    ..Timers::INTERNET
};
const LOSSY: Link = Link {
    loss: 30,
    ..Link::PERFECT
};

/// What became of one client.
struct Outcome {
    attempts: u32,
    connected: Micros,
    repeated: usize,
}

/// One client and one server; `None` if the time is not enough.
fn run(seed: u64, client_kind: Kind, server_kind: Kind) -> Option<Outcome> {
    let mut net = Network::new(seed);
    net.link = LOSSY;
    let (mut client, mut server) = pair(&net, client_kind, server_kind);
    (client.config.timers, server.config.timers) = (TIMERS, TIMERS);
    let begin = net.clock().time();
    let end = begin.after(PATIENCE);
    let mut attempts = 0;
    while client.connected().is_none() {
        if net.clock().time() >= end {
            return None;
        }
        if client.workspace.is_vacant() {
            attempts += 1;
            client.connect(&server);
        }
        step(&mut net, end, &mut client, &mut server);
    }
    let connected = net.clock().time().since(begin);
    // Data both ways; who hears nothing says it again, as CoAP does.
    while client.received().is_empty() || server.received().is_empty() {
        if net.clock().time() >= end {
            return None;
        }
        client.send(b"from the client").ok()?;
        server.send(b"from the server").ok()?;
        step(&mut net, end, &mut client, &mut server);
    }
    assert!(
        server.connected().is_some(),
        "seed {seed}: {:?}",
        server.seen
    );
    assert_eq!(
        client.machine.secrets.last(),
        server.machine.secrets.last(),
        "seed {seed}"
    );
    let repeated = client.machine.retransmissions() + server.machine.retransmissions();
    Some(Outcome {
        attempts,
        connected,
        repeated,
    })
}

/// Two seconds of the network, not beyond the end.
fn step(net: &mut Network, end: Instant, client: &mut Peer, server: &mut Peer) {
    let left = end.since(net.clock().time());
    net.run_for(left.min(Micros::from_secs(2)), &mut [client, server]);
}

fn grid(client_kind: Kind, server_kind: Kind) {
    let seeds = std::env::var("DTLS_GRID_SEEDS").map_or(1_000, |seeds| {
        seeds.parse().expect("DTLS_GRID_SEEDS is a number")
    });
    let outcomes: Vec<_> = (0..seeds)
        .filter_map(|seed| run(seed, client_kind, server_kind))
        .collect();
    let mut times: Vec<_> = outcomes.iter().map(|one| one.connected.0 / 1_000).collect();
    times.sort_unstable();
    let at = |percent: usize| {
        times
            .get(times.len().saturating_sub(1) * percent / 100)
            .copied()
    };
    println!(
        "30 % loss each way, client {client_kind:?}, server {server_kind:?}: {}/{seeds} connect and exchange data; \
         median {:?} ms, p95 {:?} ms, max {:?} ms; {} attempts, {} datagrams repeated",
        outcomes.len(),
        at(50).unwrap_or_default(),
        at(95).unwrap_or_default(),
        at(100).unwrap_or_default(),
        outcomes.iter().map(|one| one.attempts).sum::<u32>(),
        outcomes.iter().map(|one| one.repeated).sum::<usize>(),
    );
    assert_eq!(outcomes.len(), usize::try_from(seeds).unwrap_or(usize::MAX));
}

/// RFC 6347 section 4.2.4.
#[test]
fn raw_public_keys_server_only() {
    grid(Kind::Nothing, Kind::Raw);
}

#[test]
fn raw_public_keys_mutual() {
    grid(Kind::Raw, Kind::Raw);
}

#[test]
fn x509_server_only() {
    grid(Kind::Nothing, Kind::X509);
}

#[test]
fn x509_mutual() {
    grid(Kind::X509, Kind::X509);
}
