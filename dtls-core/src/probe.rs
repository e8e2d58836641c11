//! Hooks at the boundaries that matter for time and energy.

use crate::alert::AlertDescription;
use crate::crypto::Job;
use crate::discard::Discard;
use crate::error::Fatal;

/// A part of a handshake as seen by one endpoint. The phases follow each other without gaps, from the first ClientHello
/// (client) or the admitted ClientHello (server) to the verified Finished. Flights are those of RFC 6347 figure 1.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
pub enum Phase {
    /// Client: from the first ClientHello (flight 1) to the HelloVerifyRequest (flight 2).
    CookieExchange = 0,
    /// Client: from the HelloVerifyRequest to the end of the server's flight 4. Network and server.
    AwaitServerFlight = 1,
    /// Client: from the end of flight 4 to our flight 5 on the wire. Own work.
    PrepareClientFlight = 2,
    /// Client: from flight 5 to the server's Finished, verified. Network and server.
    AwaitServerFinished = 3,
    /// Server: from the admitted ClientHello to our flight 4 on the wire. Own work.
    PrepareServerFlight = 4,
    /// Server: from flight 4 to the last plaintext message of the client's flight 5. Network and client.
    AwaitClientFlight = 5,
    /// Server: from there to the client's Finished, verified. Own work.
    VerifyClientFlight = 6,
}

impl Phase {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::CookieExchange,
        Self::AwaitServerFlight,
        Self::PrepareClientFlight,
        Self::AwaitServerFinished,
        Self::PrepareServerFlight,
        Self::AwaitClientFlight,
        Self::VerifyClientFlight,
    ];

    /// A short name for tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CookieExchange => "cookie exchange",
            Self::AwaitServerFlight => "await server flight",
            Self::PrepareClientFlight => "prepare client flight",
            Self::AwaitServerFinished => "await server Finished",
            Self::PrepareServerFlight => "prepare server flight",
            Self::AwaitClientFlight => "await client flight",
            Self::VerifyClientFlight => "verify client flight",
        }
    }

    /// Whether this is a client's phase.
    #[must_use]
    pub const fn is_client(self) -> bool {
        (self as u8) < Self::PrepareServerFlight as u8
    }
}

/// What a question is about.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
pub enum Operation {
    /// An ephemeral key pair.
    Generate = 0,
    /// Diffie-Hellman.
    Agree = 1,
    /// A signature.
    Sign = 2,
    /// Verification of a signature.
    Verify = 3,
    /// The decision about the peer, which is not a public-key operation.
    Peer = 4,
}

impl Operation {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 5] = [
        Self::Generate,
        Self::Agree,
        Self::Sign,
        Self::Verify,
        Self::Peer,
    ];

    /// A short name for tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Generate => "generate",
            Self::Agree => "agree",
            Self::Sign => "sign",
            Self::Verify => "verify",
            Self::Peer => "peer",
        }
    }
}

/// Something happened in a handshake.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Mark {
    /// A phase begins, and the one before it ends.
    Phase(Phase),
    /// The server asked for no cookie: what was booked as [`Phase::CookieExchange`] was [`Phase::AwaitServerFlight`].
    NoCookie,
    /// The peer's Finished has verified: the last phase ends.
    Connected,
    /// The handshake is over: the last phase ends.
    Failed(Fatal),
    /// A question was handed out.
    Asked(Operation),
    /// It was answered.
    Answered(Operation),
    /// A datagram was written.
    Sent {
        /// Number of the flight in RFC 6347 figure 1; 0 for an alert.
        flight: u8,
        /// Bytes of UDP payload.
        bytes: u16,
        /// 0 for the first transmission of the flight, 1 for its first retransmission, and so on.
        attempt: u8,
    },
    /// A datagram came in that had something for the handshake.
    Received {
        /// Bytes of UDP payload.
        bytes: u16,
    },
}

/// Called at the boundaries that matter. Every method does nothing by default.
///
/// A tuple of two probes is a probe that tells both.
pub trait Probe {
    /// Something happened in the handshake of this job.
    fn mark(&mut self, job: Job, mark: Mark) {
        let _ = (job, mark);
    }

    /// A record, or a part of one, was dropped (RFC 6347 section 4.1.2.7): for counters.
    fn discarded(&mut self, why: Discard) {
        let _ = why;
    }

    /// An alert was written.
    fn alert_sent(&mut self, alert: AlertDescription) {
        let _ = alert;
    }

    /// An alert came that can end something, authentic or not.
    fn alert_received(&mut self, alert: AlertDescription) {
        let _ = alert;
    }
}

/// The probe that is not there: no bytes, no instructions.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {}

impl<A: Probe, B: Probe> Probe for (A, B) {
    fn mark(&mut self, job: Job, mark: Mark) {
        self.0.mark(job, mark);
        self.1.mark(job, mark);
    }

    fn discarded(&mut self, why: Discard) {
        self.0.discarded(why);
        self.1.discarded(why);
    }

    fn alert_sent(&mut self, alert: AlertDescription) {
        self.0.alert_sent(alert);
        self.1.alert_sent(alert);
    }

    fn alert_received(&mut self, alert: AlertDescription) {
        self.0.alert_received(alert);
        self.1.alert_received(alert);
    }
}

impl<T: Probe + ?Sized> Probe for &mut T {
    fn mark(&mut self, job: Job, mark: Mark) {
        (**self).mark(job, mark);
    }

    fn discarded(&mut self, why: Discard) {
        (**self).discarded(why);
    }

    fn alert_sent(&mut self, alert: AlertDescription) {
        (**self).alert_sent(alert);
    }

    fn alert_received(&mut self, alert: AlertDescription) {
        (**self).alert_received(alert);
    }
}
