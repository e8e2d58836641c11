//! One peer: dispatch between the handshake and the association.

use crate::association::Association;
use crate::config::Config;
#[cfg(feature = "server")]
use crate::cookie::Admitted;
use crate::crypto::Job;
use crate::discard::Discard;
use crate::error::{Fatal, SendError};
use crate::event::{ClientHelloRecord, Event};
use crate::handshake::{Context, Handshake, Outcome};
use crate::platform::{Answer, PeerIdentity, Platform, Question};
use crate::probe::Probe;
use crate::record::{Datagram, Record};
use crate::time::Instant;
use crate::wire::record::{ContentType, HEADER};
use core::fmt;

/// Memory for one handshake at a time, of either role: the handshake's own state, and `M` bytes for messages that come in
/// pieces or early, and for the peer's certificate.
///
/// 512 bytes are enough for raw public keys; for X.509, add the length of the largest Certificate message expected, and a
/// quarter. All zero when vacant and made by a `const fn`: a `static` one lies in `.bss` and is never built on the stack.
/// `&mut Workspace<P, [u8; N]>` coerces to `&mut Workspace<P>`: the state machine is compiled once for all `N`.
pub struct Workspace<P: Platform, M: ?Sized = [u8]> {
    job: Job,
    tenant: Tenant<P>,
    memory: M,
}

/// A vacant one is all zero bits.
#[repr(u8)]
#[allow(clippy::large_enum_variant, reason = "an Option whose None is zero")]
enum Tenant<P: Platform> {
    Vacant = 0,
    Handshake(Handshake<P>) = 1,
}

impl<P: Platform, const N: usize> Workspace<P, [u8; N]> {
    /// A vacant workspace.
    #[must_use]
    #[allow(
        clippy::new_without_default,
        reason = "a Default would be built on the stack"
    )]
    pub const fn new() -> Self {
        Self {
            job: Job {
                slot: 0,
                generation: 0,
            },
            tenant: Tenant::Vacant,
            memory: [0; N],
        }
    }
}

impl<P: Platform, M: ?Sized> Workspace<P, M> {
    /// Its number among workspaces that share an engine ([`Job::slot`]); zero unless set.
    pub const fn set_slot(&mut self, slot: u16) {
        self.job.slot = slot;
    }

    /// No handshake lives here.
    pub const fn is_vacant(&self) -> bool {
        matches!(self.tenant, Tenant::Vacant)
    }

    /// The handshake here had to repeat a flight: when workspaces are short, it gives way to a newcomer.
    pub const fn is_stalled(&self) -> bool {
        matches!(&self.tenant, Tenant::Handshake(handshake) if handshake.is_stalled())
    }

    /// Abandons the handshake that lives here and erases its secrets. The peer is told nothing.
    pub fn clear(&mut self) {
        self.tenant = Tenant::Vacant;
    }

    /// When to call [`Connection::poll_transmit`] although nothing happened; `None` if vacant.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match &self.tenant {
            Tenant::Handshake(handshake) if !handshake.is_over() => Some(handshake.deadline()),
            _ => None,
        }
    }

    /// See [`Connection::poll_question`]; it needs no association.
    pub(crate) fn poll_question<'s>(
        &'s mut self,
        platform: &mut P,
        config: &Config<'_>,
    ) -> Option<(Job, Question<'s>)>
    where
        M: AsRef<[u8]>,
    {
        let question = match &mut self.tenant {
            Tenant::Handshake(handshake) if !handshake.is_over() => {
                handshake.poll_question(self.memory.as_ref(), platform, config)?
            }
            _ => return None,
        };
        Some((self.job, question))
    }

    const fn handshake(&mut self) -> Option<(&mut Handshake<P>, &mut M)> {
        match &mut self.tenant {
            Tenant::Handshake(handshake) => Some((handshake, &mut self.memory)),
            Tenant::Vacant => None,
        }
    }
}

impl<P: Platform, M: ?Sized> fmt::Debug for Workspace<P, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let vacant = self.is_vacant();
        f.debug_struct("Workspace")
            .field("job", &self.job)
            .field("vacant", &vacant)
            .finish_non_exhaustive()
    }
}

/// One peer: the place of an association and, beside it, a workspace for the handshake that makes it or its successor.
///
/// A handle, free to make and to drop: dropping it leaves association and handshake where they are.
///
/// # The contract
/// After each call of [`connect`](Self::connect), [`accept`](Self::accept), [`receive`](Self::receive) (until `None`) or
/// [`answer`](Self::answer), ask [`poll_question`](Self::poll_question) and [`poll_transmit`](Self::poll_transmit) until
/// they return `None`; then wait for a datagram, or until [`poll_timeout`](Self::poll_timeout) and ask again.
///
/// An error means that the handshake is over; `poll_transmit` then writes its alert, if it has one, and vacates the
/// workspace. An association that was there before stays as it was.
pub struct Connection<'w, P: Platform> {
    association: &'w mut Option<Association>,
    workspace: &'w mut Workspace<P>,
    config: &'w Config<'w>,
}

impl<'w, P: Platform> Connection<'w, P> {
    /// Takes up what is there: an association, a handshake on its way (begun with this `config`), both or neither.
    pub const fn new(
        association: &'w mut Option<Association>,
        workspace: &'w mut Workspace<P>,
        config: &'w Config<'w>,
    ) -> Self {
        Self {
            association,
            workspace,
            config,
        }
    }

    // To begin.

    /// Begins a handshake as a client, the first one or a new one. One that was on its way is abandoned.
    ///
    /// # Errors
    /// [`Fatal::Crypto`] without random numbers.
    #[cfg(feature = "client")]
    pub fn connect(&mut self, platform: &mut P, now: Instant) -> Result<(), Fatal> {
        self.begin(platform, now, Handshake::client)
    }

    /// Begins a handshake as a server, with a ClientHello that passed the gate. One that was on its way is abandoned.
    ///
    /// # Errors
    /// [`Fatal`] if the ClientHello offers nothing acceptable, or without random numbers.
    #[cfg(feature = "server")]
    pub fn accept(
        &mut self,
        platform: &mut P,
        now: Instant,
        hello: Admitted<'_>,
    ) -> Result<(), Fatal> {
        let Admitted(ClientHelloRecord(record)) = hello;
        self.begin(platform, now, |cx, job| Handshake::server(cx, job, &record))?;
        let length = record.body.len().saturating_add(HEADER);
        let outcome = self.with_handshake(platform, now, |handshake, cx| {
            handshake.received(cx.platform, u16::try_from(length).unwrap_or(u16::MAX));
            handshake.receive(cx, record)
        });
        self.conclude(platform, outcome).map(drop)
    }

    fn begin(
        &mut self,
        platform: &mut P,
        now: Instant,
        make: impl FnOnce(&mut Context<'_, P>, Job) -> Result<Handshake<P>, Fatal>,
    ) -> Result<(), Fatal> {
        self.workspace.clear();
        self.workspace.job.generation = self.workspace.job.generation.wrapping_add(1);
        let mut cx = Context {
            platform,
            config: self.config,
            memory: &mut self.workspace.memory,
            now,
        };
        self.workspace.tenant = Tenant::Handshake(make(&mut cx, self.workspace.job)?);
        Ok(())
    }

    // Input.

    /// Takes records until one holds something for the caller; `None` when the datagram is used up.
    ///
    /// RFC 6347 section 4.2.8 lives here: a new handshake runs beside the old association, which dies at the moment the new
    /// Finished has verified. Both use epoch 1, and the header alone decides whose a record is, because a failed trial
    /// decryption destroys it: what a handshake can need goes to the handshake, and an established association misses
    /// nothing by that.
    ///
    /// # Errors
    /// The handshake is over.
    pub fn receive<'d>(
        &mut self,
        platform: &mut P,
        now: Instant,
        datagram: &mut Datagram<'d>,
    ) -> Result<Option<Event<'d>>, Fatal> {
        if let Some(event) = self.association.as_mut().and_then(Association::warning) {
            return Ok(Some(event));
        }
        while let Some(record) = datagram.next(platform.probe()) {
            if self.is_for_handshake(&record) {
                let length = datagram.take_length();
                let outcome = self.with_handshake(platform, now, |handshake, cx| {
                    if let Some(bytes) = length {
                        handshake.received(cx.platform, bytes);
                    }
                    handshake.receive(cx, record)
                });
                match self.conclude(platform, outcome)? {
                    Some(event) => return Ok(Some(event)),
                    None => continue,
                }
            }
            let taken = match self.association {
                Some(association) => association.take(platform, now, record),
                None if record.client_random().is_some() => {
                    Ok(Event::Stranger(ClientHelloRecord(record)))
                }
                None => Err(Discard::Unexpected),
            };
            match taken {
                Ok(event) => return Ok(Some(event)),
                Err(why) => platform.probe().discarded(why),
            }
        }
        Ok(None)
    }

    fn is_for_handshake(&self, record: &Record<'_>) -> bool {
        match &self.workspace.tenant {
            Tenant::Handshake(handshake) if !handshake.is_over() => match record.client_random() {
                Some(random) => handshake.began_with(random),
                None => {
                    self.association.is_none()
                        || record.number.epoch() == 0
                        || record.content_type == ContentType::HANDSHAKE
                }
            },
            _ => false,
        }
    }

    // Questions.

    /// The question the handshake waits for, handed out once. Nothing stays borrowed once it was looked at.
    pub fn poll_question<'s>(&'s mut self, platform: &mut P) -> Option<(Job, Question<'s>)> {
        self.workspace.poll_question(platform, self.config)
    }

    /// What the peer showed, while the question about it is open: to look again before answering later.
    #[must_use]
    pub fn peer_identity(&self) -> Option<PeerIdentity<'_>> {
        let Tenant::Handshake(handshake) = &self.workspace.tenant else {
            return None;
        };
        match handshake.question(&self.workspace.memory, self.config) {
            Some(Question::Peer(identity)) => Some(identity),
            _ => None,
        }
    }

    /// Answers the question that was handed out under this job; an answer to one that is gone changes nothing. It can
    /// connect, since the peer's Finished may have come meanwhile.
    ///
    /// # Errors
    /// The handshake is over.
    pub fn answer(
        &mut self,
        platform: &mut P,
        now: Instant,
        job: Job,
        answer: Answer,
    ) -> Result<Option<Event<'static>>, Fatal> {
        let outcome = self.with_handshake(platform, now, |handshake, cx| {
            handshake.answer(cx, job, answer)
        });
        self.conclude(platform, outcome)
    }

    // Output.

    /// Writes one datagram of at most `out.len()` and [`Config::mtu`] bytes: the next of a flight, again if its time is
    /// over, the alert of a failed handshake, or what the association owes. Returns its length; call until `None`.
    ///
    /// # Errors
    /// [`SendError::TooSmall`] names the size needed and loses nothing; [`SendError::Fatal`] if the time is over.
    pub fn poll_transmit(
        &mut self,
        platform: &mut P,
        now: Instant,
        out: &mut [u8],
    ) -> Result<Option<usize>, SendError> {
        let config = self.config;
        if let Some((handshake, memory)) = self.workspace.handshake() {
            if handshake.is_over() {
                let alert = handshake.write_alert(platform, out)?;
                self.workspace.clear();
                if alert.is_some() {
                    return Ok(alert);
                }
            } else {
                let mut cx = Context {
                    platform,
                    config,
                    memory,
                    now,
                };
                match handshake.poll_transmit(&mut cx, out) {
                    Ok(None) => {}
                    Err(SendError::Fatal(fatal)) => {
                        handshake.fail(platform, fatal);
                        return Err(fatal.into());
                    }
                    written => return written,
                }
            }
        }
        match self.association {
            Some(association) => {
                let size = out.len().min(config.mtu.into());
                association.poll_transmit(platform, out.get_mut(..size).unwrap_or_default())
            }
            None => Ok(None),
        }
    }

    /// When to ask again although nothing happened: the retransmission timer or the limit of the whole handshake. `None`
    /// without a handshake: an association has no timer.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.workspace.poll_timeout()
    }

    // The association.

    /// The association, to seal with and to close.
    pub const fn association(&mut self) -> Option<&mut Association> {
        self.association.as_mut()
    }

    fn with_handshake<T>(
        &mut self,
        platform: &mut P,
        now: Instant,
        call: impl FnOnce(&mut Handshake<P>, &mut Context<'_, P>) -> Result<Option<T>, Fatal>,
    ) -> Result<Option<T>, Fatal> {
        let config = self.config;
        match self.workspace.handshake() {
            Some((handshake, memory)) if !handshake.is_over() => call(
                handshake,
                &mut Context {
                    platform,
                    config,
                    memory,
                    now,
                },
            ),
            _ => Ok(None),
        }
    }

    /// Puts a finished handshake's association into its place, which erases the old one, and vacates the workspace.
    fn conclude(
        &mut self,
        platform: &mut P,
        outcome: Result<Option<Outcome>, Fatal>,
    ) -> Result<Option<Event<'static>>, Fatal> {
        match outcome {
            Ok(None) => Ok(None),
            Ok(Some(Outcome::PlaintextAlert(alert))) => Ok(Some(Event::PlaintextAlert(alert))),
            Ok(Some(Outcome::Connected(association))) => {
                let peer = association.peer();
                *self.association = Some(association);
                self.workspace.clear();
                Ok(Some(Event::Connected(peer)))
            }
            Err(fatal) => {
                if let Some((handshake, _)) = self.workspace.handshake() {
                    handshake.fail(platform, fatal);
                }
                Err(fatal)
            }
        }
    }
}

impl<P: Platform> fmt::Debug for Connection<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("association", &self.association)
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}
