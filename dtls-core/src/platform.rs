//! What the state machine needs from outside, and the questions it asks.

use crate::crypto::{CryptoError, PkRequest, PkResponse, Symmetric};
use crate::probe::{NoProbe, Operation, Probe};
use core::fmt;
use rand_core::TryCryptoRng;

/// Everything fast that is needed from outside, lent for the length of one call. One value serves all peers, so that
/// exclusive hardware (one AES unit, one random number generator) is owned once.
///
/// [`Parts`] is an implementation put together from three values.
pub trait Platform {
    /// Hash, HMAC and the authenticated ciphers.
    type Symmetric: Symmetric;
    /// Random numbers. A failure ends the handshake; it never becomes zeros.
    type Rng: TryCryptoRng + ?Sized;
    /// Hooks for time, energy and counters; [`NoProbe`] for none.
    type Probe: Probe + ?Sized;

    /// The fast primitives.
    fn symmetric(&mut self) -> &mut Self::Symmetric;
    /// The random numbers.
    fn rng(&mut self) -> &mut Self::Rng;
    /// The hooks.
    fn probe(&mut self) -> &mut Self::Probe;

    /// A master secret was computed: the moment to write a key log, with which a capture can be decrypted. Does nothing
    /// by default; the core itself forgets the master secret when the handshake is over.
    fn key_log(&mut self, client_random: &[u8; 32], master_secret: &[u8; 48]) {
        let _ = (client_random, master_secret);
    }
}

/// A [`Platform`] made of parts, without a key log.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts<S, R, B = NoProbe> {
    /// The fast primitives.
    pub symmetric: S,
    /// The random numbers.
    pub rng: R,
    /// The hooks.
    pub probe: B,
}

impl<S: Symmetric, R: TryCryptoRng, B: Probe> Platform for Parts<S, R, B> {
    type Symmetric = S;
    type Rng = R;
    type Probe = B;

    fn symmetric(&mut self) -> &mut S {
        &mut self.symmetric
    }

    fn rng(&mut self) -> &mut R {
        &mut self.rng
    }

    fn probe(&mut self) -> &mut B {
        &mut self.probe
    }
}

/// The caller's own handle for a peer, such as an index into its access list. It stays with the association.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct PeerId(pub u32);

/// What a peer showed. That it holds the private key is proven separately, before `Connected`.
#[derive(Clone, Copy, Eq, PartialEq)]
#[non_exhaustive]
pub enum PeerIdentity<'a> {
    /// Nothing: a client that was not asked, or one that had nothing to show to a server that does not insist.
    /// Accepting it is as explicit as accepting a key.
    Anonymous,
    /// A raw public key: its SubjectPublicKeyInfo, DER (RFC 7250 section 3).
    RawPublicKey(&'a [u8]),
    /// An X.509 certificate, of which only the syntax was checked: compare the key with a pin.
    Certificate {
        /// The leaf certificate, DER.
        leaf: &'a [u8],
        /// The leaf's SubjectPublicKeyInfo, DER.
        spki: &'a [u8],
    },
}

impl<'a> PeerIdentity<'a> {
    /// The SubjectPublicKeyInfo (DER) that a pin is compared with; `None` if the peer showed nothing.
    #[must_use]
    pub const fn spki(&self) -> Option<&'a [u8]> {
        match self {
            Self::Anonymous => None,
            Self::RawPublicKey(spki) | Self::Certificate { spki, .. } => Some(spki),
        }
    }
}

impl fmt::Debug for PeerIdentity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anonymous => f.write_str("Anonymous"),
            Self::RawPublicKey(spki) => write!(f, "RawPublicKey({} bytes)", spki.len()),
            Self::Certificate { leaf, .. } => write!(f, "Certificate({} bytes)", leaf.len()),
        }
    }
}

/// A question of the handshake to its caller. Nothing stays borrowed while it is open: answer at once, or keep the
/// [`Job`](crate::Job) and answer later; meanwhile no retransmission timer runs.
#[derive(Debug)]
#[non_exhaustive]
pub enum Question<'a> {
    /// Please compute.
    PublicKey(PkRequest),
    /// Who is this, and may they come in?
    Peer(PeerIdentity<'a>),
}

impl Question<'_> {
    /// Its kind, as probes are told.
    #[must_use]
    pub const fn operation(&self) -> Operation {
        match self {
            Self::PublicKey(PkRequest::Generate) => Operation::Generate,
            Self::PublicKey(PkRequest::Agree(..)) => Operation::Agree,
            Self::PublicKey(PkRequest::Sign(..)) => Operation::Sign,
            Self::PublicKey(PkRequest::Verify(..)) => Operation::Verify,
            Self::Peer(_) => Operation::Peer,
        }
    }
}

/// The answer to a [`Question`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Answer {
    /// What the engine says.
    PublicKey(Result<PkResponse, CryptoError>),
    /// The handle of an accepted peer; `None` refuses it, with the alert that suits its credential.
    Peer(Option<PeerId>),
}
