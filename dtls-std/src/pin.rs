//! Pins: how a public key is recognised.

use crate::keys::{self, KeyError};
use core::fmt;
use core::str::FromStr;
use sha2::{Digest, Sha256};
use std::path::Path;

/// The SHA-256 of a SubjectPublicKeyInfo in DER: the value of a TLSA record "3 1 1" (RFC 7671 section 5.1). It is the
/// same whether the key comes raw or in a certificate, and written as 64 hexadecimal digits.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Pin(pub [u8; 32]);

impl Pin {
    /// The pin of a SubjectPublicKeyInfo, DER.
    #[must_use]
    pub fn of(spki: &[u8]) -> Self {
        Self(Sha256::digest(spki).into())
    }

    /// The pin of the key in a PEM file: a public key (`PUBLIC KEY`) or the first certificate (`CERTIFICATE`).
    ///
    /// # Errors
    /// The file cannot be read, or holds neither.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        keys::read_spki(path).map(|spki| Self::of(&spki))
    }

    /// What a person writes for a pin: the 64 digits, or the name of a file to [`read`](Self::read).
    ///
    /// # Errors
    /// It is not 64 hexadecimal digits, and no file with a key either.
    pub fn from_digits_or_file(text: &str) -> Result<Self, KeyError> {
        let path = Path::new(text);
        match text.parse() {
            Ok(pin) => Ok(pin),
            Err(NotAPin) if !path.exists() => Err(KeyError::NotAPin(text.into())),
            Err(NotAPin) => Self::read(path),
        }
    }
}

/// The text is not 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a pin is 64 hexadecimal digits")]
pub struct NotAPin;

impl FromStr for Pin {
    type Err = NotAPin;

    fn from_str(text: &str) -> Result<Self, NotAPin> {
        let mut digest = [0; 32];
        match base16ct::mixed::decode(text, &mut digest).map(<[u8]>::len) {
            Ok(32) => Ok(Self(digest)),
            _ => Err(NotAPin),
        }
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", base16ct::HexDisplay(&self.0))
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pin({self})")
    }
}
