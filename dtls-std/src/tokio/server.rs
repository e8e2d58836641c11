//! An asynchronous server.

use crate::clock;
use crate::config::ServerConfig;
use crate::counters::Counters;
use crate::error::SendFailed;
use crate::peer::Peer;
use crate::platform::StdPlatform;
use crate::port::Port;
use crate::server::ServerEvent;
use crate::serving::Serving;
use dtls_core::{NoProbe, Probe};
use std::io;
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::time::timeout;

/// A server that serves all peers of one socket from one task; see [the blocking one](crate::Server).
///
/// ```no_run
/// use dtls_std::{Identity, Pin, ServerConfig, ServerEvent, StdPlatform, Trust, tokio::Server};
/// use std::path::Path;
///
/// # async fn f() -> Result<(), Box<dyn std::error::Error>> {
/// let identity = Identity::read(Path::new("server.key"), None)?;
/// let clients = Trust::pins([Pin::read(Path::new("client.pub"))?]);
/// let socket = tokio::net::UdpSocket::bind("[::]:4433").await?;
/// let mut server = Server::new(socket, ServerConfig::new(identity, clients), StdPlatform::new())?;
/// loop {
///     if let ServerEvent::Data { peer, data } = server.event().await? {
///         server.send(peer, &data).await?;
///     }
/// }
/// # }
/// ```
pub struct Server<B: Probe = NoProbe> {
    serving: Serving<B>,
    socket: UdpSocket,
    port: Port,
    /// The next datagram to send is written here; as long as the MTU.
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
}

impl<B: Probe> Server<B> {
    /// A server on `socket`, which is asked for a large receive buffer.
    ///
    /// # Errors
    /// The socket cannot be used, or the system has no random numbers.
    pub fn new(
        socket: UdpSocket,
        config: ServerConfig,
        platform: StdPlatform<B>,
    ) -> io::Result<Self> {
        let port = Port::new((&socket).into())?;
        port.make_room((&socket).into());
        Ok(Self {
            port,
            outgoing: vec![0; config.mtu.into()],
            incoming: vec![0; crate::LARGEST_DATAGRAM],
            serving: Serving::new(config, platform, socket.local_addr()?)?,
            socket,
        })
    }

    /// Waits for the next event. To be called in a loop: between calls, nothing is received, answered or sent again. If the
    /// future is dropped, no event is lost, and at most one datagram on its way out.
    ///
    /// # Errors
    /// Socket, key log, capture or random numbers failed. What a peer does is never an error.
    pub async fn event(&mut self) -> io::Result<ServerEvent> {
        loop {
            self.serving.tick(clock::now())?;
            self.transmit().await?;
            self.serving.platform.check()?;
            if let Some(event) = self.serving.poll_event() {
                return Ok(event);
            }
            let (socket, port, incoming) = (&self.socket, &self.port, &mut self.incoming);
            let receive =
                socket.async_io(Interest::READABLE, || port.receive(socket.into(), incoming));
            let arrival = match timeout(clock::until(self.serving.deadline()), receive).await {
                Ok(arrival) => arrival?,
                // Something is due.
                Err(_) => None,
            };
            if let Some(arrival) = arrival {
                for datagram in arrival.datagrams(&mut self.incoming) {
                    self.serving.receive(clock::now(), arrival.peer, datagram);
                }
            }
        }
    }

    /// Sends one record to a peer.
    ///
    /// # Errors
    /// The peer is not connected, the data is too long for one datagram, or the association is over.
    pub async fn send(&mut self, peer: Peer, data: &[u8]) -> Result<(), SendFailed> {
        let n = self.serving.seal(peer, data, &mut self.outgoing)?;
        // What the system does not take is lost, as on any part of the way.
        let _ = self.send_datagram(peer, n).await;
        Ok(())
    }

    /// Tells a peer that this is the end (RFC 5246 section 7.2.1). Does nothing if it is not connected.
    ///
    /// # Errors
    /// The socket failed.
    pub async fn close(&mut self, peer: Peer) -> io::Result<()> {
        self.serving.close(peer);
        self.transmit().await
    }

    /// Established peers, and handshakes under way.
    pub fn occupancy(&self) -> (usize, usize) {
        self.serving.occupancy()
    }

    /// What was dropped, and the alerts, of all peers and strangers since the beginning.
    pub const fn counters(&self) -> &Counters {
        self.serving.platform.counters()
    }

    /// What was dropped of one peer, and its alerts, since it has a place here; `None` if it has none.
    pub fn peer_counters(&self, peer: Peer) -> Option<&Counters> {
        self.serving.peer_counters(peer)
    }

    /// The platform, with the caller's probe.
    pub const fn platform(&mut self) -> &mut StdPlatform<B> {
        &mut self.serving.platform
    }

    async fn transmit(&mut self) -> io::Result<()> {
        while let Some((peer, n)) = self.serving.poll_transmit(clock::now(), &mut self.outgoing) {
            self.send_datagram(peer, n).await?;
        }
        Ok(())
    }

    /// Sends the first `n` bytes of `outgoing`. Takes all of `self` so that the future can move between threads.
    async fn send_datagram(&mut self, peer: Peer, n: usize) -> io::Result<()> {
        let (socket, port, datagram) = (&self.socket, &self.port, &self.outgoing[..n]);
        let send = || port.send(socket.into(), peer, datagram);
        socket.async_io(Interest::WRITABLE, send).await
    }
}
