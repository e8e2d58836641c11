//! Client and server over real sockets.

mod common;

use common::{Echo, PATIENCE, TIMERS};
use core::net::SocketAddr;
use core::time::Duration;
use dtls_core::{
    AcceptedPeers, AlertDescription, ClientAuthentication, Discard, Fatal, Micros, SendError,
    Timers,
};
use dtls_std::{
    Capture, Client, ClientConfig, ConnectError, Identity, KeyLog, Pin, PrivateKey, Received,
    SendFailed, ServerConfig, ServerEvent, StdPlatform, Trust, write_self_signed,
};
use std::net::UdpSocket;
use std::thread;
use std::time::Instant;

/// How a key is shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    Raw,
    Certificate,
}

fn identity(form: Form) -> Identity {
    let key = PrivateKey::generate().unwrap();
    if form == Form::Raw {
        return Identity::raw(&key);
    }
    let folder = tempfile::tempdir().unwrap();
    let [private, certificate] = ["key", "crt"].map(|name| folder.path().join(name));
    key.write(&private).unwrap();
    write_self_signed(&key, "localhost", &certificate).unwrap();
    Identity::read(&private, Some(&certificate)).unwrap()
}

fn nobody() -> Trust {
    Trust::pins([])
}

fn server(identity: Identity, trust: Trust) -> ServerConfig {
    ServerConfig {
        timers: TIMERS,
        ..ServerConfig::new(identity, trust)
    }
}

/// A server that asks its clients for nothing.
fn open_server(identity: Identity) -> ServerConfig {
    ServerConfig {
        client_authentication: ClientAuthentication::None,
        ..server(identity, nobody().and_anonymous())
    }
}

fn client(trust: Trust) -> ClientConfig {
    ClientConfig {
        timers: TIMERS,
        ..ClientConfig::new(trust)
    }
}

fn assert_echoes(client: &mut Client, data: &[u8]) {
    client.send(data).unwrap();
    let heard = client.recv(PATIENCE).unwrap();
    assert_eq!(heard, Some(Received::Data(data.to_vec())));
}

/// The next event, which is a connection; the key that the client showed.
fn connected(echo: &Echo) -> Option<Pin> {
    match echo.event() {
        ServerEvent::Connected { pin, .. } => pin,
        other => panic!("{other:?}"),
    }
}

/// RFC 7250 and RFC 5246, server-only and mutual, over IPv4 and IPv6.
#[test]
fn every_kind_of_handshake_carries_data_both_ways() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        for server_form in [Form::Raw, Form::Certificate] {
            for client_form in [None, Some(Form::Raw), Some(Form::Certificate)] {
                println!("{address} {server_form:?} {client_form:?}");
                let own = client_form.map(identity);
                let own_pin = own.as_ref().map(Identity::pin);
                let serving = identity(server_form);
                let server_pin = serving.pin();
                let config = match own_pin {
                    Some(pin) => server(serving, Trust::pins([pin])),
                    None => open_server(serving),
                };
                let echo = Echo::start(address, config);
                let config = ClientConfig {
                    identity: own,
                    ..client(Trust::pins([server_pin]))
                };
                let mut client = Client::connect(echo.address, &config).unwrap();
                assert_eq!(client.peer_pin(), Some(server_pin));
                assert_eq!(connected(&echo), own_pin);
                assert_echoes(&mut client, b"hello");
                assert_echoes(&mut client, &[0xa5; 1000]);
                client.close().unwrap();
                echo.end();
            }
        }
    }
}

/// A server that has both shows the form its client wants, and each side refuses a form it does not accept.
#[test]
fn the_form_of_a_key_is_negotiated() {
    for accept in [AcceptedPeers::RAW_PUBLIC_KEY, AcceptedPeers::CERTIFICATE] {
        let serving = identity(Form::Certificate);
        let pin = serving.pin();
        let echo = Echo::start("127.0.0.1:0", open_server(serving));
        let config = ClientConfig {
            accept,
            ..client(Trust::pins([pin]))
        };
        Client::connect(echo.address, &config).unwrap();
        echo.end();
    }

    let serving = identity(Form::Raw);
    let pin = serving.pin();
    let echo = Echo::start("127.0.0.1:0", open_server(serving));
    let config = ClientConfig {
        accept: AcceptedPeers::CERTIFICATE,
        ..client(Trust::pins([pin]))
    };
    // RFC 7250 section 4.1: who takes X.509 only sends no list of types, and so there is none for a server to find nothing in
    // common with: it has no suite for such a client.
    let alert = Fatal::AlertReceived(AlertDescription::HANDSHAKE_FAILURE);
    match Client::connect(echo.address, &config) {
        Err(ConnectError::Handshake { why, .. }) => assert_eq!(why, alert),
        other => panic!("{:?}", other.err()),
    }
    echo.end();
}

/// RFC 7925 section 6: the alert depends on the form of the key.
#[test]
fn a_client_refuses_a_server_with_another_key() {
    for (form, alert) in [
        (Form::Raw, AlertDescription::HANDSHAKE_FAILURE),
        (Form::Certificate, AlertDescription::CERTIFICATE_UNKNOWN),
    ] {
        let serving = identity(form);
        let server_pin = serving.pin();
        let echo = Echo::start("127.0.0.1:0", open_server(serving));
        let config = ClientConfig {
            accept: match form {
                Form::Raw => AcceptedPeers::RAW_PUBLIC_KEY,
                Form::Certificate => AcceptedPeers::CERTIFICATE,
            },
            ..client(Trust::pins([Pin([7; 32])]))
        };
        let refused = Client::connect(echo.address, &config).err().unwrap();
        assert!(refused.to_string().contains(&server_pin.to_string()));
        assert!(matches!(refused, ConnectError::Refused { pin, .. } if pin == server_pin));
        match echo.event() {
            ServerEvent::HandshakeFailed { why, .. } => {
                assert_eq!(why, SendError::Fatal(Fatal::AlertReceived(alert)));
            }
            other => panic!("{other:?}"),
        }
        echo.end();
    }
}

#[test]
fn a_server_refuses_a_client_with_another_key() {
    for (form, why, alert) in [
        (
            Form::Raw,
            Fatal::PeerRefused,
            AlertDescription::HANDSHAKE_FAILURE,
        ),
        (
            Form::Certificate,
            Fatal::CertificateRefused,
            AlertDescription::CERTIFICATE_UNKNOWN,
        ),
    ] {
        let serving = identity(Form::Raw);
        let pin = serving.pin();
        let config = ServerConfig {
            accept: match form {
                Form::Raw => AcceptedPeers::RAW_PUBLIC_KEY,
                Form::Certificate => AcceptedPeers::CERTIFICATE,
            },
            ..server(serving, Trust::pins([Pin([7; 32])]))
        };
        let echo = Echo::start("127.0.0.1:0", config);
        let config = ClientConfig {
            identity: Some(identity(form)),
            ..client(Trust::pins([pin]))
        };
        match Client::connect(echo.address, &config) {
            Err(ConnectError::Handshake { why, .. }) => {
                assert_eq!(why, Fatal::AlertReceived(alert));
            }
            other => panic!("{:?}", other.err()),
        }
        match echo.event() {
            ServerEvent::HandshakeFailed { why: reason, .. } => {
                assert_eq!(reason, SendError::Fatal(why));
            }
            other => panic!("{other:?}"),
        }
        echo.end();
    }
}

/// An anonymous client comes in only where that was said.
#[test]
fn a_client_without_a_key_is_refused_unless_anonymity_is_allowed() {
    for (when, trust, comes_in) in [
        (
            ClientAuthentication::Required,
            nobody().and_anonymous(),
            false,
        ),
        (
            ClientAuthentication::Optional,
            nobody().and_anonymous(),
            true,
        ),
        (
            ClientAuthentication::Optional,
            Trust::insecure_accept_anyone(),
            false,
        ),
        (
            ClientAuthentication::None,
            Trust::insecure_accept_anyone(),
            false,
        ),
    ] {
        let serving = identity(Form::Raw);
        let pin = serving.pin();
        let config = ServerConfig {
            client_authentication: when,
            ..server(serving, trust)
        };
        let echo = Echo::start("127.0.0.1:0", config);
        let outcome = Client::connect(echo.address, &client(Trust::pins([pin])));
        assert_eq!(outcome.is_ok(), comes_in, "{when:?}");
        if comes_in {
            assert_eq!(connected(&echo), None);
        }
        echo.end();
    }
}

/// A port that was free a moment ago.
fn vacant(address: &str) -> SocketAddr {
    let socket = UdpSocket::bind(address).unwrap();
    socket.local_addr().unwrap()
}

#[test]
fn nobody_listens() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let peer = vacant(address);
        let patience = Micros::from_millis(700);
        let mut config = ClientConfig {
            timers: Timers {
                handshake: patience,
                ..TIMERS
            },
            ..client(nobody())
        };
        let start = Instant::now();
        let error = Client::connect(peer, &config).err().unwrap();
        assert_eq!(error.to_string(), format!("nobody listens at {peer}"));
        // ICMP is soft: the time allowed was used up.
        assert!(start.elapsed() >= Duration::from_micros(patience.0));

        config.trust_icmp_errors = true;
        let start = Instant::now();
        let error = Client::connect(peer, &config).err().unwrap();
        assert!(matches!(error, ConnectError::NobodyListens(at) if at == peer));
        assert!(start.elapsed() < Duration::from_micros(patience.0));
    }
}

#[test]
fn a_server_that_starts_late_is_found() {
    let serving = identity(Form::Raw);
    let pin = serving.pin();
    let peer = vacant("127.0.0.1:0");
    let client = thread::spawn(move || Client::connect(peer, &client(Trust::pins([pin]))));
    thread::sleep(Duration::from_millis(300));
    let echo = Echo::start(&peer.to_string(), open_server(serving));
    client.join().unwrap().unwrap();
    echo.end();
}

#[test]
fn one_server_serves_many_clients_at_once() {
    const CLIENTS: usize = 24;
    const ROUNDS: u8 = 5;
    let serving = identity(Form::Raw);
    let server_pin = serving.pin();
    let identities: Vec<Identity> = (0..CLIENTS).map(|_| identity(Form::Raw)).collect();
    let mut pins: Vec<Pin> = identities.iter().map(Identity::pin).collect();
    let echo = Echo::start("127.0.0.1:0", server(serving, Trust::pins(pins.clone())));
    let address = echo.address;
    let clients: Vec<_> = identities
        .into_iter()
        .enumerate()
        .map(|(n, own)| {
            thread::spawn(move || {
                let config = ClientConfig {
                    identity: Some(own),
                    ..client(Trust::pins([server_pin]))
                };
                let mut client = Client::connect(address, &config).unwrap();
                for round in 0..ROUNDS {
                    assert_echoes(&mut client, &[u8::try_from(n).unwrap(), round]);
                }
                client.close().unwrap();
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }

    let mut closed = 0;
    let mut seen = Vec::new();
    while closed < CLIENTS {
        match echo.event() {
            ServerEvent::Connected { pin, .. } => seen.extend(pin),
            ServerEvent::Closed { alert, .. } => {
                assert_eq!(alert, AlertDescription::CLOSE_NOTIFY);
                closed += 1;
            }
            ServerEvent::Data { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    seen.sort();
    pins.sort();
    assert_eq!(seen, pins);
    assert_eq!(echo.end().occupancy, (0, 0));
}

/// RFC 5246 section 7.2.1.
#[test]
fn either_side_can_close() {
    let serving = identity(Form::Raw);
    let pin = serving.pin();
    let echo = Echo::start("127.0.0.1:0", open_server(serving));
    let config = client(Trust::pins([pin]));

    let client = Client::connect(echo.address, &config).unwrap();
    let address = client.local();
    connected(&echo);
    client.close().unwrap();
    match echo.event() {
        ServerEvent::Closed { peer, alert } => {
            assert_eq!(
                (peer.address, alert),
                (address, AlertDescription::CLOSE_NOTIFY)
            );
        }
        other => panic!("{other:?}"),
    }

    let mut client = Client::connect(echo.address, &config).unwrap();
    client.send(b"close me").unwrap();
    let heard = client.recv(PATIENCE).unwrap();
    let closed = Received::Closed(AlertDescription::CLOSE_NOTIFY);
    assert_eq!(heard, Some(closed));
    assert_eq!(
        client.send(b"too late"),
        Err(SendFailed::Refused(SendError::Closed))
    );
    assert_eq!(echo.end().occupancy, (0, 0));
}

#[test]
fn what_does_not_fit_is_said_with_what_would() {
    let serving = identity(Form::Raw);
    let pin = serving.pin();
    let echo = Echo::start("127.0.0.1:0", open_server(serving));
    let mut config = ClientConfig {
        mtu: 300,
        ..client(Trust::pins([pin]))
    };
    let mut client = Client::connect(echo.address, &config).unwrap();
    // 13 bytes of header, 8 of nonce, 8 of tag (RFC 6347 section 4.1, RFC 6655 section 3).
    let most = 300 - 29;
    assert_eq!(
        client.send(&[0; 272]),
        Err(SendFailed::TooLong { length: 272, most })
    );
    assert_echoes(&mut client, &[1; 271]);

    config.mtu = 64;
    match Client::connect(echo.address, &config) {
        Err(ConnectError::MtuTooSmall(needed)) => assert!(needed > 64 && needed < 300),
        other => panic!("{:?}", other.err()),
    }
    echo.end();
}

#[test]
fn key_log_and_capture_hold_the_whole_session() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let platform = |name: &str| {
        StdPlatform::new()
            .with_key_log(KeyLog::append(&path(&format!("{name}.keys"))).unwrap())
            .with_capture(Capture::create(&path(&format!("{name}.pcap"))).unwrap())
    };
    let serving = identity(Form::Raw);
    let config = client(Trust::pins([serving.pin()]));
    // Bound to all addresses: the capture has to find out which one is ours.
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let echo = Echo::start_on(socket, open_server(serving), platform("server"));
    let peer = SocketAddr::from(([127, 0, 0, 1], echo.address.port()));
    let mut client = Client::connect_with(peer, &config, platform("client")).unwrap();
    let local = client.local();
    assert_echoes(&mut client, b"hello");
    client.close().unwrap();
    while !matches!(echo.event(), ServerEvent::Closed { .. }) {}
    echo.end();

    let keys = std::fs::read_to_string(path("client.keys")).unwrap();
    assert!(keys.starts_with("CLIENT_RANDOM "));
    assert_eq!(keys.lines().count(), 1);
    assert_eq!(keys, std::fs::read_to_string(path("server.keys")).unwrap());

    // Six datagrams of handshake, two of data, one close_notify and perhaps its answer.
    let ours = captured(&path("client.pcap"));
    let theirs = captured(&path("server.pcap"));
    assert!(ours.len() >= 9, "{}", ours.len());
    assert_eq!(ours[..9], theirs[..9]);
    assert_eq!((ours[0].0, ours[0].1), (local, peer));
    assert_eq!((ours[1].0, ours[1].1), (peer, local));
}

type Packet = (SocketAddr, SocketAddr, Vec<u8>);

fn captured(path: &std::path::Path) -> Vec<Packet> {
    use etherparse::{NetSlice, SlicedPacket, TransportSlice};
    let file = std::fs::File::open(path).unwrap();
    let mut reader = pcap_file::pcap::PcapReader::new(file).unwrap();
    let mut packets = Vec::new();
    while let Some(packet) = reader.next_packet() {
        let packet = packet.unwrap();
        let packet = SlicedPacket::from_ip(&packet.data).unwrap();
        let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Udp(udp))) =
            (packet.net, packet.transport)
        else {
            panic!("not UDP over IPv4");
        };
        let header = ip.header();
        packets.push((
            SocketAddr::from((header.source(), udp.source_port())),
            SocketAddr::from((header.destination(), udp.destination_port())),
            udp.payload().to_vec(),
        ));
    }
    packets
}

#[test]
fn noise_is_dropped_and_counted() {
    let serving = identity(Form::Raw);
    let pin = serving.pin();
    let echo = Echo::start("127.0.0.1:0", open_server(serving));
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    for noise in [&b"hello"[..], &[22; 100], &[]] {
        stranger.send_to(noise, echo.address).unwrap();
    }
    let mut client = Client::connect(echo.address, &client(Trust::pins([pin]))).unwrap();
    assert_echoes(&mut client, b"hello");
    let outcome = echo.end();
    assert!(outcome.counters.discards(Discard::Malformed) >= 2);
    assert_eq!(outcome.counters.discards(Discard::BadMac), 0);
}
