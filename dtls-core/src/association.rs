//! What remains when a handshake is done.

use crate::alert::{AlertDescription, AlertLevel, ending_alert};
use crate::config::Limits;
use crate::crypto::Job;
use crate::discard::Discard;
use crate::error::SendError;
use crate::event::{ClientHelloRecord, Event};
use crate::platform::{PeerId, Platform};
use crate::probe::{Mark, Probe};
use crate::proof::{FinishedVerified, PeerVerified, SignatureVerified};
use crate::record::{Datagram, OVERHEAD, ReadKeys, Record, WriteKeys, begin};
use crate::time::Instant;
use crate::wire::handshake::{HandshakeType, finished};
use crate::wire::record::{ContentType, HEADER, RecordNumber};
use core::fmt;

/// An established association: keys, counters and replay window, whatever role it was made in.
///
/// Owned, without a lifetime, a timer or a reference to anything, and at most 160 bytes: a table of peers is a plain array.
/// Erased on drop; neither `Copy` nor `Clone`, because two copies would use a nonce twice. It keeps no credential, master
/// secret or random.
///
/// Who has sent the last flight of the handshake (the server) sends it from here, the first time and whenever the peer
/// shows by repeating its own that ours was lost (RFC 6347 section 4.2.4). It is made anew from what is kept here, so that
/// the rule needs neither handshake memory nor a timer.
pub struct Association {
    write: WriteKeys,
    read: ReadKeys,
    /// verify_data of our Finished and of the peer's.
    ours: [u8; 12],
    theirs: [u8; 12],
    finished_seq: u16,
    peer_finished_seq: u16,
    /// The next sequence number of epoch 0, for ChangeCipherSpec.
    plain_next: u64,
    /// End of the client's random: tells a late copy of the ClientHello that made this association from a new client.
    client_random: [u8; 8],
    limits: Limits,
    /// Records that did not authenticate.
    forged: u32,
    /// Until when our last flight is repeated; zero if it was the peer's.
    linger_until: Instant,
    peer: PeerId,
    /// The handshake that made it, to which the last flight is booked.
    job: Job,
    /// Transmissions of our last flight so far.
    attempt: u8,
    owed: u8,
    /// Alerts that may still be sent because of what the peer does.
    alerts: u8,
    /// [`Event::RehandshakeDue`] was said.
    warned: Warned,
    life: Life,
}

const _: () = assert!(size_of::<Option<Association>>() <= 160);

/// Begins at 1, so that `None::<Association>` is all zero bits and an empty table lies in `.bss`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Life {
    Open = 1,
    Over,
}

/// A `bool` with a niche that is zero, see [`Life`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Warned {
    No = 1,
    Yes,
}

/// The two records of the last flight.
const OWED_CHANGE_CIPHER_SPEC: u8 = 1;
const OWED_FINISHED: u8 = 2;
const OWED_LAST_FLIGHT: u8 = OWED_CHANGE_CIPHER_SPEC | OWED_FINISHED;
/// The warning no_renegotiation.
const OWED_NO_RENEGOTIATION: u8 = 4;
/// close_notify.
const OWED_CLOSE_NOTIFY: u8 = 8;
/// How often a peer can make us send an alert.
const ALERTS: u8 = 8;

/// What a handshake hands over.
pub(crate) struct Origin {
    pub(crate) write: WriteKeys,
    pub(crate) read: ReadKeys,
    pub(crate) ours: [u8; 12],
    pub(crate) theirs: [u8; 12],
    pub(crate) finished_seq: u16,
    pub(crate) peer_finished_seq: u16,
    pub(crate) plain_next: u64,
    pub(crate) client_random: [u8; 8],
    pub(crate) job: Job,
    pub(crate) limits: Limits,
    /// Until when to repeat the last flight, if that is ours.
    pub(crate) linger_until: Option<Instant>,
}

impl Association {
    /// Only for a peer that has proven all three.
    pub(crate) fn new(
        origin: Origin,
        peer: &PeerVerified,
        _: &SignatureVerified,
        _: &FinishedVerified,
    ) -> Self {
        let Origin {
            write,
            read,
            ours,
            theirs,
            finished_seq,
            peer_finished_seq,
            ..
        } = origin;
        Self {
            write,
            read,
            ours,
            theirs,
            finished_seq,
            peer_finished_seq,
            plain_next: origin.plain_next,
            client_random: origin.client_random,
            limits: origin.limits,
            forged: 0,
            linger_until: origin.linger_until.unwrap_or_default(),
            peer: peer.id(),
            job: origin.job,
            attempt: 0,
            owed: origin.linger_until.map_or(0, |_| OWED_LAST_FLIGHT),
            alerts: ALERTS,
            warned: Warned::No,
            life: Life::Open,
        }
    }

    /// The caller's own handle for the peer, as given when it was accepted.
    #[must_use]
    pub const fn peer(&self) -> PeerId {
        self.peer
    }

    /// Bytes that a record has in front of its payload, and behind it.
    #[must_use]
    pub const fn overhead(&self) -> (usize, usize) {
        OVERHEAD
    }

    /// Nothing more can be sent or received.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.life == Life::Over
    }

    /// Takes records until one holds something for the caller; `None` when the datagram is used up. Never an error: a bad
    /// record is dropped, and the probe is told.
    ///
    /// Afterwards ask [`poll_transmit`](Self::poll_transmit). The event borrows the datagram, not the association, so it
    /// can be answered while it is held.
    pub fn receive<'d, P: Platform>(
        &mut self,
        platform: &mut P,
        now: Instant,
        datagram: &mut Datagram<'d>,
    ) -> Option<Event<'d>> {
        if let Some(event) = self.warning() {
            return Some(event);
        }
        while let Some(record) = datagram.next(platform.probe()) {
            match self.take(platform, now, record) {
                Ok(event) => return Some(event),
                Err(why) => platform.probe().discarded(why),
            }
        }
        None
    }

    pub(crate) fn take<'d, P: Platform>(
        &mut self,
        platform: &mut P,
        now: Instant,
        record: Record<'d>,
    ) -> Result<Event<'d>, Discard> {
        if let Some(random) = record.client_random() {
            // RFC 6347 section 4.2.8: a client that has lost its state begins anew; a late copy begins nothing.
            let late = random.ends_with(&self.client_random);
            return if late {
                Err(Discard::Repeated)
            } else {
                Ok(Event::Stranger(ClientHelloRecord(record)))
            };
        }
        if self.is_over() {
            return Err(Discard::Unexpected);
        }
        // Epoch 0 opens under no key: nothing in it changes an association.
        let content_type = record.content_type;
        let body = match self.read.open(platform.symmetric(), record) {
            Err(Discard::BadMac) => return self.forgery(platform),
            opened => opened?,
        };
        match content_type {
            ContentType::APPLICATION_DATA => Ok(Event::ApplicationData(body)),
            ContentType::ALERT => self.alert(platform, body),
            ContentType::HANDSHAKE => Err(self.handshake_message(now, body)),
            _ => Err(Discard::Unexpected),
        }
    }

    /// RFC 9147 section 4.5.3: what fails to authenticate is counted, and too much of it ends the association.
    fn forgery<'d, P: Platform>(&mut self, platform: &mut P) -> Result<Event<'d>, Discard> {
        self.forged = self.forged.saturating_add(1);
        if self.forged <= self.limits.forged {
            return Err(Discard::BadMac);
        }
        platform.probe().discarded(Discard::BadMac);
        self.end();
        Ok(Event::TooManyForgeries)
    }

    /// [`Event::RehandshakeDue`], once, when it is due.
    pub(crate) fn warning<'d>(&mut self) -> Option<Event<'d>> {
        let due = self.warned == Warned::No && !self.is_over() && self.needs_rehandshake();
        due.then(|| {
            self.warned = Warned::Yes;
            Event::RehandshakeDue
        })
    }

    /// Three quarters of a [limit](crate::Limits) are used up.
    #[must_use]
    pub fn needs_rehandshake(&self) -> bool {
        let sealed = u64::from(self.limits.sealed).min(RecordNumber::LAST);
        self.write.sealed() >= three_quarters(sealed)
            || u64::from(self.forged) >= three_quarters(self.limits.forged.into()).max(1)
    }

    fn alert<'d, P: Platform>(
        &mut self,
        platform: &mut P,
        body: &[u8],
    ) -> Result<Event<'d>, Discard> {
        let alert = ending_alert(body).ok_or(Discard::Unexpected)?;
        platform.probe().alert_received(alert);
        if alert == AlertDescription::CLOSE_NOTIFY {
            self.close(); // RFC 5246 section 7.2.1: answered in kind
        } else {
            self.end();
        }
        Ok(Event::Closed(alert))
    }

    fn handshake_message(&mut self, now: Instant, body: &[u8]) -> Discard {
        if body == finished(self.peer_finished_seq, &self.theirs) {
            // RFC 6347 section 4.2.4: once for each copy, at least for 2 x MSL; and only for this very Finished.
            if now < self.linger_until {
                self.owed |= OWED_LAST_FLIGHT;
            }
            return Discard::Repeated;
        }
        // Renegotiation does not exist (RFC 7925 section 17, RFC 5746 section 4.5).
        let asks = [
            HandshakeType::HELLO_REQUEST.0,
            HandshakeType::CLIENT_HELLO.0,
        ];
        if body.first().is_some_and(|kind| asks.contains(kind)) && self.alerts > 0 {
            self.alerts = self.alerts.saturating_sub(1);
            self.owed |= OWED_NO_RENEGOTIATION;
        }
        Discard::Unexpected
    }

    /// Writes what is owed into one datagram of at most `out.len()` bytes: the last flight, a refusal to renegotiate,
    /// `close_notify`. Returns its length, or `None` if nothing is owed.
    ///
    /// Only being made, [`receive`](Self::receive) and [`close`](Self::close) give rise to output: call until `None` after
    /// these.
    ///
    /// # Errors
    /// [`SendError::TooSmall`] if not even the first thing owed fits; [`SendError::Exhausted`].
    pub fn poll_transmit<P: Platform>(
        &mut self,
        platform: &mut P,
        out: &mut [u8],
    ) -> Result<Option<usize>, SendError> {
        let (mut used, mut flight) = (0usize, 0usize);
        for what in [
            OWED_CHANGE_CIPHER_SPEC,
            OWED_FINISHED,
            OWED_NO_RENEGOTIATION,
            OWED_CLOSE_NOTIFY,
        ] {
            if self.owed & what == 0 {
                continue;
            }
            let room = out.get_mut(used..).unwrap_or_default();
            match self.write_owed(platform, what, room) {
                Ok(n) => used = used.saturating_add(n),
                Err(SendError::TooSmall(_)) if used > 0 => break, // the next datagram has room
                Err(error) => {
                    if !matches!(error, SendError::TooSmall(_)) {
                        self.end(); // nothing can be sealed any more
                    }
                    return Err(error);
                }
            }
            self.owed &= !what;
            if what & OWED_LAST_FLIGHT != 0 {
                flight = used;
            }
            if what == OWED_CLOSE_NOTIFY {
                self.end();
            }
        }
        if flight > 0 {
            self.mark_flight(platform, flight);
        }
        Ok(Some(used).filter(|n| *n > 0))
    }

    fn write_owed<P: Platform>(
        &mut self,
        platform: &mut P,
        what: u8,
        out: &mut [u8],
    ) -> Result<usize, SendError> {
        match what {
            OWED_CHANGE_CIPHER_SPEC => {
                let number = RecordNumber::new(0, self.plain_next);
                begin(ContentType::CHANGE_CIPHER_SPEC, number, out, 1)?.fill(1);
                self.plain_next = self.plain_next.saturating_add(1);
                Ok(HEADER.saturating_add(1))
            }
            OWED_FINISHED => {
                let message = finished(self.finished_seq, &self.ours);
                self.write
                    .seal_copy(platform.symmetric(), ContentType::HANDSHAKE, &message, out)
            }
            OWED_NO_RENEGOTIATION => {
                self.write_warning(platform, AlertDescription::NO_RENEGOTIATION, out)
            }
            _ => self.write_warning(platform, AlertDescription::CLOSE_NOTIFY, out),
        }
    }

    /// Books a datagram of the last flight to the handshake it ends.
    fn mark_flight<P: Platform>(&mut self, platform: &mut P, n: usize) {
        let sent = Mark::Sent {
            flight: 6,
            bytes: u16::try_from(n).unwrap_or(u16::MAX),
            attempt: self.attempt,
        };
        platform.probe().mark(self.job, sent);
        if self.owed & OWED_LAST_FLIGHT == 0 {
            self.attempt = self.attempt.saturating_add(1);
        }
    }

    fn write_warning<P: Platform>(
        &mut self,
        platform: &mut P,
        description: AlertDescription,
        out: &mut [u8],
    ) -> Result<usize, SendError> {
        let alert = [AlertLevel::Warning as u8, description.0];
        let n = self
            .write
            .seal_copy(platform.symmetric(), ContentType::ALERT, &alert, out)?;
        platform.probe().alert_sent(description);
        Ok(n)
    }

    /// Seals the `n` bytes of payload that stand at `out[overhead().0..]`, in place; returns the length of the record,
    /// which begins at `out[0]`.
    ///
    /// # Errors
    /// See [`SendError`]; after [`SendError::Fatal`] `out` must not be sent.
    pub fn seal<P: Platform>(
        &mut self,
        platform: &mut P,
        n: usize,
        out: &mut [u8],
    ) -> Result<usize, SendError> {
        self.ready()?;
        self.write
            .seal(platform.symmetric(), ContentType::APPLICATION_DATA, n, out)
    }

    /// Seals a copy of `payload` into `out`; returns the length of the record.
    ///
    /// # Errors
    /// See [`SendError`].
    pub fn send<P: Platform>(
        &mut self,
        platform: &mut P,
        payload: &[u8],
        out: &mut [u8],
    ) -> Result<usize, SendError> {
        self.ready()?;
        self.write.seal_copy(
            platform.symmetric(),
            ContentType::APPLICATION_DATA,
            payload,
            out,
        )
    }

    /// Owes the peer a `close_notify` (RFC 5246 section 7.2.1); the association is over once
    /// [`poll_transmit`](Self::poll_transmit) has written it.
    pub fn close(&mut self) {
        if !self.is_over() {
            self.owed |= OWED_CLOSE_NOTIFY;
        }
    }

    fn ready(&self) -> Result<(), SendError> {
        if self.is_over() || self.owed & OWED_CLOSE_NOTIFY != 0 {
            Err(SendError::Closed)
        } else if self.owed & OWED_LAST_FLIGHT != 0 {
            Err(SendError::LastFlightFirst)
        } else if self.write.sealed() >= self.limits.sealed.into() {
            Err(SendError::Exhausted)
        } else {
            Ok(())
        }
    }

    /// Over, and the keys with it.
    fn end(&mut self) {
        (self.life, self.owed) = (Life::Over, 0);
        drop((self.write.take(), self.read.take()));
    }
}

const fn three_quarters(limit: u64) -> u64 {
    limit.saturating_sub(limit / 4)
}

impl fmt::Debug for Association {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Association")
            .field("peer", &self.peer)
            .field("life", &self.life)
            .finish_non_exhaustive()
    }
}
