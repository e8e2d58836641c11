//! The server at work: many peers, limits, eviction, counters, and several addresses of its own.

use core::net::SocketAddr;
use core::time::Duration;
use dtls_core::{
    AlertDescription, ClientAuthentication, Discard, Fatal, Limits, Micros, SendError, Timers,
};
use dtls_std::{
    Client, ClientConfig, Identity, Peer, Pin, PrivateKey, Received, Server, ServerConfig,
    ServerEvent, StdPlatform, Trust,
};
use std::net::UdpSocket;
use std::thread::{self, JoinHandle};

/// Loopback is fast: a lost datagram need not cost a second.
const TIMERS: Timers = Timers {
    initial: Micros::from_millis(200),
    handshake: Micros::from_secs(20),
    ..Timers::INTERNET
};

/// Longer than anything should take.
const PATIENCE: Duration = Duration::from_secs(20);

fn identity() -> Identity {
    Identity::raw(&PrivateKey::generate().unwrap())
}

fn open_server() -> (ServerConfig, Pin) {
    let identity = identity();
    let pin = identity.pin();
    let config = ServerConfig {
        client_authentication: ClientAuthentication::None,
        timers: TIMERS,
        ..ServerConfig::new(identity, Trust::pins([]).and_anonymous())
    };
    (config, pin)
}

fn client(pin: Pin) -> ClientConfig {
    ClientConfig {
        timers: TIMERS,
        ..ClientConfig::new(Trust::pins([pin]))
    }
}

fn serve(config: ServerConfig) -> (Server, SocketAddr) {
    serve_at("127.0.0.1:0", config)
}

fn serve_at(address: &str, config: ServerConfig) -> (Server, SocketAddr) {
    let socket = UdpSocket::bind(address).unwrap();
    let address = socket.local_addr().unwrap();
    let server = Server::new(socket, config, StdPlatform::new()).unwrap();
    (server, address)
}

fn event(server: &mut Server) -> ServerEvent {
    server.poll(PATIENCE).unwrap().expect("an event in time")
}

fn connected(server: &mut Server) -> Peer {
    match event(server) {
        ServerEvent::Connected { peer, .. } => peer,
        other => panic!("{other:?}"),
    }
}

fn connecting(address: SocketAddr, pin: Pin) -> JoinHandle<Client> {
    thread::spawn(move || Client::connect(address, &client(pin)).unwrap())
}

/// A client that is connected, and who it is for the server.
fn connect(server: &mut Server, address: SocketAddr, pin: Pin) -> (Client, Peer) {
    let client = connecting(address, pin);
    let peer = connected(server);
    (client.join().unwrap(), peer)
}

fn assert_echoes(server: &mut Server, client: &mut Client, peer: Peer) {
    client.send(b"hello").unwrap();
    let data = b"hello".to_vec();
    assert_eq!(event(server), ServerEvent::Data { peer, data });
    server.send(peer, b"you too").unwrap();
    let heard = client.recv(PATIENCE).unwrap();
    assert_eq!(heard, Some(Received::Data(b"you too".to_vec())));
}

/// A client with a connected socket hears what comes from the address it spoke to, and nothing else.
#[test]
fn answers_leave_from_the_address_that_was_hit() {
    // Any address of the network 127 is this host's.
    for (bound, hit) in [
        ("0.0.0.0:0", "127.0.0.2"),
        ("[::]:0", "::1"),
        // Dual stack: IPv4 through a socket of IPv6.
        ("[::]:0", "127.0.0.3"),
    ] {
        println!("{bound} {hit}");
        let (config, pin) = open_server();
        let (mut server, address) = serve_at(bound, config);
        let address = SocketAddr::new(hit.parse().unwrap(), address.port());
        let (mut client, peer) = connect(&mut server, address, pin);
        assert_eq!(peer.local.map(|ip| ip.to_canonical()), Some(address.ip()));
        assert_echoes(&mut server, &mut client, peer);
    }
}

/// One client address that talks to two addresses of the server is two peers.
#[test]
fn a_peer_is_both_addresses() {
    let (config, pin) = open_server();
    let (mut server, address) = serve_at("0.0.0.0:0", config);
    let at = |ip: [u8; 4]| SocketAddr::from((ip, address.port()));
    let port = {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.local_addr().unwrap()
    };
    let mut connect = |to: SocketAddr| {
        let client = thread::spawn(move || {
            let socket = UdpSocket::bind(port).unwrap();
            Client::connect_on(socket, to, &client(pin), StdPlatform::new()).unwrap()
        });
        let peer = connected(&mut server);
        drop(client.join().unwrap());
        peer
    };
    let peers = [connect(at([127, 0, 0, 1])), connect(at([127, 0, 0, 2]))];
    assert_eq!(peers.map(|peer| peer.address), [port; 2]);
    assert_ne!(peers[0], peers[1]);
    assert_eq!(server.occupancy(), (2, 0));
}

/// RFC 6347 section 4.2.8: a client that lost its state is connected anew from its old port, and the old association is
/// gone then.
#[test]
fn a_client_is_reborn_on_its_port() {
    let (config, pin) = open_server();
    let (mut server, address) = serve(config);
    let (first, peer) = connect(&mut server, address, pin);
    let port = first.local();
    drop(first);
    let second = thread::spawn(move || {
        let socket = UdpSocket::bind(port).unwrap();
        Client::connect_on(socket, address, &client(pin), StdPlatform::new()).unwrap()
    });
    assert_eq!(connected(&mut server), peer);
    assert_echoes(&mut server, &mut second.join().unwrap(), peer);
    assert_eq!(server.occupancy(), (1, 0));
}

/// RFC 6347 section 4.1.2.7: what does not authenticate is dropped; here it is counted, for its peer and for all.
#[test]
fn drops_and_alerts_are_counted_by_peer() {
    let (config, pin) = open_server();
    let (mut server, address) = serve(config);
    let (forger, forged) = connect(&mut server, address, pin);
    let (honest, quiet) = connect(&mut server, address, pin);
    let local = forger.local();
    drop(forger);
    let socket = UdpSocket::bind(local).unwrap();
    // Application data of epoch 1, sequence number 9, that nobody has sealed.
    let mut forgery = b"\x17\xfe\xfd\0\x01\0\0\0\0\0\x09\0\x20".to_vec();
    forgery.resize(13 + 32, 0);
    for _ in 0..3 {
        socket.send_to(&forgery, address).unwrap();
    }
    honest.close().unwrap();
    let alert = AlertDescription::CLOSE_NOTIFY;
    let closed = ServerEvent::Closed { peer: quiet, alert };
    assert_eq!(event(&mut server), closed);

    let of_forger = server.peer_counters(forged).unwrap();
    assert_eq!(of_forger.discards(Discard::BadMac), 3);
    assert_eq!(of_forger.alerts_received().count(), 0);
    let all = server.counters();
    assert_eq!(all.discards(Discard::BadMac), 3);
    assert_eq!(all.alerts_received().collect::<Vec<_>>(), [(alert, 1)]);
    // RFC 5246 section 7.2.1: answered in kind.
    assert_eq!(server.poll(Duration::ZERO).unwrap(), None);
    let sent: Vec<_> = server.counters().alerts_sent().collect();
    assert_eq!(sent, [(alert, 1)]);
    assert_eq!(server.peer_counters(quiet), None);
}

/// RFC 9147 section 4.5.3: a budget of forgeries, with a warning in time.
#[test]
fn forgeries_beyond_the_limit_end_an_association() {
    let (mut config, pin) = open_server();
    config.limits = Limits {
        forged: 4,
        ..Limits::DEFAULT
    };
    let (mut server, address) = serve(config);
    let (forger, peer) = connect(&mut server, address, pin);
    let local = forger.local();
    drop(forger);
    let socket = UdpSocket::bind(local).unwrap();
    let mut forgery = b"\x17\xfe\xfd\0\x01\0\0\0\0\0\x09\0\x20".to_vec();
    forgery.resize(13 + 32, 0);
    for _ in 0..5 {
        socket.send_to(&forgery, address).unwrap();
    }
    assert_eq!(event(&mut server), ServerEvent::RehandshakeDue { peer });
    assert_eq!(event(&mut server), ServerEvent::TooManyForgeries { peer });
    assert_eq!(server.poll(Duration::ZERO).unwrap(), None);
    assert_eq!(server.occupancy(), (0, 0));
}

/// Whoever is silent for too long is told so and forgotten; whoever speaks stays.
#[test]
fn idle_peers_are_evicted() {
    let (mut config, pin) = open_server();
    config.max_idle = Some(Duration::from_millis(600));
    let (mut server, address) = serve(config);
    let (mut talker, talking) = connect(&mut server, address, pin);
    let (mut sleeper, sleeping) = connect(&mut server, address, pin);
    let evicted = loop {
        talker.send(b"I am here").unwrap();
        match server.poll(Duration::from_millis(50)).unwrap() {
            None | Some(ServerEvent::Data { .. }) => {}
            Some(other) => break other,
        }
    };
    match evicted {
        ServerEvent::Evicted { peer, idle } => {
            assert_eq!(peer, sleeping);
            assert!(idle >= Duration::from_millis(600) && idle < Duration::from_secs(5));
        }
        other => panic!("{other:?}"),
    }
    let closed = Received::Closed(AlertDescription::CLOSE_NOTIFY);
    assert_eq!(sleeper.recv(PATIENCE).unwrap(), Some(closed));
    assert_eq!(server.occupancy(), (1, 0));
    assert!(server.peer_counters(talking).is_some());
}

/// When all places are taken, a newcomer is turned away; or, if the configuration says so, the one that was silent for the
/// longest time has to go.
#[test]
fn a_full_server_turns_away_or_evicts() {
    for evict in [false, true] {
        let (mut config, pin) = open_server();
        (config.max_peers, config.evict_when_full) = (2, evict);
        let (mut server, address) = serve(config);
        let (mut first, peer) = connect(&mut server, address, pin);
        let (mut second, silent) = connect(&mut server, address, pin);
        assert_echoes(&mut server, &mut first, peer);
        let third = thread::spawn(move || {
            let patience = Timers {
                handshake: Micros::from_millis(700),
                ..TIMERS
            };
            let config = ClientConfig {
                timers: patience,
                ..client(pin)
            };
            Client::connect(address, &config).map(drop)
        });
        match event(&mut server) {
            ServerEvent::Full { .. } if !evict => {
                third.join().unwrap().unwrap_err();
                // It has tried more than once.
                while let Some(event) = server.poll(Duration::ZERO).unwrap() {
                    assert!(matches!(event, ServerEvent::Full { .. }), "{event:?}");
                }
                assert_echoes(&mut server, &mut second, silent);
            }
            ServerEvent::Evicted { peer, .. } if evict => {
                assert_eq!(peer, silent);
                connected(&mut server);
                third.join().unwrap().unwrap();
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(server.occupancy(), (2, 0));
        assert_echoes(&mut server, &mut first, peer);
    }
}

/// A client that stops in the middle of its handshake keeps its place until the time for a handshake is over, and one that
/// begins while the only place is taken gets it when the first has to repeat a flight.
#[test]
fn half_open_handshakes_give_way_and_expire() {
    let (mut config, pin) = open_server();
    config.max_handshakes = 1;
    config.timers = Timers {
        initial: Micros::from_millis(150),
        handshake: Micros::from_secs(1),
        ..TIMERS
    };
    let (mut server, address) = serve(config);
    half_open(&mut server, address, pin);
    // Time for a retransmission.
    assert_eq!(server.poll(Duration::from_millis(200)).unwrap(), None);
    let (_client, _) = connect(&mut server, address, pin);
    assert_eq!(server.occupancy(), (1, 0));

    half_open(&mut server, address, pin);
    let why = SendError::Fatal(Fatal::TimedOut);
    match event(&mut server) {
        ServerEvent::HandshakeFailed { why: reason, .. } => assert_eq!(reason, why),
        other => panic!("{other:?}"),
    }
    assert_eq!(server.poll(Duration::ZERO).unwrap(), None);
    assert_eq!(server.occupancy(), (1, 0));
}

/// A client that disappears behind its second ClientHello, so that its handshake is on its way at the server: what it says
/// goes through a relay that passes on that much.
fn half_open(server: &mut Server, address: SocketAddr, pin: Pin) {
    let [front, back] = [0, 1].map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
    let entrance = front.local_addr().unwrap();
    back.connect(address).unwrap();
    let relay = thread::spawn(move || {
        let mut buffer = [0; 2048];
        let (n, client) = front.recv_from(&mut buffer).unwrap();
        back.send(&buffer[..n]).unwrap();
        let n = back.recv(&mut buffer).unwrap();
        front.send_to(&buffer[..n], client).unwrap();
        let n = front.recv(&mut buffer).unwrap();
        back.send(&buffer[..n]).unwrap();
    });
    let client = thread::spawn(move || {
        let timers = Timers {
            initial: Micros::from_secs(5),
            handshake: Micros::from_millis(300),
            ..TIMERS
        };
        let config = ClientConfig {
            timers,
            ..client(pin)
        };
        Client::connect(entrance, &config).map(drop)
    });
    while server.occupancy().1 == 0 {
        assert_eq!(server.poll(Duration::from_millis(5)).unwrap(), None);
    }
    relay.join().unwrap();
    client.join().unwrap().unwrap_err();
}

/// A thousand clients, all connected at the same time, in one process.
#[test]
fn a_thousand_clients_are_connected_at_once() {
    const CLIENTS: usize = 1000;
    let (config, pin) = open_server();
    let (mut server, address) = serve(config);
    let clients = thread::spawn(move || {
        let config = client(pin);
        let connect = |_| Client::connect(address, &config).unwrap();
        let mut clients: Vec<Client> = (0..CLIENTS).map(connect).collect();
        for (n, client) in clients.iter_mut().enumerate() {
            client.send(&n.to_be_bytes()).unwrap();
            let echo = client.recv(PATIENCE).unwrap();
            assert_eq!(echo, Some(Received::Data(n.to_be_bytes().to_vec())));
        }
        clients
            .into_iter()
            .for_each(|client| client.close().unwrap());
    });
    let (mut most, mut closed) = (0, 0);
    while closed < CLIENTS {
        match event(&mut server) {
            ServerEvent::Data { peer, data } => server.send(peer, &data).unwrap(),
            ServerEvent::Closed { .. } => closed += 1,
            ServerEvent::Connected { .. } => most = most.max(server.occupancy().0),
            other => panic!("{other:?}"),
        }
    }
    clients.join().unwrap();
    assert_eq!(most, CLIENTS);
    assert_eq!(server.poll(Duration::ZERO).unwrap(), None);
    assert_eq!(server.occupancy(), (0, 0));
}
