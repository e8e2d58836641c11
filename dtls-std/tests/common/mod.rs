//! An echo server in a thread.

use core::net::SocketAddr;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use dtls_core::{Micros, Timers};
use dtls_std::{Counters, Server, ServerConfig, ServerEvent, StdPlatform};
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};

/// Loopback is fast: a lost datagram need not cost a second.
pub(crate) const TIMERS: Timers = Timers {
    initial: Micros::from_millis(200),
    handshake: Micros::from_secs(20),
    ..Timers::INTERNET
};

/// Longer than anything should take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Echo {
    pub(crate) address: SocketAddr,
    pub(crate) events: Receiver<ServerEvent>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Outcome>,
}

/// What is left of the server.
pub(crate) struct Outcome {
    pub(crate) counters: Counters,
    /// Peers and handshakes.
    pub(crate) occupancy: (usize, usize),
}

impl Echo {
    pub(crate) fn start(address: &str, config: ServerConfig) -> Self {
        Self::start_on(
            UdpSocket::bind(address).unwrap(),
            config,
            StdPlatform::new(),
        )
    }

    pub(crate) fn start_on(socket: UdpSocket, config: ServerConfig, platform: StdPlatform) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let (sender, events) = mpsc::channel();
        Self {
            address: socket.local_addr().unwrap(),
            events,
            stop,
            thread: thread::spawn(move || {
                let mut server = Server::new(socket, config, platform).unwrap();
                while !stopped.load(Ordering::Relaxed) {
                    let Some(event) = server.poll(Duration::from_millis(20)).unwrap() else {
                        continue;
                    };
                    if let ServerEvent::Data { peer, data } = &event {
                        match &data[..] {
                            b"close me" => server.close(*peer).unwrap(),
                            data => server.send(*peer, data).unwrap(),
                        }
                    }
                    let _ = sender.send(event);
                }
                Outcome {
                    counters: server.counters().clone(),
                    occupancy: server.occupancy(),
                }
            }),
        }
    }

    /// The next event.
    pub(crate) fn event(&self) -> ServerEvent {
        self.events
            .recv_timeout(PATIENCE)
            .expect("an event in time")
    }

    pub(crate) fn end(self) -> Outcome {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("a server that does not panic")
    }
}
