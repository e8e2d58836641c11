//! A table of peers when room is short: who gets in, who waits, and who is never displaced.

use crate::SERVER;
use dtls_core::{Micros, Operation, PeerId};
use dtls_tests::{
    Endpoint, Fate, Gateway, Kind, Link, Network, Peer, STRANGER, Seen, client_config,
    server_config,
};

fn gateway(net: &Network, seats: usize, rooms: usize) -> Gateway {
    let config = server_config(Kind::Raw, Kind::Raw);
    let mut server = Gateway::new(net, SERVER, config, seats, rooms);
    server.echo = true;
    server
}

fn client(net: &Network, number: u16) -> Peer {
    Peer::client(net, number, client_config(Kind::Raw, Kind::Raw))
}

/// A client that gets the server's flight 4 and never answers it.
fn ghost(net: &Network, number: u16) -> Peer {
    let mut ghost = client(net, number);
    ghost.engine.delays[Operation::Verify as usize] = Micros::from_secs(100_000);
    ghost
}

fn assert_echoes(net: &mut Network, client: &mut Peer, server: &mut Gateway, data: &[u8]) {
    client.send(data).unwrap();
    net.run_for(Micros::from_millis(50), &mut [client, server]);
    assert_eq!(client.received().last(), Some(&data));
}

/// RFC 6347 has no answer to a client whose port changes, as behind a NAT: it begins anew, and until somebody forgets the
/// old association there are two, each with its own keys.
#[test]
fn a_client_that_changes_its_port_has_two_associations_for_a_while() {
    let mut net = Network::new(1);
    let mut server = gateway(&net, 2, 1);
    let mut before = client(&net, 2);
    before.connect(&server);
    net.run(&mut [&mut before, &mut server]);
    let mut after = client(&net, 2).at_port(1_234);
    after.machine = dtls_tests::Machine::new(net.clock(), 99);
    after.connect(&server);
    net.run(&mut [&mut after, &mut server]);
    assert_eq!(server.table.occupancy(), (2, 0));
    let connected = server.seen.iter();
    let connected: Vec<_> = connected
        .filter(|(_, seen)| *seen == Seen::Connected(PeerId(0)))
        .map(|(from, _)| *from)
        .collect();
    assert_eq!(connected, [before.address(), after.address()]);
    assert_echoes(&mut net, &mut before, &mut server, b"old port");
    assert_echoes(&mut net, &mut after, &mut server, b"new port");
    // A record of the one from the address of the other opens under no key.
    before.send(b"moved").unwrap();
    net.hook(|_| Fate::Drop);
    net.run(&mut [&mut before, &mut server]);
    net.unhook();
    let moved = net.log.last().unwrap().bytes.clone();
    net.inject(after.address(), server.address(), &moved);
    net.run(&mut [&mut after, &mut server]);
    assert_eq!(server.received(after.address()), [b"new port"]);
    assert_echoes(&mut net, &mut after, &mut server, b"still here");
    let (oldest, _) = server.table.idle_longest().unwrap();
    assert_eq!(oldest, before.address());
    server.table.forget(oldest);
    assert_eq!(server.table.occupancy(), (1, 0));
    assert_echoes(&mut net, &mut after, &mut server, b"alone");
}

/// Handshakes that are never finished expire, and nothing is left of them: not a room, not a seat, not a deadline.
#[test]
fn half_open_handshakes_expire() {
    let mut net = Network::new(1);
    let mut server = gateway(&net, 2, 2);
    let mut ghosts = [2, 3].map(|number| ghost(&net, number));
    for ghost in &mut ghosts {
        ghost.connect(&server);
        net.run_for(Micros::from_millis(100), &mut [ghost, &mut server]);
    }
    assert_eq!(server.table.occupancy(), (0, 2));
    net.run_for(Micros::from_secs(300), &mut [&mut server]);
    assert_eq!(server.table.occupancy(), (0, 0));
    assert_eq!(server.deadline(), None);
    let mut clients = [4, 5].map(|number| client(&net, number));
    for client in &mut clients {
        client.connect(&server);
        net.run(&mut [client, &mut server]);
        assert_echoes(&mut net, client, &mut server, b"room for two");
    }
}

/// While all rooms are busy with handshakes that make progress, a newcomer waits: its own retransmissions bring it in as
/// soon as there is room, and nobody has lost anything.
#[test]
fn a_newcomer_waits_for_a_busy_room() {
    let mut net = Network::new(1);
    let mut server = gateway(&net, 2, 1);
    let mut slow = client(&net, 2);
    // 800 ms: the server does not have to repeat its flight.
    slow.engine.delays[Operation::Verify as usize] = Micros::from_millis(800);
    let mut newcomer = client(&net, 3);
    slow.connect(&server);
    net.run_for(Micros::from_millis(100), &mut [&mut slow, &mut server]);
    newcomer.connect(&server);
    let all: &mut [&mut dyn Endpoint] = &mut [&mut slow, &mut newcomer, &mut server];
    net.run_for(Micros::from_millis(500), all);
    assert_eq!(server.table.occupancy(), (0, 1));
    net.run(&mut [&mut slow, &mut newcomer, &mut server]);
    assert_eq!(server.table.occupancy(), (2, 0));
    assert_eq!(slow.machine.retransmissions(), 0);
    assert_eq!(newcomer.machine.retransmissions(), 1);
    let connected = server.seen.iter().map(|(from, _)| *from);
    assert!(connected.eq([slow.address(), newcomer.address()]));
}

/// A handshake that had to repeat a flight gives way to a newcomer. If it was honest, it begins anew and gets in, too.
#[test]
fn a_stalled_handshake_gives_way() {
    let mut net = Network::new(1);
    let mut server = gateway(&net, 2, 1);
    let mut slow = client(&net, 2);
    slow.engine.delays[Operation::Verify as usize] = Micros::from_millis(2_500);
    slow.config.timers.handshake = Micros::from_secs(10);
    let mut newcomer = client(&net, 3);
    slow.connect(&server);
    net.run_for(Micros::from_millis(1_500), &mut [&mut slow, &mut server]);
    newcomer.connect(&server);
    let all: &mut [&mut dyn Endpoint] = &mut [&mut slow, &mut newcomer, &mut server];
    net.run_for(Micros::from_millis(100), all);
    assert!(newcomer.connected().is_some(), "{:?}", newcomer.seen);
    assert_eq!(newcomer.machine.retransmissions(), 0);
    assert_eq!(server.table.occupancy(), (1, 0));
    net.run(&mut [&mut slow, &mut server]);
    assert!(slow.failure().is_some());
    slow.engine.delays = [Micros(0); 5];
    slow.connect(&server);
    net.run(&mut [&mut slow, &mut server]);
    assert_echoes(&mut net, &mut slow, &mut server, b"second try");
    assert_echoes(&mut net, &mut newcomer, &mut server, b"first try");
}

/// Nobody who has not proven more than an address displaces an association, or keeps its seat from those who have: not by
/// hellos, not by half a handshake, and not with a key that is refused.
#[test]
fn nobody_unproven_displaces_an_association() {
    let mut net = Network::new(1);
    let mut server = gateway(&net, 2, 2);
    let mut honest = client(&net, 2);
    honest.connect(&server);
    net.run(&mut [&mut honest, &mut server]);
    let mut ghosts: Vec<_> = (10..30).map(|number| ghost(&net, number)).collect();
    let mut strangers: Vec<_> = (30..50).map(|number| client(&net, number)).collect();
    for stranger in &mut strangers {
        stranger.config.credentials = STRANGER.credentials(Kind::Raw);
        stranger.engine = dtls_tests::Engine::new(&STRANGER, 1);
        stranger.engine.pins.push(dtls_tests::SERVER.spki);
    }
    for (ghost, stranger) in ghosts.iter_mut().zip(&mut strangers) {
        ghost.connect(&server);
        stranger.connect(&server);
        let all: &mut [&mut dyn Endpoint] = &mut [&mut *ghost, stranger, &mut server];
        net.run_for(Micros::from_millis(1_700), all);
        assert!(server.table.occupancy().0 == 1, "none of them is let in");
        assert_echoes(&mut net, &mut honest, &mut server, b"undisturbed");
    }
    assert_eq!(
        server.table.idle_longest().map(|(peer, _)| peer),
        Some(honest.address())
    );
    // There is a seat for one more, and who proves himself gets it; then the table is full.
    let mut second = client(&net, 4);
    second.connect(&server);
    net.run(&mut [&mut second, &mut server]);
    assert_echoes(&mut net, &mut second, &mut server, b"seated");
    let mut third = client(&net, 5);
    third.connect(&server);
    net.run(&mut [&mut third, &mut server]);
    assert!(third.connected().is_none());
    assert_eq!(server.table.occupancy(), (2, 0));
    assert_echoes(&mut net, &mut honest, &mut server, b"still here");
    assert_echoes(&mut net, &mut second, &mut server, b"still here, too");
}

/// Attackers who prove their addresses, four for each room, and take rooms to do nothing with: what an honest client waits.
#[test]
fn an_honest_client_gets_in_among_attackers() {
    const ROOMS: [u16; 3] = [2, 4, 8];
    for rooms in ROOMS {
        let mut waits = Vec::new();
        for seed in 0..20 {
            let mut net = Network::new(seed);
            net.link = Link {
                jitter: Micros::from_millis(20),
                ..Link::PERFECT
            };
            let mut server = gateway(&net, 64, rooms.into());
            let mut ghosts: Vec<_> = (10..10 + 4 * rooms).map(|n| ghost(&net, n)).collect();
            for ghost in &mut ghosts {
                ghost.config.timers.handshake = Micros::from_secs(5);
            }
            let mut honest = client(&net, 2);
            honest.config.timers.handshake = Micros::from_secs(40);
            let begin = 100 + 3 * usize::try_from(seed).unwrap(); // at any time of their rounds
            for step in 0..3_000 {
                // The attackers come one after the other, and each comes back as soon as it was given up.
                for (ghost, first) in ghosts.iter_mut().zip((0..).step_by(3)) {
                    if ghost.workspace.is_vacant() && step >= first {
                        ghost.connect(&server);
                    }
                }
                if step >= begin && honest.workspace.is_vacant() {
                    honest.connect(&server);
                }
                let mut all: Vec<&mut dyn Endpoint> = vec![&mut honest, &mut server];
                all.extend(ghosts.iter_mut().map(|ghost| ghost as &mut dyn Endpoint));
                net.run_for(Micros::from_millis(100), &mut all);
                if honest.connected().is_some() {
                    waits.push(step - begin);
                    break;
                }
            }
            assert_eq!(
                server.table.occupancy().0,
                waits.len() - usize::try_from(seed).unwrap()
            );
        }
        waits.sort_unstable();
        println!(
            "{rooms} rooms, {} attackers: an honest client waits {} ms (median), {} ms (longest of {})",
            4 * rooms,
            100 * waits[waits.len() / 2],
            100 * waits[waits.len() - 1],
            waits.len()
        );
    }
}
