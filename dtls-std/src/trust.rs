//! Who is let in.

use crate::pin::Pin;
use dtls_core::PeerIdentity;
use std::collections::BTreeSet;

/// The peers that are accepted. There is no default: each way to be accepted is named.
#[derive(Clone, Debug)]
pub struct Trust {
    keys: Keys,
    anonymous: bool,
}

#[derive(Clone, Debug)]
enum Keys {
    Pinned(BTreeSet<Pin>),
    Any,
}

impl Trust {
    /// The holders of these keys, and nobody else. No pins: nobody.
    pub fn pins(pins: impl IntoIterator<Item = Pin>) -> Self {
        Self {
            keys: Keys::Pinned(pins.into_iter().collect()),
            anonymous: false,
        }
    }

    /// Whoever proves that it holds the key it shows, whatever key that is. This protects from listening only, not from
    /// a man in the middle: for tests, and for servers that recognise their clients by other means.
    #[must_use]
    pub const fn insecure_accept_anyone() -> Self {
        Self {
            keys: Keys::Any,
            anonymous: false,
        }
    }

    /// Also clients that show no key at all.
    #[must_use]
    pub fn and_anonymous(mut self) -> Self {
        self.anonymous = true;
        self
    }

    /// Whether this peer is accepted.
    #[must_use]
    pub fn accepts(&self, identity: PeerIdentity<'_>) -> bool {
        match (identity.spki(), &self.keys) {
            (None, _) => self.anonymous,
            (Some(spki), Keys::Pinned(pins)) => pins.contains(&Pin::of(spki)),
            (Some(_), Keys::Any) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: PeerIdentity<'_> = PeerIdentity::RawPublicKey(b"a key");
    const SAME_KEY: PeerIdentity<'_> = PeerIdentity::Certificate {
        leaf: b"a certificate",
        spki: b"a key",
    };
    const OTHER: PeerIdentity<'_> = PeerIdentity::RawPublicKey(b"another key");

    #[test]
    fn only_what_was_named_is_accepted() {
        let accepted = |trust: Trust| {
            [RAW, SAME_KEY, OTHER, PeerIdentity::Anonymous].map(|peer| trust.accepts(peer))
        };
        let pins = || Trust::pins([Pin::of(b"a key")]);
        assert_eq!(accepted(Trust::pins([])), [false, false, false, false]);
        assert_eq!(accepted(pins()), [true, true, false, false]);
        assert_eq!(accepted(pins().and_anonymous()), [true, true, false, true]);
        let anyone = Trust::insecure_accept_anyone;
        assert_eq!(accepted(anyone()), [true, true, true, false]);
        assert_eq!(accepted(anyone().and_anonymous()), [true, true, true, true]);
    }
}
