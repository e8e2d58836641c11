//! Why something from the network was dropped.

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
