//! The handshake (RFC 6347 section 4.2 over RFC 5246 section 7). No socket, no clock.
//!
//! One handshake is a [`Common`] part, the same for both roles, and the [`Stage`] of its role. A stage is consumed by the
//! message or answer it waits for and makes the next one; what has been proven travels from stage to stage as tokens.

#[cfg(feature = "client")]
mod client;
mod common;
mod flight;
mod keys;
mod material;
mod reassembly;
mod retransmit;
#[cfg(feature = "server")]
mod server;

use crate::alert::{AlertDescription, AlertLevel, ending_alert};
use crate::association::{Association, Origin};
use crate::config::Config;
use crate::crypto::Job;
use crate::discard::Discard;
use crate::error::{Fatal, SendError};
use crate::platform::{Answer, Platform, Question};
use crate::probe::{Mark, Operation, Phase, Probe};
use crate::proof::{FinishedVerified, PeerVerified, SignatureVerified};
use crate::record::{Record, begin};
use crate::time::Instant;
use crate::wire::Reader;
use crate::wire::handshake::{Fragment, HandshakeType, Header, finished};
use crate::wire::record::{ContentType, RecordNumber};
use common::Common;
use flight::{Item, Packer};
use keys::Pending;
use reassembly::Sorted;
use retransmit::Due;

/// What a call may use.
pub(crate) struct Context<'a, P: Platform> {
    pub(crate) platform: &'a mut P,
    pub(crate) config: &'a Config<'a>,
    /// The arena of the workspace.
    pub(crate) memory: &'a mut [u8],
    pub(crate) now: Instant,
}

/// A handshake on its way.
pub(crate) struct Handshake<P: Platform> {
    common: Common<P>,
    stage: Stage,
    /// Why it is over; the alert about it has not been written yet.
    failed: Option<Fatal>,
}

/// What a handshake comes to.
pub(crate) enum Outcome {
    /// All is proven.
    Connected(Association),
    /// A fatal alert came that anybody may have sent.
    PlaintextAlert(AlertDescription),
}

/// Where the handshake stands.
enum Stage {
    #[cfg(feature = "client")]
    Client(client::Stage),
    #[cfg(feature = "server")]
    Server(server::Stage),
    /// Both roles: all is computed, and the peer's ChangeCipherSpec and Finished are due.
    Finished(AwaitFinished),
}

/// All but the peer's Finished is proven.
struct AwaitFinished {
    pending: Pending,
    /// message_seq of our Finished.
    finished_seq: u16,
    peer: PeerVerified,
    signature: SignatureVerified,
    /// The peer's ChangeCipherSpec has come.
    change_cipher_spec: bool,
}

/// What became of a message.
enum Taken {
    /// It has done its work.
    Consumed,
    /// Its body is needed later: keep it in the arena.
    Keep,
    /// It was the peer's Finished, and it is right.
    Finished(FinishedVerified),
}

impl<P: Platform> Handshake<P> {
    /// A client's handshake: the ClientHello is to be sent.
    #[cfg(feature = "client")]
    pub(crate) fn client(cx: &mut Context<'_, P>, job: Job) -> Result<Self, Fatal> {
        let mut common = Common::new(cx, job, false)?;
        common.out.start(1, 0);
        let stage = Stage::Client(client::Stage::AwaitServerHello);
        Ok(Self {
            common,
            stage,
            failed: None,
        })
    }

    /// A server's handshake: an admitted ClientHello is to be [received](Self::receive).
    #[cfg(feature = "server")]
    pub(crate) fn server(
        cx: &mut Context<'_, P>,
        job: Job,
        hello: &Record<'_>,
    ) -> Result<Self, Fatal> {
        // RFC 6347 section 4.1: from so high a number, ours would wrap. No honest client begins there.
        if hello.number.sequence() > RecordNumber::LAST / 2 {
            return Err(Fatal::IllegalParameter);
        }
        let mut common = Common::new(cx, job, true)?;
        // RFC 6347 section 4.2.1: the number of the ClientHello is the number of the ServerHello, and so is its
        // message_seq, since the server has kept neither.
        common.plain_next = hello.number.sequence();
        if let Ok(fragment) = Fragment::parse(&mut Reader::new(hello.body)) {
            common.inbox.expect(fragment.header.message_seq);
        }
        cx.platform
            .probe()
            .mark(job, Mark::Phase(Phase::PrepareServerFlight));
        let stage = Stage::Server(server::Stage::AwaitClientHello);
        Ok(Self {
            common,
            stage,
            failed: None,
        })
    }

    /// Whether this is the server's side of the handshake that a ClientHello with this random belongs to.
    pub(crate) fn began_with(&self, random: &[u8; 32]) -> bool {
        match &self.stage {
            #[cfg(feature = "client")]
            Stage::Client(_) => false,
            #[cfg(feature = "server")]
            Stage::Server(server::Stage::AwaitClientHello) => true,
            _ => self.common.is_server && self.common.material.randoms[0] == *random,
        }
    }

    /// It had to repeat a flight.
    pub(crate) const fn is_stalled(&self) -> bool {
        self.common.retransmit.has_expired()
    }

    /// Takes one record.
    ///
    /// # Errors
    /// The handshake is over.
    pub(crate) fn receive(
        &mut self,
        cx: &mut Context<'_, P>,
        record: Record<'_>,
    ) -> Result<Option<Outcome>, Fatal> {
        match (record.content_type, record.number.epoch()) {
            (ContentType::HANDSHAKE, 0) => {
                self.common.plain_number = record.number;
                self.messages(cx, record.body, 0)
            }
            (ContentType::HANDSHAKE, 1) => self.protected(cx, record),
            (ContentType::CHANGE_CIPHER_SPEC, 0) => {
                self.change_cipher_spec(cx, record.number, record.body)
            }
            (ContentType::ALERT, 0) => self.plaintext_alert(cx, record.body),
            (ContentType::ALERT, 1) => self.protected_alert(cx, record),
            (_, 1) => Ok(discard(cx, Discard::Early)),
            _ => Ok(discard(cx, Discard::Unexpected)),
        }
    }

    /// The fragments in a handshake record, one after the other.
    fn messages(
        &mut self,
        cx: &mut Context<'_, P>,
        body: &[u8],
        epoch: u16,
    ) -> Result<Option<Outcome>, Fatal> {
        let mut reader = Reader::new(body);
        while !reader.is_empty() {
            let Ok(fragment) = Fragment::parse(&mut reader) else {
                return Ok(discard(cx, Discard::Malformed));
            };
            if let Some(outcome) = self.fragment(cx, fragment, epoch)? {
                return Ok(Some(outcome));
            }
        }
        Ok(None)
    }

    /// One fragment. A message that is due and whole is processed from where it lies, without a copy.
    fn fragment(
        &mut self,
        cx: &mut Context<'_, P>,
        fragment: Fragment<'_>,
        epoch: u16,
    ) -> Result<Option<Outcome>, Fatal> {
        // RFC 5246 section 7.4.1.1: ignored while negotiating; it is no part of the sequence that counts.
        if fragment.header.kind == HandshakeType::HELLO_REQUEST {
            return Ok(discard(cx, Discard::Unexpected));
        }
        if self.common.inbox.is_past(fragment.header.message_seq) {
            self.repeated(cx, fragment.header.message_seq);
            return Ok(None);
        }
        // Wrong epoch: dropped, not fatal, for in the clear anybody may have sent it.
        match self.awaited_epoch() {
            Some(awaited) if awaited == epoch => {}
            Some(_) => return Ok(discard(cx, Discard::Unexpected)),
            None => return Ok(discard(cx, Discard::Early)), // it will be repeated when the open question is answered
        }
        // A Finished in the clear is a forgery: it may end the attempt when it is due, but is not kept until then.
        let due = fragment.header.message_seq == self.common.inbox.next() && fragment.is_whole();
        if epoch == 0 && fragment.header.kind == HandshakeType::FINISHED && !due {
            return Ok(discard(cx, Discard::Unexpected));
        }
        match self.common.inbox.sort(cx.memory, &fragment) {
            Sorted::Dropped(why) => return Ok(discard(cx, why)),
            Sorted::Stored => {}
            Sorted::Whole => {
                let taken = self.message(
                    cx.platform,
                    cx.config,
                    cx.memory,
                    fragment.header,
                    fragment.body,
                )?;
                let keep =
                    matches!(taken, Taken::Keep).then_some((fragment.header.kind, fragment.body));
                self.common.inbox.processed(cx.memory, keep)?;
                if let Taken::Finished(proof) = taken {
                    return self.finished(cx, proof, fragment.header).map(Some);
                }
            }
        }
        self.stored_messages(cx)
    }

    /// Messages that have come early or in pieces and are due now.
    fn stored_messages(&mut self, cx: &mut Context<'_, P>) -> Result<Option<Outcome>, Fatal> {
        while let Some((header, body)) = self.common.inbox.due(cx.memory) {
            if self.awaited_epoch().is_none() {
                break;
            }
            let taken = self.message(cx.platform, cx.config, cx.memory, header, body)?;
            match taken {
                Taken::Consumed => self.common.inbox.processed(cx.memory, None)?,
                Taken::Keep => self.common.inbox.processed_and_kept(header.kind),
                Taken::Finished(proof) => return self.finished(cx, proof, header).map(Some),
            }
        }
        Ok(None)
    }

    /// The peer repeats a message. If it belongs to the flight that ours answers, ours may have been lost: it goes out
    /// again, at most once until the timer runs out (RFC 6347 section 4.2.4, exit 2 of WAITING).
    fn repeated(&mut self, cx: &mut Context<'_, P>, message_seq: u16) {
        cx.platform.probe().discarded(Discard::Repeated);
        let waiting = self.operation().is_none() && !self.common.out.is_active();
        if waiting
            && cx.config.answer_retransmissions
            && message_seq < self.common.peer_flight
            && self.common.retransmit.may_answer()
        {
            self.common.out.restart();
        }
    }

    /// The epoch of the messages that are due; `None` while a question is open.
    const fn awaited_epoch(&self) -> Option<u16> {
        match &self.stage {
            #[cfg(feature = "client")]
            Stage::Client(stage) if stage.awaits_message() => Some(0),
            #[cfg(feature = "server")]
            Stage::Server(stage) if stage.awaits_message() => Some(0),
            Stage::Finished(AwaitFinished {
                change_cipher_spec: true,
                ..
            }) => Some(1),
            _ => None,
        }
    }

    /// A whole message that is next in sequence: it is allowed here, or the handshake is over.
    fn message(
        &mut self,
        platform: &mut P,
        config: &Config<'_>,
        memory: &[u8],
        header: Header,
        body: &[u8],
    ) -> Result<Taken, Fatal> {
        let common = &mut self.common;
        match &mut self.stage {
            #[cfg(feature = "client")]
            Stage::Client(stage) => {
                let kept = common
                    .inbox
                    .kept(memory, HandshakeType::HELLO_VERIFY_REQUEST);
                client::message(common, stage, platform, config, header, body, kept)
            }
            #[cfg(feature = "server")]
            Stage::Server(stage) => server::message(common, stage, platform, config, header, body),
            Stage::Finished(stage) if header.kind == HandshakeType::FINISHED => {
                stage.pending.verify(body).map(Taken::Finished)
            }
            _ => Err(Fatal::UnexpectedMessage),
        }
    }

    /// ChangeCipherSpec counts only if it was sent after all messages of its flight but Finished. It may come before them:
    /// then a server remembers its number, and looks at it when they are there.
    fn change_cipher_spec(
        &mut self,
        cx: &mut Context<'_, P>,
        number: RecordNumber,
        body: &[u8],
    ) -> Result<Option<Outcome>, Fatal> {
        match &mut self.stage {
            _ if body != [1] => Ok(discard(cx, Discard::Malformed)),
            Stage::Finished(stage) => {
                stage.change_cipher_spec = true;
                self.early_finished(cx)
            }
            #[cfg(feature = "server")]
            Stage::Server(_) => {
                self.common.early_change_cipher_spec = Some(number);
                Ok(None)
            }
            #[cfg(feature = "client")]
            Stage::Client(_) => Ok(discard(cx, Discard::Unexpected)),
        }
    }

    /// A handshake record of epoch 1: opened if it is due, else kept if it can be the Finished.
    fn protected(
        &mut self,
        cx: &mut Context<'_, P>,
        record: Record<'_>,
    ) -> Result<Option<Outcome>, Fatal> {
        let Stage::Finished(AwaitFinished {
            pending,
            change_cipher_spec: true,
            ..
        }) = &mut self.stage
        else {
            let kept = self.common.keep_early(&record);
            return Ok(if kept {
                None
            } else {
                discard(cx, Discard::Early)
            });
        };
        match pending.read.open(cx.platform.symmetric(), record) {
            Ok(body) => self.messages(cx, body, 1),
            Err(why) => Ok(discard(cx, why)),
        }
    }

    /// The Finished that came too early, if its time has come.
    fn early_finished(&mut self, cx: &mut Context<'_, P>) -> Result<Option<Outcome>, Fatal> {
        let Some((number, mut body)) = self.common.early.take() else {
            return Ok(None);
        };
        self.protected(
            cx,
            Record {
                content_type: ContentType::HANDSHAKE,
                number,
                body: &mut body,
            },
        )
    }

    /// Anybody can have sent it: it counts only if no flight comes until the deadline, unless configured otherwise.
    fn plaintext_alert(
        &mut self,
        cx: &mut Context<'_, P>,
        body: &[u8],
    ) -> Result<Option<Outcome>, Fatal> {
        let Some(alert) = ending_alert(body) else {
            return Ok(discard(cx, Discard::Unexpected));
        };
        cx.platform.probe().alert_received(alert);
        if cx.config.trust_plaintext_alerts {
            return Err(Fatal::AlertReceived(alert));
        }
        self.common.plaintext_alert = Some(alert);
        Ok(Some(Outcome::PlaintextAlert(alert)))
    }

    /// An alert under the new keys ends the handshake if it authenticates.
    fn protected_alert(
        &mut self,
        cx: &mut Context<'_, P>,
        record: Record<'_>,
    ) -> Result<Option<Outcome>, Fatal> {
        let Stage::Finished(stage) = &mut self.stage else {
            return Ok(discard(cx, Discard::Early));
        };
        match stage.pending.read.open(cx.platform.symmetric(), record) {
            Ok(body) => match ending_alert(body) {
                Some(alert) => {
                    cx.platform.probe().alert_received(alert);
                    Err(Fatal::AlertReceived(alert))
                }
                None => Ok(discard(cx, Discard::Unexpected)),
            },
            Err(why) => Ok(discard(cx, why)),
        }
    }

    /// The question that is open, handed out once.
    pub(crate) fn poll_question<'s>(
        &'s mut self,
        memory: &'s [u8],
        platform: &mut P,
        config: &Config<'_>,
    ) -> Option<Question<'s>> {
        let operation = self.operation().filter(|_| !self.common.asked)?;
        self.common.mark(platform, Mark::Asked(operation));
        self.common.asked = true;
        self.question(memory, config)
    }

    /// The question that is open.
    pub(crate) fn question<'s>(
        &'s self,
        memory: &'s [u8],
        config: &Config<'_>,
    ) -> Option<Question<'s>> {
        match &self.stage {
            #[cfg(feature = "client")]
            Stage::Client(stage) => client::question(&self.common, stage, memory, config),
            #[cfg(feature = "server")]
            Stage::Server(stage) => server::question(&self.common, stage, memory, config),
            Stage::Finished(_) => None,
        }
    }

    /// Takes the answer to the question that is out; an answer to another question changes nothing.
    pub(crate) fn answer(
        &mut self,
        cx: &mut Context<'_, P>,
        job: Job,
        answer: Answer,
    ) -> Result<Option<Outcome>, Fatal> {
        let asked = self.common.asked && job == self.common.job;
        let Some(operation) = self.operation().filter(|_| asked) else {
            return Ok(None);
        };
        self.common.asked = false;
        cx.platform.probe().mark(job, Mark::Answered(operation));
        let common = &mut self.common;
        let next = match &mut self.stage {
            #[cfg(feature = "client")]
            Stage::Client(stage) => client::answer(common, stage, cx, answer)?,
            #[cfg(feature = "server")]
            Stage::Server(stage) => server::answer(common, stage, cx, answer)?,
            Stage::Finished(_) => None,
        };
        let Some(finished) = next else {
            return Ok(None);
        };
        self.stage = Stage::Finished(finished);
        // What came early in the clear cannot belong to the protected part, and what was kept has served.
        self.common.inbox.clear();
        self.common.retransmit.resume(cx.now);
        if self.common.change_cipher_spec_has_come() {
            self.early_finished(cx)
        } else {
            Ok(None)
        }
    }

    const fn operation(&self) -> Option<Operation> {
        match &self.stage {
            #[cfg(feature = "client")]
            Stage::Client(stage) => stage.operation(),
            #[cfg(feature = "server")]
            Stage::Server(stage) => stage.operation(),
            Stage::Finished(_) => None,
        }
    }

    /// The peer's Finished is right: nothing else has to be proven.
    fn finished(
        &mut self,
        cx: &mut Context<'_, P>,
        proof: FinishedVerified,
        header: Header,
    ) -> Result<Outcome, Fatal> {
        let last_flight_is_ours = self.common.is_server;
        let Stage::Finished(stage) = &mut self.stage else {
            return Err(Fatal::UnexpectedMessage);
        };
        let [.., a, b, c, d, e, f, g, h] = self.common.material.randoms[0];
        let origin = Origin {
            // Taken, so that no copy stays behind in the workspace.
            write: stage.pending.write.take(),
            read: stage.pending.read.take(),
            ours: stage.pending.ours,
            theirs: stage.pending.theirs,
            finished_seq: stage.finished_seq,
            peer_finished_seq: header.message_seq,
            plain_next: self.common.plain_next,
            client_random: [a, b, c, d, e, f, g, h],
            job: self.common.job,
            limits: cx.config.limits,
            linger_until: last_flight_is_ours.then(|| cx.now.after(cx.config.timers.linger)),
        };
        let association = Association::new(origin, &stage.peer, &stage.signature, &proof);
        self.common.mark(cx.platform, Mark::Connected);
        Ok(Outcome::Connected(association))
    }

    /// The handshake is over. Its alert can be written now, if it has one.
    pub(crate) fn fail(&mut self, platform: &mut P, fatal: Fatal) {
        self.common.mark(platform, Mark::Failed(fatal));
        self.failed = Some(fatal);
    }

    /// The handshake is over; nothing is left but to [write its alert](Self::write_alert).
    pub(crate) const fn is_over(&self) -> bool {
        self.failed.is_some()
    }

    /// Writes the alert of a failed handshake, under the keys that our side writes with now.
    pub(crate) fn write_alert(
        &mut self,
        platform: &mut P,
        out: &mut [u8],
    ) -> Result<Option<usize>, SendError> {
        let Some(description) = self.failed.and_then(Fatal::alert) else {
            return Ok(None);
        };
        let alert = [AlertLevel::Fatal as u8, description.0];
        let n = match &mut self.stage {
            // A client has sent its ChangeCipherSpec by now, a server has not.
            Stage::Finished(stage) if !self.common.is_server => stage.pending.write.seal_copy(
                platform.symmetric(),
                ContentType::ALERT,
                &alert,
                out,
            )?,
            _ => {
                let number = RecordNumber::new(0, self.common.plain_next);
                begin(ContentType::ALERT, number, out, alert.len())?.copy_from_slice(&alert);
                crate::wire::record::HEADER.saturating_add(alert.len())
            }
        };
        self.sent(platform, 0, n);
        platform.probe().alert_sent(description);
        Ok(Some(n))
    }

    /// The deadline: of the flight that may have to be repeated, or of the whole handshake, which always runs.
    pub(crate) fn deadline(&self) -> Instant {
        self.common.retransmit.deadline()
    }

    /// Writes the next datagram of the flight that is due.
    ///
    /// # Errors
    /// The room is too small, or the time is over.
    pub(crate) fn poll_transmit(
        &mut self,
        cx: &mut Context<'_, P>,
        out: &mut [u8],
    ) -> Result<Option<usize>, SendError> {
        match self.common.retransmit.poll(&cx.config.timers, cx.now) {
            Due::GiveUp => return Err(self.reason_to_give_up().into()),
            Due::Repeat if self.common.plaintext_alert.is_some() => {
                return Err(self.reason_to_give_up().into());
            }
            Due::Repeat => self.common.out.restart(),
            Due::Nothing => {}
        }
        if !self.common.out.is_active() {
            return Ok(None);
        }
        let flight = self.common.out.flight;
        if flight == 1 && self.common.plain_next == 0 {
            self.common
                .mark(cx.platform, Mark::Phase(Phase::CookieExchange));
        }
        let n = self.write(cx, out)?;
        self.sent(cx.platform, flight, n);
        if !self.common.out.is_active() {
            self.common.retransmit.flight_sent(cx.now);
            let next = match (flight, self.common.out.attempt) {
                (4, 0) => Some(Phase::AwaitClientFlight),
                (5, 0) => Some(Phase::AwaitServerFinished),
                _ => None,
            };
            if let Some(phase) = next {
                self.common.mark(cx.platform, Mark::Phase(phase));
            }
        }
        Ok(Some(n))
    }

    fn reason_to_give_up(&self) -> Fatal {
        let alert = self.common.plaintext_alert.map(Fatal::AlertReceived);
        alert
            .or(self.common.inbox.too_large().map(Fatal::MessageTooLarge))
            .unwrap_or(Fatal::TimedOut)
    }

    fn sent(&self, platform: &mut P, flight: u8, n: usize) {
        let bytes = u16::try_from(n).unwrap_or(u16::MAX);
        self.common.mark(
            platform,
            Mark::Sent {
                flight,
                bytes,
                attempt: self.common.out.attempt,
            },
        );
    }

    /// A datagram of the peer had something for us.
    pub(crate) fn received(&self, platform: &mut P, bytes: u16) {
        self.common.mark(platform, Mark::Received { bytes });
    }

    /// Fills one datagram from the flight, from where the last one ended.
    fn write(&mut self, cx: &mut Context<'_, P>, out: &mut [u8]) -> Result<usize, SendError> {
        let size = self.datagram_size(cx.config, out.len());
        let mut packer = Packer::new(out.get_mut(..size).unwrap_or_default());
        loop {
            let Common {
                out,
                material,
                inbox,
                plain_next,
                ..
            } = &mut self.common;
            let kept = inbox.kept(cx.memory, HandshakeType::HELLO_VERIFY_REQUEST);
            let written = match flight::item(out.flight, out.item, material, cx.config, kept) {
                Some(Item::Message(message)) => packer.message(&message, out),
                Some(Item::ChangeCipherSpec) => packer
                    .change_cipher_spec(plain_next)
                    .map(|()| out.next_item()),
                Some(Item::Finished) => {
                    packer.close(plain_next)?;
                    let Stage::Finished(stage) = &mut self.stage else {
                        return Err(Fatal::Crypto.into());
                    };
                    let message = finished(stage.finished_seq, &stage.pending.ours);
                    let (symmetric, room) = (cx.platform.symmetric(), packer.room());
                    let sealed = stage.pending.write.seal_copy(
                        symmetric,
                        ContentType::HANDSHAKE,
                        &message,
                        room,
                    );
                    sealed.map(|n| {
                        packer.advance(n);
                        out.next_item();
                    })
                }
                None => {
                    out.done();
                    break;
                }
            };
            match written {
                Ok(()) if out.offset == 0 => {} // all of the item
                Ok(()) => break,
                Err(SendError::TooSmall(_)) if !packer.is_empty() => break, // the next datagram has room
                Err(error) => return Err(error),
            }
        }
        packer.close(&mut self.common.plain_next)?;
        Ok(packer.used())
    }

    /// RFC 6347 section 4.1.1.1: if a flight is not answered again and again, perhaps its datagrams are too large.
    fn datagram_size(&self, config: &Config<'_>, room: usize) -> usize {
        let size = room.min(config.mtu.into());
        match self.common.retransmit.expiries() {
            _ if self.common.out.flight < 4 => size, // a ClientHello is never fragmented
            0 | 1 => size,
            2 => size.min(SMALLER),
            _ => size.min(SMALLEST),
        }
    }
}

/// What datagrams shrink to when nothing comes back: what every IPv4 host takes, less the headers (RFC 1122 section 3.3.3).
const SMALLER: usize = 548;
/// And in the end, what has a chance on any link.
const SMALLEST: usize = 228;

fn discard<P: Platform, T>(cx: &mut Context<'_, P>, why: Discard) -> Option<T> {
    cx.platform.probe().discarded(why);
    None
}
