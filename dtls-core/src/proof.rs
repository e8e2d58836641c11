//! Proofs as values. An association is made of them, so no path through the code can leave one out.

use crate::crypto::PkResponse;
use crate::error::Fatal;
use crate::platform::PeerId;

/// The caller has accepted what the peer showed.
pub(crate) struct PeerVerified {
    id: PeerId,
    /// It showed nothing.
    anonymous: bool,
}

impl PeerVerified {
    /// The caller's handle for the peer.
    pub(crate) const fn id(&self) -> PeerId {
        self.id
    }

    /// From the caller's answer about a peer that showed something.
    pub(crate) fn shown(answer: Option<PeerId>, refused: Fatal) -> Result<Self, Fatal> {
        answer
            .map(|id| Self {
                id,
                anonymous: false,
            })
            .ok_or(refused)
    }

    /// From the caller's answer about an anonymous client.
    pub(crate) fn anonymous(answer: Option<PeerId>) -> Result<Self, Fatal> {
        answer
            .map(|id| Self {
                id,
                anonymous: true,
            })
            .ok_or(Fatal::PeerRefused)
    }
}

/// The peer holds the private key of what it showed.
pub(crate) struct SignatureVerified(());

impl SignatureVerified {
    /// From the engine's answer to a request to verify.
    pub(crate) fn by_engine(response: &PkResponse) -> Result<Self, Fatal> {
        match response {
            PkResponse::Verified => Ok(Self(())),
            _ => Err(Fatal::Crypto),
        }
    }

    /// Nothing was shown, so there is nothing to hold a key of.
    pub(crate) const fn of_nobody(peer: &PeerVerified) -> Option<Self> {
        if peer.anonymous { Some(Self(())) } else { None }
    }
}

/// The peer's Finished is right: both sides saw the same handshake.
pub(crate) struct FinishedVerified(());

impl FinishedVerified {
    /// Compares in constant time.
    pub(crate) fn new(expected: &[u8; 12], shown: &[u8]) -> Result<Self, Fatal> {
        use subtle::ConstantTimeEq;
        let shown: &[u8; 12] = shown.try_into().map_err(|_| Fatal::Decode)?;
        if bool::from(expected.ct_eq(shown)) {
            Ok(Self(()))
        } else {
            Err(Fatal::BadFinished)
        }
    }
}
