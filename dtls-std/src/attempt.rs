//! A client without its socket, while it shakes hands.

use crate::config::ClientConfig;
use crate::error::ConnectError;
use crate::pin::Pin;
use crate::platform::StdPlatform;
use crate::session::Session;
use crate::trace::Direction;
use dtls_core::crypto::rustcrypto::SoftEngine;
use dtls_core::{
    Answer, Connection, Datagram, Event, Fatal, Instant, PeerId, Platform, Probe, Question,
    SendError, Workspace,
};
use std::io::{self, ErrorKind};

/// After [`begin`](Self::begin) and [`receive`](Self::receive), ask [`poll_transmit`](Self::poll_transmit) until it returns
/// `None`; when [connected](Self::is_connected), [finish](Self::finish), and otherwise wait for a datagram, or until
/// [`deadline`](Self::deadline) and ask again. After an error, `poll_transmit` may still hold an alert.
pub(crate) struct Attempt<'a, B: Probe> {
    session: Session<B>,
    config: &'a ClientConfig,
    workspace: Box<Workspace<StdPlatform<B>, [u8; crate::WORKSPACE]>>,
    connected: bool,
    /// The last complaint of the network, for messages to people.
    soft_error: Option<io::Error>,
}

impl<'a, B: Probe> Attempt<'a, B> {
    pub(crate) fn new(session: Session<B>, config: &'a ClientConfig) -> Self {
        Self {
            session,
            config,
            workspace: Box::new(Workspace::new()),
            connected: false,
            soft_error: None,
        }
    }

    pub(crate) fn begin(&mut self, now: Instant) -> Result<(), ConnectError> {
        self.connection(|connection, platform| connection.connect(platform, now))
            .map_err(|why| self.explain(why))
    }

    /// Takes a datagram and answers what the handshake asks.
    pub(crate) fn receive(&mut self, now: Instant, bytes: &mut [u8]) -> Result<(), ConnectError> {
        self.session.watch(Direction::Received, bytes);
        let mut datagram = Datagram::new(bytes);
        loop {
            let received = self.connection(|connection, platform| {
                connection.receive(platform, now, &mut datagram)
            });
            match received.map_err(|why| self.explain(why))? {
                None => break,
                Some(event) => self.note(event),
            }
        }
        while let Some(answered) = self.answer(now) {
            match answered.map_err(|why| self.explain(why))? {
                None => {}
                Some(event) => self.note(event),
            }
        }
        self.session.platform.check()?;
        Ok(())
    }

    /// Writes the next datagram to send, and returns its length.
    pub(crate) fn poll_transmit(
        &mut self,
        now: Instant,
        out: &mut [u8],
    ) -> Result<Option<usize>, ConnectError> {
        let written =
            self.connection(|connection, platform| connection.poll_transmit(platform, now, out));
        match written {
            Ok(None) => Ok(None),
            Ok(Some(n)) => {
                self.session.watch(Direction::Sent, &out[..n]);
                self.session.platform.check()?;
                Ok(Some(n))
            }
            Err(SendError::Fatal(why)) => Err(self.explain(why)),
            Err(SendError::TooSmall(needed)) => Err(ConnectError::MtuTooSmall(needed)),
            Err(_) => Err(self.explain(Fatal::UnexpectedMessage)),
        }
    }

    /// The network complained: anybody can make it do so, and it may be over in a moment.
    pub(crate) fn complain(&mut self, error: io::Error) -> Result<(), ConnectError> {
        self.soft_error = Some(error);
        match self.config.trust_icmp_errors {
            true => Err(self.explain(Fatal::TimedOut)),
            false => Ok(()),
        }
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.workspace.poll_timeout().unwrap_or(Instant(u64::MAX))
    }

    pub(crate) const fn is_connected(&self) -> bool {
        self.connected
    }

    pub(crate) fn finish(self) -> Session<B> {
        self.session
    }

    fn note(&mut self, event: Event<'_>) {
        match event {
            Event::Connected(_) => self.connected = true,
            event => self.session.note(event),
        }
    }

    /// Answers one question; `None` if there is none.
    fn answer(&mut self, now: Instant) -> Option<Result<Option<Event<'static>>, Fatal>> {
        let config = self.config;
        let identity = config.identity.as_ref();
        let engine = identity.map_or(SoftEngine { keys: &[] }, |identity| identity.engine());
        let mut pin = None;
        let result = self.connection(|connection, platform| {
            let (job, question) = connection.poll_question(platform)?;
            let answer = match question {
                Question::PublicKey(request) => {
                    Answer::PublicKey(engine.answer(platform.rng(), request))
                }
                Question::Peer(identity) => {
                    pin = identity.spki().map(Pin::of);
                    let accepted = config.trust.accepts(identity);
                    Answer::Peer(accepted.then_some(PeerId(0)))
                }
                // A question younger than this driver.
                _ => Answer::Peer(None),
            };
            Some(connection.answer(platform, now, job, answer))
        });
        self.session.pin = pin.or(self.session.pin);
        result
    }

    fn connection<T>(
        &mut self,
        call: impl FnOnce(&mut Connection<'_, StdPlatform<B>>, &mut StdPlatform<B>) -> T,
    ) -> T {
        let (session, workspace) = (&mut self.session, &mut *self.workspace);
        self.config.lend(|config| {
            let mut connection = Connection::new(&mut session.association, workspace, config);
            call(&mut connection, &mut session.platform)
        })
    }

    /// The failure in the words that help most.
    fn explain(&self, why: Fatal) -> ConnectError {
        let peer = self.session.peer;
        match (why, self.session.pin, &self.soft_error) {
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
