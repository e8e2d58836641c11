//! The loss grid: clients that try again, as any client would, on networks that lose, double and delay.

use crate::pair;
use dtls_core::{Instant, Micros, Timers};
use dtls_tests::{Kind, Link, Network, Peer};

const KINDS: [(Kind, Kind); 4] = [
    (Kind::Nothing, Kind::Raw),
    (Kind::Raw, Kind::Raw),
    (Kind::Nothing, Kind::X509),
    (Kind::X509, Kind::X509),
];
/// Three datagrams of ten are lost, each way and independently.
const LOSSY: Link = Link {
    loss: 30,
    ..Link::PERFECT
};

/// Many clients under the same circumstances.
#[derive(Clone, Copy)]
struct Grid {
    name: &'static str,
    link: Link,
    /// Of both sides. A handshake that takes longer than its limit is begun again: a new one starts with a short timer.
    timers: Timers,
    /// What a client is given: handshakes, begun again if need be, and the data that follows.
    patience: Micros,
}

const INTERNET: Grid = Grid {
    name: "30 % loss each way, timers from 1 s",
    link: LOSSY,
    timers: Timers {
        handshake: Micros::from_secs(40),
        ..Timers::INTERNET
    },
    patience: Micros::from_secs(300),
};

/// What became of one client.
struct Outcome {
    attempts: u32,
    /// When the server was connected, and when the client was.
    connected: [Micros; 2],
    repeated: usize,
    datagrams: usize,
}

impl Grid {
    /// One client and one server; `None` if the time is not enough.
    fn run(&self, seed: u64, (client_kind, server_kind): (Kind, Kind)) -> Option<Outcome> {
        let mut net = Network::new(seed);
        net.link = self.link;
        let (mut client, mut server) = pair(&net, client_kind, server_kind);
        (client.config.timers, server.config.timers) = (self.timers, self.timers);
        let begin = net.clock().time();
        let end = begin.after(self.patience);
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
        let datagrams = net.log.len();
        // Data both ways; who hears nothing says it again, as CoAP does.
        while client.received().is_empty() || server.received().is_empty() {
            if net.clock().time() >= end {
                return None;
            }
            client.send(b"from the client").ok()?;
            server.send(b"from the server").ok()?;
            step(&mut net, end, &mut client, &mut server);
        }
        assert_eq!(
            client.machine.secrets.last(),
            server.machine.secrets.last(),
            "seed {seed}"
        );
        Some(Outcome {
            attempts,
            connected: [&server, &client].map(|peer| connected_at(peer).since(begin)),
            repeated: client.machine.retransmissions() + server.machine.retransmissions(),
            datagrams,
        })
    }

    /// As many clients as seeds, which all have to make it.
    fn check(&self, seeds: u64, kinds: (Kind, Kind)) -> Vec<Outcome> {
        let (name, (client, server)) = (self.name, kinds);
        let outcomes: Vec<_> = (0..seeds)
            .filter_map(|seed| self.run(seed, kinds))
            .collect();
        println!(
            "{name}; client {client:?}, server {server:?}: {}/{} connect and exchange data",
            grouped(outcomes.len()),
            grouped(usize::try_from(seeds).unwrap_or(usize::MAX)),
        );
        for (role, side) in [(0, "server"), (1, "client")] {
            let mut times: Vec<_> = outcomes.iter().map(|one| one.connected[role]).collect();
            times.sort_unstable();
            let at = |percent| times.get(times.len().saturating_sub(1) * percent / 100);
            let [median, p95, max] =
                [50, 95, 100].map(|percent| at(percent).map_or(0, |time| time.0 / 1_000));
            println!("  {side} connected: median {median} ms, p95 {p95} ms, max {max} ms");
        }
        println!(
            "  {} attempts, {} datagrams repeated",
            outcomes.iter().map(|one| one.attempts).sum::<u32>(),
            outcomes.iter().map(|one| one.repeated).sum::<usize>(),
        );
        assert_eq!(outcomes.len(), usize::try_from(seeds).unwrap_or(usize::MAX));
        outcomes
    }
}

/// A number below a million with its thousands set off.
fn grouped(n: usize) -> String {
    match n / 1_000 {
        0 => n.to_string(),
        thousands => format!("{thousands},{:03}", n % 1_000),
    }
}

/// Two seconds of the network, not beyond the end.
fn step(net: &mut Network, end: Instant, client: &mut Peer, server: &mut Peer) {
    let left = end.since(net.clock().time());
    net.run_for(left.min(Micros::from_secs(2)), &mut [client, server]);
}

/// When the association came up that is there now.
fn connected_at(peer: &Peer) -> Instant {
    let marks = peer.machine.recorder().marks.iter().rev();
    let connected = marks
        .filter(|(.., mark)| *mark == dtls_core::Mark::Connected)
        .map(|(at, ..)| *at);
    connected.take(1).next().expect("it is connected")
}

/// `DTLS_GRID_SEEDS`, at most this many; 50 or more are needed to see what there is to be seen.
fn seeds(most: u64) -> u64 {
    std::env::var("DTLS_GRID_SEEDS").map_or(most, |seeds| {
        let seeds: u64 = seeds.parse().expect("DTLS_GRID_SEEDS is a number");
        seeds.min(most)
    })
}

/// RFC 6347 section 4.2.4.
#[test]
fn raw_public_keys_server_only() {
    INTERNET.check(seeds(1_000), KINDS[0]);
}

#[test]
fn raw_public_keys_mutual() {
    INTERNET.check(seeds(1_000), KINDS[1]);
}

#[test]
fn x509_server_only() {
    INTERNET.check(seeds(1_000), KINDS[2]);
}

#[test]
fn x509_mutual() {
    INTERNET.check(seeds(1_000), KINDS[3]);
}

/// RFC 7925 section 11: timers from 9 s. They need nine times the patience: the third repetition of a flight comes after
/// more than a minute.
#[test]
fn constrained_timers() {
    for kinds in [KINDS[1], KINDS[3]] {
        let grid = Grid {
            name: "30 % loss each way, timers from 9 s",
            timers: Timers::CONSTRAINED,
            patience: Micros::from_secs(2_700),
            ..INTERNET
        };
        let outcomes = grid.check(seeds(1_000), kinds);
        let soon = outcomes
            .iter()
            .filter(|one| one.connected[1] <= Micros::from_secs(300))
            .count();
        println!("  {soon} within 300 s");
    }
}

/// Losses that come in bursts, as in the model of Gilbert and Elliott: three or four datagrams in a row. Here a burst ends
/// after so many datagrams, however long they take, which asks for more patience than one that ends with time.
#[test]
fn bursts_of_loss() {
    for kinds in KINDS {
        let link = Link {
            burst_begins: 12,
            burst_ends: 30,
            ..Link::PERFECT
        };
        let grid = Grid {
            name: "bursts of loss",
            link,
            patience: Micros::from_secs(600),
            ..INTERNET
        };
        let outcomes = grid.check(seeds(200), kinds);
        assert!(outcomes.iter().any(|one| one.repeated > 6), "no burst");
    }
}

/// Copies, and delays of up to three seconds: retransmissions overtake what they repeat, and copies come from attempts
/// that are long over.
#[test]
fn copies_and_disorder() {
    for kinds in KINDS {
        let link = Link {
            jitter: Micros::from_secs(3),
            loss: 10,
            duplicated: 30,
            ..Link::PERFECT
        };
        let grid = Grid {
            name: "10 % loss, 30 % copies, delays of 0 s to 3 s",
            link,
            ..INTERNET
        };
        let outcomes = grid.check(seeds(200), kinds);
        assert!(outcomes.iter().any(|one| one.repeated > 0));
    }
}

/// RFC 6347 section 4.2.4: on a path that is slower than the timer every flight is repeated before its answer can be there,
/// and the repetitions cross. The first attempt succeeds, and repetitions do not breed repetitions.
#[test]
fn retransmissions_that_cross() {
    for (milliseconds, most) in [(600, 18), (1_500, 28), (5_000, 40), (10_000, 46)] {
        for kinds in KINDS {
            let link = Link {
                latency: Micros::from_millis(milliseconds),
                jitter: Micros::from_millis(milliseconds / 4),
                ..Link::PERFECT
            };
            let grid = Grid {
                name: "a path slower than the timer",
                link,
                timers: Timers::INTERNET,
                ..INTERNET
            };
            for one in grid.check(seeds(50), kinds) {
                assert_eq!(one.attempts, 1);
                assert!(one.repeated > 0);
                assert!(one.datagrams <= most, "{} datagrams", one.datagrams);
            }
        }
    }
}
