//! A client's handshake on its way.

use crate::client::Received;
use crate::clock;
use crate::config::ClientConfig;
use crate::error::ConnectError;
use crate::link::Link;
use crate::pin::Pin;
use crate::platform::StdPlatform;
use crate::wire::Wire;
use core::net::SocketAddr;
use dtls_core::crypto::rustcrypto::SoftEngine;
use dtls_core::{
    Answer, Association, Connection, Datagram, Event, Fatal, Instant, PeerId, Platform, Probe,
    Question, SendError, Workspace,
};
use std::collections::VecDeque;
use std::io::ErrorKind;

pub(crate) struct Attempt<'a, B> {
    pub(crate) wire: Wire<B>,
    /// The key that the peer showed.
    pub(crate) pin: Option<Pin>,
    /// What came behind the peer's Finished.
    pub(crate) received: VecDeque<Received>,
    peer: SocketAddr,
    config: &'a ClientConfig,
    connected: bool,
}

impl<'a, B: Probe> Attempt<'a, B> {
    pub(crate) fn new(
        peer: SocketAddr,
        config: &'a ClientConfig,
        platform: StdPlatform<B>,
    ) -> Result<Self, ConnectError> {
        let link =
            Link::connect(peer).map_err(|source| ConnectError::Unreachable { peer, source })?;
        Ok(Self {
            wire: Wire::new(link, platform, config.mtu),
            pin: None,
            received: VecDeque::new(),
            peer,
            config,
            connected: false,
        })
    }

    /// The whole handshake.
    pub(crate) fn run(&mut self) -> Result<Association, ConnectError> {
        let mut association = None;
        let mut workspace = Box::new(Workspace::<_, [u8; crate::WORKSPACE]>::new());
        self.config.lend(|config| {
            let mut connection = Connection::new(&mut association, &mut *workspace, config);
            self.drive(&mut connection).inspect_err(|_| {
                // What is left to send is an alert; whether it goes out changes nothing.
                let _ = self.transmit(&mut connection);
            })
        })?;
        association.ok_or_else(|| self.explain(Fatal::UnexpectedMessage))
    }

    /// The loop of the state machine's contract, until connected.
    fn drive(
        &mut self,
        connection: &mut Connection<'_, StdPlatform<B>>,
    ) -> Result<(), ConnectError> {
        connection
            .connect(&mut self.wire.platform, clock::now())
            .map_err(|why| self.explain(why))?;
        loop {
            self.answer(connection)?;
            self.transmit(connection)?;
            self.wire.platform.check()?;
            if self.connected {
                return Ok(());
            }
            if self.config.trust_icmp_errors && self.wire.link.soft_error().is_some() {
                return Err(self.explain(Fatal::TimedOut));
            }
            self.receive(connection)?;
        }
    }

    fn answer(
        &mut self,
        connection: &mut Connection<'_, StdPlatform<B>>,
    ) -> Result<(), ConnectError> {
        let identity = self.config.identity.as_ref();
        let engine = identity.map_or(SoftEngine { keys: &[] }, |identity| identity.engine());
        while let Some((job, question)) = connection.poll_question(&mut self.wire.platform) {
            let answer = match question {
                Question::PublicKey(request) => {
                    Answer::PublicKey(engine.answer(self.wire.platform.rng(), request))
                }
                Question::Peer(identity) => {
                    self.pin = identity.spki().map(Pin::of);
                    let accepted = self.config.trust.accepts(identity);
                    Answer::Peer(accepted.then_some(PeerId(0)))
                }
                // A question younger than this driver.
                _ => Answer::Peer(None),
            };
            let event = connection
                .answer(&mut self.wire.platform, clock::now(), job, answer)
                .map_err(|why| self.explain(why))?;
            self.connected |= matches!(event, Some(Event::Connected(_)));
        }
        Ok(())
    }

    fn transmit(
        &mut self,
        connection: &mut Connection<'_, StdPlatform<B>>,
    ) -> Result<(), ConnectError> {
        loop {
            let Wire {
                platform, outgoing, ..
            } = &mut self.wire;
            match connection.poll_transmit(platform, clock::now(), outgoing) {
                Ok(Some(n)) => self.wire.send(self.peer, n),
                Ok(None) => return Ok(()),
                Err(SendError::Fatal(why)) => return Err(self.explain(why)),
                Err(SendError::TooSmall(needed)) => return Err(ConnectError::MtuTooSmall(needed)),
                Err(_) => return Err(self.explain(Fatal::UnexpectedMessage)),
            }
        }
    }

    /// Waits for a datagram, at most until the handshake's next deadline, and takes it.
    fn receive(
        &mut self,
        connection: &mut Connection<'_, StdPlatform<B>>,
    ) -> Result<(), ConnectError> {
        let deadline = connection.poll_timeout().unwrap_or(Instant(u64::MAX));
        let Some((n, _)) = self.wire.receive(deadline)? else {
            return Ok(());
        };
        let Wire {
            platform, incoming, ..
        } = &mut self.wire;
        let mut datagram = Datagram::new(&mut incoming[..n]);
        loop {
            match connection.receive(platform, clock::now(), &mut datagram) {
                Ok(None) => return Ok(()),
                Ok(Some(Event::Connected(_))) => self.connected = true,
                Ok(Some(event)) => self.received.extend(Received::from_event(event)),
                Err(why) => return Err(self.explain(why)),
            }
        }
    }

    /// The failure in the words that help most.
    fn explain(&self, why: Fatal) -> ConnectError {
        let peer = self.peer;
        let soft = self.wire.link.soft_error();
        match (why, self.pin, soft) {
            (Fatal::PeerRefused | Fatal::CertificateRefused, Some(pin), _) => {
                ConnectError::Refused { peer, pin }
            }
            (Fatal::TimedOut, _, Some(error)) if error.kind() == ErrorKind::ConnectionRefused => {
                ConnectError::NobodyListens(peer)
            }
            (Fatal::TimedOut, _, Some(error)) => ConnectError::Unreachable {
                peer,
                source: error.kind().into(),
            },
            _ => ConnectError::Handshake { peer, why },
        }
    }
}
