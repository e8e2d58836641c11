//! What the caller is told.

use crate::alert::AlertDescription;
use crate::platform::PeerId;
use crate::record::Record;

/// Something the caller must know of.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'d> {
    /// Both Finished have verified; this is the peer that the caller accepted.
    Connected(PeerId),
    /// Decrypted payload: a slice of the caller's own datagram.
    ApplicationData(&'d mut [u8]),
    /// Three quarters of a [limit](crate::Limits), or of the sequence numbers, are used up: time for a new handshake. Said
    /// once.
    RehandshakeDue,
    /// The [limit](crate::Limits) of forged records is reached: the association is over.
    TooManyForgeries,
    /// The peer ended the association, with `close_notify` or a fatal alert.
    Closed(AlertDescription),
    /// A fatal alert came in plaintext, and so perhaps not from the peer. The handshake goes on until the deadline of its
    /// flight, see [`Config::trust_plaintext_alerts`](crate::Config::trust_plaintext_alerts).
    PlaintextAlert(AlertDescription),
    /// A ClientHello that belongs to nothing that is there: ask the [`CookieGate`](crate::CookieGate).
    Stranger(ClientHelloRecord<'d>),
}

/// Why a record, or a part of one, was dropped.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
#[non_exhaustive]
pub enum Discard {
    /// Header or length made no sense.
    Malformed = 0,
    /// Seen already, or too old for the replay window.
    Replayed = 1,
    /// The authentication tag did not verify.
    BadMac = 2,
    /// It came before it could be used, and there was no reason or room to keep it.
    Early = 3,
    /// The peer repeats a flight that has done its work.
    Repeated = 4,
    /// It is not expected in this state.
    Unexpected = 5,
    /// A handshake message that the workspace has no room for.
    TooLarge = 6,
    /// A ClientHello without a valid cookie.
    BadCookie = 7,
}

impl Discard {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Malformed,
        Self::Replayed,
        Self::BadMac,
        Self::Early,
        Self::Repeated,
        Self::Unexpected,
        Self::TooLarge,
        Self::BadCookie,
    ];

    /// A short name for tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Replayed => "replayed",
            Self::BadMac => "bad MAC",
            Self::Early => "early",
            Self::Repeated => "repeated",
            Self::Unexpected => "unexpected",
            Self::TooLarge => "too large",
            Self::BadCookie => "bad cookie",
        }
    }
}

/// A record with a ClientHello from an address that has proved nothing. Only a [`CookieGate`](crate::CookieGate) looks
/// into it.
#[derive(Debug)]
pub struct ClientHelloRecord<'d>(pub(crate) Record<'d>);
