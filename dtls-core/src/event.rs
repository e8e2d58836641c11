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

/// A record with a ClientHello from an address that has proved nothing. Only a [`CookieGate`](crate::CookieGate) looks
/// into it.
#[derive(Debug)]
pub struct ClientHelloRecord<'d>(pub(crate) Record<'d>);
