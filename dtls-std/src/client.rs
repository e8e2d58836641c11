//! A blocking client.

use crate::attempt::Attempt;
use crate::clock;
use crate::config::ClientConfig;
use crate::error::{ConnectError, SendFailed};
use crate::pin::Pin;
use crate::platform::StdPlatform;
use crate::seal::seal;
use crate::wire::Wire;
use core::net::SocketAddr;
use core::time::Duration;
use dtls_core::{AlertDescription, Association, Datagram, Event, NoProbe, Probe};
use std::collections::VecDeque;
use std::io;

/// A connection to one server, on a socket of its own. Dropping it says nothing to the server; [`close`](Self::close)
/// does.
pub struct Client<B = NoProbe> {
    wire: Wire<B>,
    association: Association,
    peer: SocketAddr,
    pin: Option<Pin>,
    received: VecDeque<Received>,
}

/// What a client hears.
#[derive(Debug, Eq, PartialEq)]
pub enum Received {
    /// One record of application data.
    Data(Vec<u8>),
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
        let mut attempt = Attempt::new(peer, config, platform)?;
        let association = attempt.run()?;
        Ok(Self {
            wire: attempt.wire,
            association,
            peer,
            pin: attempt.pin,
            received: attempt.received,
        })
    }

    /// Sends one record.
    ///
    /// # Errors
    /// The data is too long for one datagram, or the association is over.
    pub fn send(&mut self, data: &[u8]) -> Result<(), SendFailed> {
        let Wire {
            platform, outgoing, ..
        } = &mut self.wire;
        let n = seal(&mut self.association, platform, data, outgoing)?;
        self.wire.send(self.peer, n);
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
            if let Some(received) = self.received.pop_front() {
                return Ok(Some(received));
            }
            if time_is_over {
                return Ok(None);
            }
            if let Some((n, _)) = self.wire.receive(end)? {
                let Wire {
                    platform, incoming, ..
                } = &mut self.wire;
                let mut datagram = Datagram::new(&mut incoming[..n]);
                while let Some(event) =
                    self.association
                        .receive(platform, clock::now(), &mut datagram)
                {
                    self.received.extend(Received::from_event(event));
                }
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
        self.association.close();
        self.settle()
    }

    /// The server's address.
    pub const fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Our own address.
    pub const fn local(&self) -> SocketAddr {
        self.wire.link.bound()
    }

    /// The key that the server proved to hold.
    pub const fn peer_pin(&self) -> Option<Pin> {
        self.pin
    }

    /// The platform, with its counters and the caller's probe.
    pub const fn platform(&mut self) -> &mut StdPlatform<B> {
        &mut self.wire.platform
    }

    /// Sends what is owed.
    fn settle(&mut self) -> io::Result<()> {
        let wire = &mut self.wire;
        while let Ok(Some(n)) = self
            .association
            .poll_transmit(&mut wire.platform, &mut wire.outgoing)
        {
            wire.send(self.peer, n);
        }
        wire.platform.check()
    }
}

impl Received {
    pub(crate) fn from_event(event: Event<'_>) -> Option<Self> {
        match event {
            Event::ApplicationData(data) => Some(Self::Data(data.to_vec())),
            Event::Closed(alert) => Some(Self::Closed(alert)),
            _ => None,
        }
    }
}
