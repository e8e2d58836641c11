//! The cryptography the protocol needs, as traits and plain values. Only `rustcrypto` names a crypto crate.

pub(crate) mod prf;
#[cfg(feature = "rustcrypto")]
pub mod rustcrypto;

use core::fmt;
use zeroize::Zeroize;

/// Output of SHA-256.
pub type Digest = [u8; 32];
/// A point on P-256, uncompressed: `4 || x || y` (RFC 8422 section 5.4.1). Not validated until an engine uses it.
pub type Point = [u8; 65];
/// An ECDSA signature, `r || s`, 32 bytes each, big endian.
pub type Signature = [u8; 64];

/// An authenticated cipher, as a cipher suite names it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
#[non_exhaustive]
pub enum Aead {
    /// AES-128-CCM with a tag of 8 bytes (RFC 6655 section 3).
    Aes128Ccm8 = 1,
}

impl Aead {
    /// Bytes of the authentication tag.
    #[must_use]
    pub const fn tag_len(self) -> usize {
        match self {
            Self::Aes128Ccm8 => 8,
        }
    }
}

/// The fast primitives, called inline.
///
/// # For implementers
/// Keys come raw with every call, because an association keeps no key schedules (a table of thousands could not afford
/// them). A backend whose key schedule is slow may remember the last ones; one with a hardware unit just loads the key.
pub trait Symmetric {
    /// A running SHA-256; cloned to look at the transcript in between.
    type Hash: Clone;

    /// Starts a SHA-256.
    fn hash(&mut self) -> Self::Hash;
    /// Feeds it.
    fn update(&mut self, hash: &mut Self::Hash, data: &[u8]);
    /// Ends it.
    fn finish(&mut self, hash: Self::Hash) -> Digest;

    /// HMAC-SHA-256 over the concatenation of `parts`; the key may have any length.
    fn hmac(&mut self, key: &[u8], parts: &[&[u8]]) -> Digest;

    /// Encrypts `message` in place and writes the tag. `nonce` is `salt || explicit part` (RFC 5288 section 3).
    ///
    /// # Errors
    /// [`CryptoError::Failed`] if the cipher is not there or the hardware failed; then `message` must not be sent.
    fn seal(
        &mut self,
        aead: Aead,
        key: &[u8; 16],
        nonce: &[u8; 12],
        aad: &[u8],
        message: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), CryptoError>;

    /// Decrypts `message` in place.
    ///
    /// # Errors
    /// [`CryptoError::Invalid`] if the tag is wrong. That may destroy `message`: no record is tried under a second key.
    fn open(
        &mut self,
        aead: Aead,
        key: &[u8; 16],
        nonce: &[u8; 12],
        aad: &[u8],
        message: &mut [u8],
        tag: &[u8],
    ) -> Result<(), CryptoError>;
}

/// Why an operation gave no result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CryptoError {
    /// A wrong tag, signature or point: the peer's fault.
    Invalid,
    /// The hardware, the engine or its random source failed, or the key is not there: ours.
    Failed,
}

impl fmt::Display for CryptoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Invalid => "the peer's value is wrong",
            Self::Failed => "the local cryptography failed",
        })
    }
}

impl core::error::Error for CryptoError {}

/// 32 secret bytes: a private scalar, a shared x coordinate. Erased on drop, never shown.
pub struct Secret(pub [u8; 32]);

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Names a long-term private key that the engine holds (in flash, a secure element, a key store).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct KeyId(pub u16);

/// Ties a question to the handshake that asked it; an answer to a handshake that is gone is ignored.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Job {
    /// The number of the workspace, see [`Workspace::set_slot`](crate::Workspace::set_slot).
    ///
    /// An engine that keeps ephemeral keys inside keeps this job's under this number: the next handshake in the same
    /// workspace overwrites it, so that an abandoned handshake leaks no hardware slot and needs no clean-up call.
    pub slot: u16,
    /// How many handshakes the workspace has seen, modulo 65536.
    pub generation: u16,
}

/// An operation on P-256 that takes milliseconds to seconds. It is I/O: the state machine asks, the caller answers.
///
/// Owned, so that it can travel to another thread, core or chip.
#[derive(Debug)]
#[non_exhaustive]
pub enum PkRequest {
    /// Make an ephemeral key pair, a new one each time (RFC 7925 section 9).
    Generate,
    /// Diffie-Hellman between the ephemeral key (`None`: it stayed in the engine, under the job's slot) and the peer's
    /// point, which the engine has to validate (RFC 8422 section 5.11).
    Agree(Option<Secret>, Point),
    /// Sign a SHA-256 digest with a long-term key.
    Sign(KeyId, Digest),
    /// Verify a signature of a digest under the peer's public key, which the engine has to validate.
    Verify(Point, Digest, Signature),
}

/// The answers, in the order of the requests.
#[derive(Debug)]
#[non_exhaustive]
pub enum PkResponse {
    /// The key pair; no private key if it stays in the engine, under the job's slot.
    Generated(Option<Secret>, Point),
    /// The x coordinate of the shared point.
    Agreed(Secret),
    /// The signature.
    Signed(Signature),
    /// The signature is right. A wrong one is [`CryptoError::Invalid`].
    Verified,
}
