//! Answers that come later.

use crate::{SERVER, assert_works, pair};
use dtls_core::{Connection, Fatal, Instant, Micros, Operation};
use dtls_tests::{Endpoint, Gateway, Kind, Network, Peer, Seen, client_config, server_config};

/// While a question is out, its endpoint retransmits nothing; only the deadline of the handshake runs.
#[test]
fn no_retransmission_while_a_question_is_out() {
    for slow_client in [true, false] {
        for operation in Operation::ALL {
            let mut net = Network::new(1);
            let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
            let (slow, patient) = if slow_client {
                (&mut client, &mut server)
            } else {
                (&mut server, &mut client)
            };
            // Only the slow one's timers are short, so that every retransmission would be its own.
            slow.engine.delays[operation as usize] = Micros::from_secs(3);
            patient.config.timers.initial = Micros::from_secs(60);
            client.connect(&server);
            let time = net.run(&mut [&mut client, &mut server]);
            let case = format!("client {slow_client}, {operation:?}");
            assert!(time >= Micros::from_secs(3), "{case}");
            let (slow, patient) = if slow_client {
                (&client, &server)
            } else {
                (&server, &client)
            };
            assert!(slow.engine.asked.contains(&operation), "{case}");
            assert_eq!(slow.machine.retransmissions(), 0, "{case}");
            assert_eq!(patient.machine.retransmissions(), 0, "{case}");
            assert_works(&mut net, &mut client, &mut server);
        }
    }
}

/// Who answers later need not keep what the peer showed: it stays where it is until the question is answered.
#[test]
fn what_the_peer_showed_can_be_looked_at_again() {
    let shown = |peer: &mut Peer| {
        let Peer {
            association,
            workspace,
            config,
            ..
        } = peer;
        let connection = Connection::new(association, workspace, config);
        let identity = connection.peer_identity()?;
        identity.spki().map(<[u8]>::to_vec)
    };
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    for peer in [&mut client, &mut server] {
        peer.engine.delays[Operation::Peer as usize] = Micros::from_secs(3);
    }
    client.connect(&server);
    assert_eq!(shown(&mut client), None);
    net.run_for(Micros::from_secs(1), &mut [&mut client, &mut server]);
    assert_eq!(shown(&mut client), Some(dtls_tests::SERVER.spki.to_vec()));
    net.run_for(Micros::from_secs(3), &mut [&mut client, &mut server]);
    assert_eq!(shown(&mut client), None);
    assert_eq!(shown(&mut server), Some(dtls_tests::CLIENT.spki.to_vec()));
    net.run(&mut [&mut client, &mut server]);
    assert_works(&mut net, &mut client, &mut server);
    assert_eq!(shown(&mut server), None);
}

/// Both are slow, and both have short timers: the peer's copies do no harm.
#[test]
fn impatient_peers_of_slow_engines_connect() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    for peer in [&mut client, &mut server] {
        peer.engine.delays = [Micros::from_millis(1_700); 5];
    }
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert!(client.machine.retransmissions() + server.machine.retransmissions() > 0);
    assert_works(&mut net, &mut client, &mut server);
}

/// A question that is never answered does not hold the memory for ever.
#[test]
fn the_deadline_runs_while_a_question_is_out() {
    for slow_client in [true, false] {
        for operation in Operation::ALL {
            let mut net = Network::new(1);
            let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
            let slow = if slow_client {
                &mut client
            } else {
                &mut server
            };
            slow.engine.delays[operation as usize] = Micros::from_secs(7_000);
            for peer in [&mut client, &mut server] {
                peer.config.timers.handshake = Micros::from_secs(30);
            }
            client.connect(&server);
            net.run_for(Micros::from_secs(2), &mut [&mut client, &mut server]);
            let slow = if slow_client { &client } else { &server };
            let case = format!("client {slow_client}, {operation:?}: {:?}", slow.seen);
            assert!(!slow.workspace.is_vacant(), "{case}");
            let begin = 1_000_000_000;
            let Some(Instant(deadline)) = slow.timeout else {
                panic!("{case}")
            };
            assert!(
                (30_000_000..30_100_000).contains(&(deadline - begin)),
                "{case}: {}",
                deadline - begin
            );
            net.run_for(Micros::from_secs(40), &mut [&mut client, &mut server]);
            let slow = if slow_client { &client } else { &server };
            assert_eq!(slow.seen, [Seen::Failed(Fatal::TimedOut)], "{case}");
            assert!(slow.workspace.is_vacant(), "{case}");
        }
    }
}

/// An answer that comes after its handshake is gone is ignored, even by the next handshake in the same workspace.
#[test]
fn an_answer_to_a_handshake_that_is_gone_is_ignored() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    client.engine.delays[Operation::Agree as usize] = Micros::from_secs(1_000);
    client.config.timers.handshake = Micros::from_secs(5);
    client.connect(&server);
    net.run_for(Micros::from_secs(400), &mut [&mut client, &mut server]);
    assert_eq!(client.failure(), Some(Fatal::TimedOut));
    client.seen.clear();
    server.seen.clear();
    client.engine.delays[Operation::Agree as usize] = Micros(0);
    client.engine.delays[Operation::Verify as usize] = Micros::from_secs(900);
    client.config.timers.handshake = Micros::from_secs(2_000);
    server.config.timers.handshake = Micros::from_secs(2_000);
    server.config.timers.initial = Micros::from_secs(1_500);
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_works(&mut net, &mut client, &mut server);
}

/// Any number of questions can be out at a table, one per handshake.
#[test]
fn a_table_asks_for_many_handshakes_at_once() {
    let mut net = Network::new(1);
    let config = server_config(Kind::Raw, Kind::Raw);
    let mut server = Gateway::new(&net, SERVER, config, 4, 4);
    server.engine.delays = [Micros::from_millis(400); 5];
    let mut clients: Vec<_> = (2..6)
        .map(|number| Peer::client(&net, number, client_config(Kind::Raw, Kind::Raw)))
        .collect();
    let mut all: Vec<&mut dyn Endpoint> = Vec::new();
    for client in &mut clients {
        client.connect(&server);
        all.push(client);
    }
    all.push(&mut server);
    let time = net.run(&mut all);
    assert_eq!(server.table.occupancy(), (4, 0));
    assert!(clients.iter().all(|client| client.connected().is_some()));
    // Five operations or six per handshake; one after the other they would take more than 8 s.
    assert!(time < Micros::from_secs(4), "{time:?}");
}
