//! An asynchronous client.

use crate::attempt::Attempt;
use crate::client::Received;
use crate::clock;
use crate::config::ClientConfig;
use crate::error::{ConnectError, SendFailed};
use crate::link::anywhere;
use crate::pin::Pin;
use crate::platform::StdPlatform;
use crate::port::is_soft;
use crate::session::Session;
use core::net::SocketAddr;
use dtls_core::{NoProbe, Probe};
use std::io;
use tokio::net::UdpSocket;
use tokio::time::timeout;

/// A connection to one server, on a socket of its own. Dropping it says nothing to the server; [`close`](Self::close)
/// does.
///
/// ```no_run
/// use dtls_std::{ClientConfig, Pin, Trust, tokio::Client};
/// use std::path::Path;
///
/// # async fn f() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Pin::read(Path::new("server.pub"))?;
/// let mut client = Client::connect("[::1]:4433".parse()?, &ClientConfig::new(Trust::pins([server]))).await?;
/// client.send(b"hello").await?;
/// println!("{:?}", client.recv().await?);
/// client.close().await?;
/// # Ok(()) }
/// ```
pub struct Client<B: Probe = NoProbe> {
    session: Session<B>,
    wire: Wire,
}

impl Client {
    /// Connects without being watched.
    ///
    /// # Errors
    /// There is no connection, for the reason given.
    pub async fn connect(peer: SocketAddr, config: &ClientConfig) -> Result<Self, ConnectError> {
        let socket = UdpSocket::bind(anywhere(peer))
            .await
            .map_err(|source| ConnectError::Unreachable { peer, source })?;
        Self::connect_on(socket, peer, config, StdPlatform::new()).await
    }
}

impl<B: Probe> Client<B> {
    /// Connects on a socket of the caller's, which talks to `peer` only from now on, and on a platform that may hold a key
    /// log, a capture, a trace or a probe.
    ///
    /// # Errors
    /// There is no connection, for the reason given.
    pub async fn connect_on(
        socket: UdpSocket,
        peer: SocketAddr,
        config: &ClientConfig,
        platform: StdPlatform<B>,
    ) -> Result<Self, ConnectError> {
        socket
            .connect(peer)
            .await
            .map_err(|source| ConnectError::Unreachable { peer, source })?;
        let session = Session::new(platform, peer, socket.local_addr()?);
        let mut attempt = Attempt::new(session, config);
        let mut wire = Wire {
            socket,
            outgoing: vec![0; config.mtu.into()],
            incoming: vec![0; crate::LARGEST_DATAGRAM],
        };
        if let Err(error) = wire.shake_hands(&mut attempt).await {
            // What is left to send is an alert; whether it goes out changes nothing.
            let _ = wire.transmit(&mut attempt).await;
            return Err(error);
        }
        Ok(Self {
            session: attempt.finish(),
            wire,
        })
    }

    /// Sends one record.
    ///
    /// # Errors
    /// The data is too long for one datagram, or the association is over.
    pub async fn send(&mut self, data: &[u8]) -> Result<(), SendFailed> {
        let n = self.session.seal(data, &mut self.wire.outgoing)?;
        // What the network complains about is lost.
        let _ = self.wire.socket.send(&self.wire.outgoing[..n]).await;
        Ok(())
    }

    /// Waits for something from the server. No data is lost if the future is dropped.
    ///
    /// # Errors
    /// Socket, key log or capture failed.
    pub async fn recv(&mut self) -> io::Result<Received> {
        loop {
            self.settle().await?;
            if let Some(received) = self.session.poll_received() {
                return Ok(received);
            }
            let Wire {
                socket, incoming, ..
            } = &mut self.wire;
            match socket.recv(incoming).await {
                Ok(n) => self.session.receive(clock::now(), &mut incoming[..n]),
                Err(error) if is_soft(error.kind()) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Tells the server that this is the end (RFC 5246 section 7.2.1). Its answer is not waited for: as the RFC says, it
    /// need not be.
    ///
    /// # Errors
    /// Key log or capture failed.
    pub async fn close(mut self) -> io::Result<()> {
        self.session.close();
        self.settle().await
    }

    /// The server's address.
    pub const fn peer(&self) -> SocketAddr {
        self.session.peer
    }

    /// Our own address.
    pub const fn local(&self) -> SocketAddr {
        self.session.local
    }

    /// The key that the server proved to hold.
    pub const fn peer_pin(&self) -> Option<Pin> {
        self.session.pin
    }

    /// The platform, with its counters and the caller's probe.
    pub const fn platform(&mut self) -> &mut StdPlatform<B> {
        &mut self.session.platform
    }

    /// Sends what is owed.
    async fn settle(&mut self) -> io::Result<()> {
        while let Some(n) = self.session.poll_transmit(&mut self.wire.outgoing) {
            let _ = self.wire.socket.send(&self.wire.outgoing[..n]).await;
        }
        self.session.platform.check()
    }
}

/// A socket with room for one datagram each way.
struct Wire {
    socket: UdpSocket,
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
}

impl Wire {
    /// The whole handshake.
    async fn shake_hands<B: Probe>(
        &mut self,
        attempt: &mut Attempt<'_, B>,
    ) -> Result<(), ConnectError> {
        attempt.begin(clock::now())?;
        loop {
            self.transmit(attempt).await?;
            if attempt.is_connected() {
                return Ok(());
            }
            let patience = clock::until(attempt.deadline());
            match timeout(patience, self.socket.recv(&mut self.incoming)).await {
                Ok(Ok(n)) => attempt.receive(clock::now(), &mut self.incoming[..n])?,
                Ok(Err(error)) if is_soft(error.kind()) => attempt.complain(error)?,
                Ok(Err(error)) => return Err(error.into()),
                // The time is over.
                Err(_) => {}
            }
        }
    }

    async fn transmit<B: Probe>(
        &mut self,
        attempt: &mut Attempt<'_, B>,
    ) -> Result<(), ConnectError> {
        while let Some(n) = attempt.poll_transmit(clock::now(), &mut self.outgoing)? {
            if let Err(error) = self.socket.send(&self.outgoing[..n]).await {
                attempt.complain(error)?;
            }
        }
        Ok(())
    }
}
