//! A server for many peers on one socket.

use crate::clock;
use crate::config::ServerConfig;
use crate::counters::Counters;
use crate::error::SendFailed;
use crate::peer::Peer;
use crate::pin::Pin;
use crate::platform::StdPlatform;
use crate::port::Port;
use crate::serving::Serving;
use crate::wait::{Until, wait};
use core::time::Duration;
use dtls_core::{AlertDescription, Instant, NoProbe, PeerId, Probe, SendError};
use std::io::{self, ErrorKind};
use std::net::UdpSocket;

/// A server that serves all peers of one socket from one thread.
///
/// A stranger costs it nothing: until a ClientHello comes back with a cookie, nothing is remembered (RFC 6347
/// section 4.2.1). A peer costs about 400 bytes, a handshake about 6 KB, and no datagram makes it look at more than the
/// peer that it came from. Bound to all addresses of the host, it answers from the one that was spoken to.
///
/// ```no_run
/// use dtls_std::{Identity, Pin, Server, ServerConfig, ServerEvent, StdPlatform, Trust};
/// use std::{net::UdpSocket, path::Path, time::Duration};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let identity = Identity::read(Path::new("server.key"), None)?;
/// let clients = Trust::pins([Pin::read(Path::new("client.pub"))?]);
/// let config = ServerConfig::new(identity, clients);
/// let socket = UdpSocket::bind("[::]:4433")?;
/// let mut server = Server::new(socket, config, StdPlatform::new())?;
/// loop {
///     if let Some(ServerEvent::Data { peer, data }) = server.poll(Duration::from_secs(60))? {
///         server.send(peer, &data)?;
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

/// Something happened to a peer.
#[derive(Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A handshake is complete. If this peer was connected before, this is the association that counts now (RFC 6347
    /// section 4.2.8).
    Connected {
        /// Who.
        peer: Peer,
        /// A number of its own for each association.
        id: PeerId,
        /// The key that the client proved to hold; `None` for an anonymous one.
        pin: Option<Pin>,
    },
    /// One record of application data.
    Data {
        /// From whom.
        peer: Peer,
        /// The data.
        data: Vec<u8>,
    },
    /// Three quarters of a [limit](dtls_core::Limits) are used up: the client should shake hands anew. Said once.
    RehandshakeDue {
        /// With whom.
        peer: Peer,
    },
    /// The [limit](dtls_core::Limits) of forged records is reached: the association is over.
    TooManyForgeries {
        /// In whose name.
        peer: Peer,
    },
    /// The peer ended the association, with `close_notify` or a fatal alert.
    Closed {
        /// Who.
        peer: Peer,
        /// With which alert.
        alert: AlertDescription,
    },
    /// The peer had to go because nothing was heard of it, see [`ServerConfig::max_idle`] and
    /// [`ServerConfig::evict_when_full`].
    Evicted {
        /// Who.
        peer: Peer,
        /// For how long.
        idle: Duration,
    },
    /// A handshake came to nothing. An association that this peer had before is still there.
    HandshakeFailed {
        /// With whom.
        peer: Peer,
        /// The key that the client has shown, proven or not; `None` if it did not come to that.
        pin: Option<Pin>,
        /// Why.
        why: SendError,
    },
    /// A client whose address is proven was turned away: all places are taken.
    Full {
        /// Who.
        peer: Peer,
    },
}

impl<B: Probe> Server<B> {
    /// A server on `socket`, which is made non-blocking, and asked for a large receive buffer.
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

    /// Waits for the next event; `None` if `patience` is at its end. To be called in a loop: between calls, nothing is
    /// received, answered or sent again.
    ///
    /// # Errors
    /// Socket, key log, capture or random numbers failed. What a peer does is never an error.
    pub fn poll(&mut self, patience: Duration) -> io::Result<Option<ServerEvent>> {
        let end = clock::now().after(clock::saturating(patience));
        let mut time_is_over = false;
        loop {
            self.serving.tick(clock::now())?;
            self.transmit()?;
            self.serving.platform.check()?;
            if let Some(event) = self.serving.poll_event() {
                return Ok(Some(event));
            }
            if time_is_over {
                return Ok(None);
            }
            self.receive(end.min(self.serving.deadline()))?;
            time_is_over = clock::now() >= end;
        }
    }

    /// Sends one record to a peer.
    ///
    /// # Errors
    /// The peer is not connected, the data is too long for one datagram, or the association is over.
    pub fn send(&mut self, peer: Peer, data: &[u8]) -> Result<(), SendFailed> {
        let n = self.serving.seal(peer, data, &mut self.outgoing)?;
        // What the system does not take is lost, as on any part of the way.
        let _ = self.send_datagram(peer, n);
        Ok(())
    }

    /// Tells a peer that this is the end (RFC 5246 section 7.2.1). Does nothing if it is not connected.
    ///
    /// # Errors
    /// The socket failed.
    pub fn close(&mut self, peer: Peer) -> io::Result<()> {
        self.serving.close(peer);
        self.transmit()
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

    fn transmit(&mut self) -> io::Result<()> {
        while let Some((peer, n)) = self.serving.poll_transmit(clock::now(), &mut self.outgoing) {
            self.send_datagram(peer, n)?;
        }
        Ok(())
    }

    /// Sends the first `n` bytes of `outgoing`. A queue that is full is waited for a little.
    fn send_datagram(&mut self, peer: Peer, n: usize) -> io::Result<()> {
        let datagram = &self.outgoing[..n];
        let send = || self.port.send((&self.socket).into(), peer, datagram);
        match send() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                wait(&self.socket, Until::Writable, Duration::from_millis(10))?;
                // Or else it is lost.
                let _ = send();
                Ok(())
            }
            sent => sent,
        }
    }

    /// Takes what is there, or waits for it, at most until `end`.
    fn receive(&mut self, end: Instant) -> io::Result<()> {
        let socket = &self.socket;
        let arrival = match self.port.receive(socket.into(), &mut self.incoming) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                return wait(socket, Until::Readable, clock::until(end));
            }
            arrival => arrival?,
        };
        if let Some(arrival) = arrival {
            for datagram in arrival.datagrams(&mut self.incoming) {
                self.serving.receive(clock::now(), arrival.peer, datagram);
            }
        }
        Ok(())
    }
}
