//! The cookie gate (RFC 6347 section 4.2.1), and clients that lost their memory (section 4.2.8).

use crate::SERVER;
use dtls_core::{Discard, Micros, Operation};
use dtls_tests::wire::{self, HELLO_VERIFY_REQUEST};
use dtls_tests::{
    Endpoint, Fate, Gateway, Kind, Network, Passing, Peer, Seen, address, client_config,
    server_config,
};

fn gateway(net: &Network) -> Gateway {
    Gateway::new(net, SERVER, server_config(Kind::Raw, Kind::Raw), 4, 2)
}

fn client(net: &Network, number: u16) -> Peer {
    Peer::client(net, number, client_config(Kind::Raw, Kind::Raw))
}

/// Runs until a client has sent the ClientHello with the cookie, which is caught; returns the first and the second.
fn caught_hellos(net: &mut Network, client: &mut Peer, server: &mut Gateway) -> [Vec<u8>; 2] {
    let from = client.address();
    net.hook(move |datagram: &mut Passing<'_>| {
        let second = datagram.from == from && datagram.nth == 1;
        if second { Fate::Drop } else { Fate::Pass }
    });
    client.connect(server);
    net.run_for(Micros::from_millis(500), &mut [client, server]);
    net.unhook();
    let mut sent = net.log.iter().filter(|sent| sent.from == from);
    [(); 2].map(|()| sent.next().expect("two ClientHellos").bytes.clone())
}

fn occupancy_after(
    net: &mut Network,
    server: &mut Gateway,
    from: u16,
    hello: &[u8],
) -> (usize, usize) {
    net.inject(address(from), address(SERVER), hello);
    net.run_for(Micros::from_millis(15), &mut [server]);
    server.table.occupancy()
}

#[test]
fn no_state_before_the_cookie() {
    let mut net = Network::new(1);
    let mut server = gateway(&net);
    let mut client = client(&net, 2);
    let [hello, _] = caught_hellos(&mut net, &mut client, &mut server);
    for from in 100..1_100 {
        assert_eq!(occupancy_after(&mut net, &mut server, from, &hello), (0, 0));
    }
    assert_eq!(server.deadline(), None, "nothing to wait for");
    assert!(server.engine.asked.is_empty(), "nothing to compute");
    let answers = net.log.iter().filter(|sent| sent.from == address(SERVER));
    assert_eq!(answers.count(), 1_001);
    // The flood kept nobody out.
    net.run(&mut [&mut client, &mut server]);
    assert!(client.connected().is_some());
}

/// RFC 6347 section 4.2.1: no amplification.
#[test]
fn an_answer_is_never_longer_than_the_hello() {
    let mut net = Network::new(1);
    let mut server = gateway(&net);
    let mut client = client(&net, 2);
    let hellos = caught_hellos(&mut net, &mut client, &mut server);
    for hello in hellos {
        for len in 0..hello.len() {
            let before = net.log.len();
            assert_eq!(
                occupancy_after(&mut net, &mut server, 9, &hello[..len]),
                (0, 0)
            );
            let sent: usize = net.log[before..].iter().map(|sent| sent.bytes.len()).sum();
            assert!(sent <= len, "{sent} bytes for {len}");
        }
    }
    let verify = &net.log[1].bytes;
    assert_eq!(wire::messages(verify)[0].kind, HELLO_VERIFY_REQUEST);
    assert!(verify.len() < net.log[0].bytes.len());
}

/// RFC 6347 section 4.2.1: a cookie is worth something only where it was sent to, and with the same parameters.
#[test]
fn a_cookie_of_somebody_else_or_for_something_else_is_worth_nothing() {
    let mut net = Network::new(1);
    let mut server = gateway(&net);
    let mut client = client(&net, 2);
    let [_, hello] = caught_hellos(&mut net, &mut client, &mut server);
    assert_eq!(occupancy_after(&mut net, &mut server, 4, &hello), (0, 0));
    // The port is part of the address.
    let mut other_port = address(2);
    other_port.set_port(1);
    net.inject(other_port, address(SERVER), &hello);
    net.run_for(Micros::from_millis(15), &mut [&mut server]);
    assert_eq!(server.table.occupancy(), (0, 0));
    // Version, random, session_id, cookie, suites, compression methods: whatever is altered, it is worth nothing.
    let body = wire::RECORD_HEADER + wire::HANDSHAKE_HEADER;
    let cookie = body + 2 + 32 + 1;
    let suites = cookie + 1 + usize::from(hello[cookie]);
    let compression = suites + 2 + usize::from(hello[suites + 1]);
    for byte in body..compression + 2 {
        let mut altered = hello.clone();
        altered[byte] ^= 1;
        assert_eq!(
            occupancy_after(&mut net, &mut server, 2, &altered),
            (0, 0),
            "byte {byte}"
        );
    }
    assert_eq!(occupancy_after(&mut net, &mut server, 2, &hello), (0, 1));
}

/// RFC 6347 section 4.2.1: secrets change, and the one before stays good for a while.
#[test]
fn a_secret_lasts_for_one_rotation() {
    for (rotations, handshakes) in [(0, 1), (1, 1), (2, 0)] {
        let mut net = Network::new(1);
        let mut server = gateway(&net);
        let mut client = client(&net, 2);
        let [_, hello] = caught_hellos(&mut net, &mut client, &mut server);
        for secret in 0..rotations {
            server.gate.rotate([100 + secret; 32]);
        }
        let occupancy = occupancy_after(&mut net, &mut server, 2, &hello);
        assert_eq!(occupancy, (0, handshakes), "{rotations} rotations");
    }
}

/// RFC 6347 section 4.2.1: a client whose cookie went stale gets a new one, and connects.
#[test]
fn a_stale_cookie_is_replaced() {
    let mut net = Network::new(1);
    let mut server = gateway(&net);
    let mut client = client(&net, 2);
    caught_hellos(&mut net, &mut client, &mut server);
    server.gate.rotate([100; 32]);
    server.gate.rotate([101; 32]);
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(server.machine.discards(Discard::BadCookie), 1);
    assert!(client.connected().is_some(), "{:?}", client.seen);
}

/// RFC 6347 section 4.2.1: cookies of 0 to 255 bytes.
#[test]
fn a_client_returns_any_cookie() {
    for len in [0, 1, 32, 254, 255u8] {
        let mut net = Network::new(1);
        let server = gateway(&net);
        let mut client = client(&net, 2);
        client.connect(&server);
        let mut body = vec![254, 255, len];
        body.extend((0..len).rev());
        let mut verify = vec![HELLO_VERIFY_REQUEST, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let [.., high, low] = body.len().to_be_bytes();
        (verify[2], verify[3], verify[10], verify[11]) = (high, low, high, low);
        verify.extend(&body);
        net.inject(address(SERVER), address(2), &wire::forged(22, 0, &verify));
        net.run_for(Micros::from_millis(50), &mut [&mut client]);
        let [_, second] = &net.log[..] else {
            panic!("two ClientHellos: {:?}", net.log.len())
        };
        let cookie = wire::RECORD_HEADER + wire::HANDSHAKE_HEADER + 35;
        assert_eq!(second.bytes[cookie..][..1 + body[3..].len()], body[2..]);
    }
}

/// RFC 6347 section 4.2.8: a client that rebooted comes back from the same address, and gets a new association.
#[test]
fn a_rebooted_client_comes_back() {
    let mut net = Network::new(1);
    let mut server = gateway(&net);
    server.echo = true;
    let mut before = client(&net, 2);
    before.connect(&server);
    net.run(&mut [&mut before, &mut server]);
    let mut after = client(&net, 2);
    after.machine = dtls_tests::Machine::new(net.clock(), 99);
    after.connect(&server);
    net.run(&mut [&mut after, &mut server]);
    assert_eq!(server.table.occupancy(), (1, 0));
    assert_ne!(before.machine.secrets, after.machine.secrets);
    after.send(b"again").unwrap();
    net.run(&mut [&mut after, &mut server]);
    assert_eq!(after.received(), [b"again"]);
    // What the old one still sends belongs to nobody any more.
    before.send(b"ghost").unwrap();
    net.run(&mut [&mut before, &mut server]);
    assert_eq!(server.received(address(2)), [b"again"]);
}

/// RFC 6347 section 4.2.8: until the new handshake is complete, the old association stays as it was.
#[test]
fn an_association_is_not_disturbed_by_a_handshake_beside_it() {
    let mut net = Network::new(1);
    let mut server = gateway(&net);
    server.echo = true;
    let mut living = client(&net, 2);
    living.connect(&server);
    net.run(&mut [&mut living, &mut server]);
    // Somebody at the same address, who gets as far as the server's flight 4 and never answers it.
    let mut ghost = client(&net, 2);
    ghost.machine = dtls_tests::Machine::new(net.clock(), 99);
    ghost.engine.delays[Operation::Verify as usize] = Micros::from_secs(10_000);
    ghost.connect(&server);
    net.run_for(Micros::from_millis(100), &mut [&mut ghost, &mut server]);
    assert_eq!(server.table.occupancy(), (1, 1));
    for round in 0..3u8 {
        living.send(&[round]).unwrap();
        net.run_for(Micros::from_secs(100), &mut [&mut living, &mut server]);
        assert_eq!(living.received().last(), Some(&&[round][..]));
    }
    assert_eq!(server.table.occupancy(), (1, 0), "the ghost's time is over");
    assert_eq!(living.connected().map(|peer| peer.0), Some(0));
}

/// … and when it ends meanwhile, the new handshake goes on.
#[test]
fn a_handshake_survives_the_end_of_the_association_beside_it() {
    let mut net = Network::new(1);
    let mut server = gateway(&net);
    let mut old = client(&net, 2);
    old.connect(&server);
    net.run(&mut [&mut old, &mut server]);
    let mut new = client(&net, 2);
    new.machine = dtls_tests::Machine::new(net.clock(), 99);
    new.engine.delays[Operation::Verify as usize] = Micros::from_millis(300);
    new.connect(&server);
    net.run_for(Micros::from_millis(100), &mut [&mut new, &mut server]);
    assert_eq!(server.table.occupancy(), (1, 1));
    old.association.as_mut().unwrap().close();
    net.run_for(Micros::from_millis(15), &mut [&mut old, &mut server]);
    assert_eq!(server.table.occupancy(), (0, 1));
    net.run(&mut [&mut new, &mut server]);
    assert!(new.connected().is_some(), "{:?}", new.seen);
    assert_eq!(server.table.occupancy(), (1, 0));
}

/// A late copy of the ClientHello that made an association starts nothing.
#[test]
fn a_late_hello_starts_nothing() {
    let mut net = Network::new(1);
    let mut server = gateway(&net);
    let mut client = client(&net, 2);
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    let asked = server.engine.asked.len();
    let hellos: Vec<_> = (0..3)
        .step_by(2)
        .map(|sent| net.log[sent].bytes.clone())
        .collect();
    for hello in &hellos {
        net.inject(address(2), address(SERVER), hello);
        net.run(&mut [&mut client, &mut server]);
    }
    assert_eq!(server.table.occupancy(), (1, 0));
    assert_eq!(server.engine.asked.len(), asked);
    assert_eq!(
        server.seen,
        [(address(2), Seen::Connected(dtls_core::PeerId(0)))]
    );
}

/// A table that is full lets nobody be displaced; who leaves makes room.
#[test]
fn a_full_table_keeps_its_peers() {
    let mut net = Network::new(1);
    let mut server = Gateway::new(&net, SERVER, server_config(Kind::Raw, Kind::Raw), 2, 2);
    let mut clients: Vec<_> = (2..5).map(|number| client(&net, number)).collect();
    for client in &mut clients {
        client.connect(&server);
        net.run(&mut [client, &mut server]);
    }
    let connected: Vec<_> = clients
        .iter()
        .map(|client| client.connected().is_some())
        .collect();
    assert_eq!(connected, [true, true, false]);
    let (oldest, _) = server.table.idle_longest().unwrap();
    assert_eq!(oldest, address(2));
    server.table.forget(oldest);
    assert_eq!(server.table.occupancy(), (1, 0));
    clients[2].connect(&server);
    net.run(&mut [&mut clients[2], &mut server]);
    assert!(clients[2].connected().is_some());
    assert_eq!(server.table.occupancy(), (2, 0));
}
