//! A blocking client.

use crate::attempt::Attempt;
use crate::clock;
use crate::config::ClientConfig;
use crate::error::{ConnectError, SendFailed};
use crate::link::{Heard, Link, anywhere};
use crate::pin::Pin;
use crate::platform::StdPlatform;
use crate::session::Session;
use core::net::SocketAddr;
use core::time::Duration;
use dtls_core::{AlertDescription, Event, NoProbe, Probe};
use std::io;
use std::net::UdpSocket;

/// A connection to one server, on a socket of its own. Dropping it says nothing to the server; [`close`](Self::close)
/// does.
pub struct Client<B: Probe = NoProbe> {
    session: Session<B>,
    wire: Wire,
}

/// What a client hears.
#[derive(Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Received {
    /// One record of application data.
    Data(Vec<u8>),
    /// Three quarters of a [limit](dtls_core::Limits) are used up: time to connect anew. Said once.
    RehandshakeDue,
    /// The [limit](dtls_core::Limits) of forged records is reached: the association is over.
    TooManyForgeries,
    /// The server ended the association, with `close_notify` or a fatal alert.
    Closed(AlertDescription),
}

impl Client {
    /// Connects without being watched.
    ///
    /// # Errors
    /// There is no connection, for the reason given.
    pub fn connect(peer: SocketAddr, config: &ClientConfig) -> Result<Self, ConnectError> {
        Self::connect_with(peer, config, StdPlatform::new())
    }
}

impl<B: Probe> Client<B> {
    /// Connects on a platform that may hold a key log, a capture, a trace or a probe.
    ///
    /// # Errors
    /// There is no connection, for the reason given.
    pub fn connect_with(
        peer: SocketAddr,
        config: &ClientConfig,
        platform: StdPlatform<B>,
    ) -> Result<Self, ConnectError> {
        let socket = UdpSocket::bind(anywhere(peer))
            .map_err(|source| ConnectError::Unreachable { peer, source })?;
        Self::connect_on(socket, peer, config, platform)
    }

    /// Connects on a socket of the caller's: from a port of its choosing, say. It is made blocking, and talks to `peer`
    /// only from now on.
    ///
    /// # Errors
    /// There is no connection, for the reason given.
    pub fn connect_on(
        socket: UdpSocket,
        peer: SocketAddr,
        config: &ClientConfig,
        platform: StdPlatform<B>,
    ) -> Result<Self, ConnectError> {
        let link =
            Link::new(socket, peer).map_err(|source| ConnectError::Unreachable { peer, source })?;
        let mut attempt = Attempt::new(Session::new(platform, peer, link.local()), config);
        let mut wire = Wire {
            link,
            outgoing: vec![0; config.mtu.into()],
            incoming: vec![0; crate::LARGEST_DATAGRAM],
        };
        wire.shake_hands(&mut attempt).inspect_err(|_| {
            // What is left to send is an alert; whether it goes out changes nothing.
            let _ = wire.transmit(&mut attempt);
        })?;
        Ok(Self {
            session: attempt.finish(),
            wire,
        })
    }

    /// Sends one record.
    ///
    /// # Errors
    /// The data is too long for one datagram, or the association is over.
    pub fn send(&mut self, data: &[u8]) -> Result<(), SendFailed> {
        let n = self.session.seal(data, &mut self.wire.outgoing)?;
        self.wire.link.send(&self.wire.outgoing[..n]);
        Ok(())
    }

    /// Waits for something from the server; `None` if `patience` is at its end.
    ///
    /// # Errors
    /// Socket, key log or capture failed.
    pub fn recv(&mut self, patience: Duration) -> io::Result<Option<Received>> {
        let end = clock::now().after(clock::saturating(patience));
        let mut time_is_over = false;
        loop {
            self.settle()?;
            if let Some(received) = self.session.poll_received() {
                return Ok(Some(received));
            }
            if time_is_over {
                return Ok(None);
            }
            let Wire { link, incoming, .. } = &mut self.wire;
            if let Heard::Datagram(n) = link.receive(clock::until(end), incoming)? {
                self.session.receive(clock::now(), &mut incoming[..n]);
            }
            time_is_over = clock::now() >= end;
        }
    }

    /// Tells the server that this is the end (RFC 5246 section 7.2.1). Its answer is not waited for: as the RFC says, it
    /// need not be.
    ///
    /// # Errors
    /// Key log or capture failed.
    pub fn close(mut self) -> io::Result<()> {
        self.session.close();
        self.settle()
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
    fn settle(&mut self) -> io::Result<()> {
        while let Some(n) = self.session.poll_transmit(&mut self.wire.outgoing) {
            self.wire.link.send(&self.wire.outgoing[..n]);
        }
        self.session.platform.check()
    }
}

/// A socket with room for one datagram each way.
struct Wire {
    link: Link,
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
}

impl Wire {
    /// The whole handshake.
    fn shake_hands<B: Probe>(&mut self, attempt: &mut Attempt<'_, B>) -> Result<(), ConnectError> {
        attempt.begin(clock::now())?;
        loop {
            self.transmit(attempt)?;
            if attempt.is_connected() {
                return Ok(());
            }
            let patience = clock::until(attempt.deadline());
            match self.link.receive(patience, &mut self.incoming)? {
                Heard::Datagram(n) => attempt.receive(clock::now(), &mut self.incoming[..n])?,
                Heard::Silence => {}
                Heard::Complaint(error) => attempt.complain(error)?,
            }
        }
    }

    fn transmit<B: Probe>(&mut self, attempt: &mut Attempt<'_, B>) -> Result<(), ConnectError> {
        while let Some(n) = attempt.poll_transmit(clock::now(), &mut self.outgoing)? {
            if let Some(error) = self.link.send(&self.outgoing[..n]) {
                attempt.complain(error)?;
            }
        }
        Ok(())
    }
}

impl Received {
    pub(crate) fn from_event(event: Event<'_>) -> Option<Self> {
        match event {
            Event::ApplicationData(data) => Some(Self::Data(data.to_vec())),
            Event::RehandshakeDue => Some(Self::RehandshakeDue),
            Event::TooManyForgeries => Some(Self::TooManyForgeries),
            Event::Closed(alert) => Some(Self::Closed(alert)),
            _ => None,
        }
    }
}
