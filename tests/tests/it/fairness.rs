//! What attackers with real addresses can do to a server's handshake rooms, and what they cannot. Forged addresses do not
//! get that far: see `gate`.

use crate::{Kind, SERVER, client_config, server_config};
use dtls_core::{Config, Micros, Timers};
use dtls_tests::{Endpoint, Fate, Gateway, Network, Peer, address};

/// The honest client; attackers have the numbers from 100 on.
const HONEST: u16 = 2;
/// An attacker says hello once a second and never goes on.
const STUBBORN: Timers = Timers {
    initial: Micros::from_secs(1),
    maximum: Micros::from_secs(1),
    retransmissions: u8::MAX,
    ..Timers::INTERNET
};
const RUNS: u64 = 20;

/// How long an honest client takes among `attackers` when the server has so many rooms; `None` if it gives up.
fn delay(seed: u64, rooms: usize, attackers: u16) -> Option<Micros> {
    let mut net = Network::new(seed);
    net.hook(|datagram| {
        // Behind the HelloVerifyRequest, an attacker hears nothing.
        let to_attacker = (100..1_000).any(|number| datagram.to == address(number));
        if to_attacker && datagram.nth > 0 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    let mut server = Gateway::new(&net, SERVER, server_config(Kind::Raw, Kind::Raw), 64, rooms);
    let mut crowd: Vec<Peer> = (0..attackers)
        .map(|n| {
            let config = client_config(Kind::Raw, Kind::Raw);
            Peer::client(
                &net,
                100 + n,
                Config {
                    timers: STUBBORN,
                    ..config
                },
            )
        })
        .collect();
    let mut honest = Peer::client(&net, HONEST, client_config(Kind::Raw, Kind::Raw));

    // They come at different times, over two seconds; the honest client when all are there.
    for n in 0..crowd.len() {
        let gap = 2_000_000 / u64::from(attackers) + seed * 7_919 % 1_000;
        crowd[n].connect(&server);
        let mut all: Vec<&mut dyn Endpoint> = vec![&mut server];
        all.extend(crowd.iter_mut().map(|peer| peer as &mut dyn Endpoint));
        net.run_for(Micros(gap), &mut all);
    }
    let begin = net.clock().time();
    honest.connect(&server);
    while honest.connected().is_none() && honest.failure().is_none() {
        let mut all: Vec<&mut dyn Endpoint> = vec![&mut server, &mut honest];
        all.extend(crowd.iter_mut().map(|peer| peer as &mut dyn Endpoint));
        net.run_for(Micros::from_millis(20), &mut all);
    }
    honest.connected().map(|_| net.clock().time().since(begin))
}

/// Fewer attackers than rooms do nothing; as many as there are rooms cost nothing once their handshakes have stalled, for
/// they give way; more of them delay an honest client, and do not keep it out.
#[test]
fn honest_clients_get_in_among_attackers() {
    println!(
        "rooms, attackers (a hello a second each): honest clients connected, median and worst delay"
    );
    for rooms in [2usize, 4, 8] {
        for per_room in [1, 2, 4] {
            let attackers = u16::try_from(rooms * per_room).unwrap();
            let mut delays: Vec<_> = (0..RUNS)
                .filter_map(|seed| delay(seed, rooms, attackers))
                .map(|one| one.0 / 1_000)
                .collect();
            delays.sort_unstable();
            let connected = delays.len();
            println!(
                "{rooms}, {attackers}: {connected}/{RUNS}, {} ms, {} ms",
                delays.get(connected / 2).copied().unwrap_or_default(),
                delays.last().copied().unwrap_or_default()
            );
            if per_room <= 2 {
                assert_eq!(connected, usize::try_from(RUNS).unwrap());
            }
        }
    }
}
