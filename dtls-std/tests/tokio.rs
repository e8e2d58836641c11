//! The asynchronous client and server, with each other and with the blocking ones.
#![cfg(feature = "tokio")]

mod common;

use common::{Echo, PATIENCE, TIMERS};
use core::net::SocketAddr;
use core::time::Duration;
use dtls_core::{AlertDescription, Micros, Timers};
use dtls_std::tokio::{Client, Server};
use dtls_std::{
    ClientConfig, ConnectError, Identity, Pin, PrivateKey, Received, ServerConfig, ServerEvent,
    StdPlatform, Trust,
};
use std::thread;
use tokio::net::UdpSocket;
use tokio::time::timeout;

/// A server that knows one client, and that client.
fn pair() -> (ServerConfig, ClientConfig) {
    let [server, client] = [(); 2].map(|()| Identity::raw(&PrivateKey::generate().unwrap()));
    let pins = [server.pin(), client.pin()];
    let server = ServerConfig {
        timers: TIMERS,
        ..ServerConfig::new(server, Trust::pins([pins[1]]))
    };
    let client = ClientConfig {
        identity: Some(client),
        timers: TIMERS,
        ..ClientConfig::new(Trust::pins([pins[0]]))
    };
    (server, client)
}

async fn serve(config: ServerConfig) -> (Server, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    let server = Server::new(socket, config, StdPlatform::new()).unwrap();
    (server, address)
}

/// Echoes until `clients` of them have closed.
async fn echo(mut server: Server, clients: usize) -> Server {
    let mut closed = 0;
    while closed < clients {
        let event = timeout(PATIENCE, server.event()).await;
        match event.expect("an event in time").unwrap() {
            ServerEvent::Data { peer, data } => server.send(peer, &data).await.unwrap(),
            ServerEvent::Closed { alert, .. } => {
                assert_eq!(alert, AlertDescription::CLOSE_NOTIFY);
                closed += 1;
            }
            // Who finds all rooms taken comes again.
            ServerEvent::Connected { .. } | ServerEvent::Full { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    server
}

async fn assert_echoes(client: &mut Client) {
    client.send(b"hello").await.unwrap();
    let heard = timeout(PATIENCE, client.recv()).await.unwrap().unwrap();
    assert_eq!(heard, Received::Data(b"hello".to_vec()));
}

#[tokio::test]
async fn a_client_and_a_blocking_server() {
    let (server, config) = pair();
    let echo = Echo::start("127.0.0.1:0", server);
    let mut client = Client::connect(echo.address, &config).await.unwrap();
    assert_echoes(&mut client).await;
    client.close().await.unwrap();
    while !matches!(echo.event(), ServerEvent::Closed { .. }) {}
    let outcome = echo.end();
    assert_eq!(outcome.occupancy, (0, 0));
    assert_eq!(outcome.counters.alerts_received().count(), 1);
}

#[tokio::test]
async fn a_blocking_client_and_a_server() {
    let (server, config) = pair();
    let (server, address) = serve(server).await;
    let client = thread::spawn(move || {
        let mut client = dtls_std::Client::connect(address, &config).unwrap();
        client.send(b"hello").unwrap();
        let heard = client.recv(PATIENCE).unwrap();
        assert_eq!(heard, Some(Received::Data(b"hello".to_vec())));
        client.close().unwrap();
    });
    let server = echo(server, 1).await;
    client.join().unwrap();
    assert_eq!(server.counters().alerts_received().count(), 1);
}

#[tokio::test]
async fn many_clients_on_one_thread() {
    const CLIENTS: usize = 50;
    let (server, config) = pair();
    let (server, address) = serve(server).await;
    let echo = tokio::spawn(echo(server, CLIENTS));
    let config = std::sync::Arc::new(config);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let config = std::sync::Arc::clone(&config);
            tokio::spawn(async move {
                let mut client = Client::connect(address, &config).await.unwrap();
                assert_echoes(&mut client).await;
                client.close().await.unwrap();
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    assert_eq!(echo.await.unwrap().occupancy(), (0, 0));
}

#[tokio::test]
async fn failures_are_told_as_the_blocking_client_does() {
    let (server, mut config) = pair();
    let echo = Echo::start("127.0.0.1:0", server);
    config.trust = Trust::pins([Pin([7; 32])]);
    let refused = Client::connect(echo.address, &config).await.err().unwrap();
    assert!(matches!(refused, ConnectError::Refused { .. }), "{refused}");
    let address = echo.address;
    echo.end();

    // Nobody is there any more.
    config.timers = Timers {
        handshake: Micros::from_millis(300),
        ..TIMERS
    };
    let nobody = Client::connect(address, &config).await.err().unwrap();
    assert!(matches!(nobody, ConnectError::NobodyListens(_)), "{nobody}");
}

/// The server does what is due although nothing comes.
#[tokio::test]
async fn idle_peers_are_evicted() {
    let (mut server, config) = pair();
    server.max_idle = Some(Duration::from_millis(300));
    let (mut server, address) = serve(server).await;
    let client = tokio::spawn(async move {
        let mut client = Client::connect(address, &config).await.unwrap();
        timeout(PATIENCE, client.recv()).await.unwrap().unwrap()
    });
    loop {
        match timeout(PATIENCE, server.event()).await.unwrap().unwrap() {
            ServerEvent::Connected { .. } => {}
            ServerEvent::Evicted { .. } => break,
            other => panic!("{other:?}"),
        }
    }
    // The close_notify goes out when the server is asked next.
    let nothing = timeout(Duration::from_millis(100), server.event()).await;
    assert!(nothing.is_err());
    let closed = Received::Closed(AlertDescription::CLOSE_NOTIFY);
    assert_eq!(client.await.unwrap(), closed);
}
