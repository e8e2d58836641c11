//! Who we are.

use crate::keys::{self, KeyError, PrivateKey, Spki};
use crate::pin::Pin;
use dtls_core::crypto::rustcrypto::{SigningKey, SoftEngine};
use dtls_core::{Credential, KeyId};
use std::path::Path;

/// A private key and how it is shown to the peer: as a raw public key or, if there are certificates, in these.
pub struct Identity {
    keys: [SigningKey; 1],
    spki: Spki,
    chain: Vec<Vec<u8>>,
}

impl Identity {
    /// Shows the raw public key (RFC 7250).
    #[must_use]
    pub fn raw(key: &PrivateKey) -> Self {
        Self {
            keys: [key.signing_key()],
            spki: key.spki(),
            chain: Vec::new(),
        }
    }

    /// Reads key and, if named, certificates (the leaf first) from PEM files.
    ///
    /// # Errors
    /// A file is of no use, or the first certificate does not belong to the key.
    pub fn read(key: &Path, certificates: Option<&Path>) -> Result<Self, KeyError> {
        let mut identity = Self::raw(&PrivateKey::read(key)?);
        if let Some(path) = certificates {
            let (chain, spki) = keys::read_chain(path)?;
            if spki != identity.spki {
                return Err(KeyError::ForeignCertificate(Pin::of(&spki)));
            }
            identity.chain = chain;
        }
        Ok(identity)
    }

    /// The pin by which peers recognise us.
    #[must_use]
    pub fn pin(&self) -> Pin {
        Pin::of(&self.spki)
    }

    pub(crate) const fn engine(&self) -> SoftEngine<'_> {
        SoftEngine { keys: &self.keys }
    }

    /// Lends the credentials, in the order of preference: with certificates, the raw public key is for peers that want
    /// nothing else.
    pub(crate) fn lend<T>(&self, borrow: impl FnOnce(&[Credential<'_>]) -> T) -> T {
        let key = KeyId(0);
        let raw = Credential::RawPublicKey {
            spki: &self.spki,
            key,
        };
        let chain: Vec<&[u8]> = self.chain.iter().map(Vec::as_slice).collect();
        let certificates = Credential::Certificates { chain: &chain, key };
        match chain.is_empty() {
            true => borrow(&[raw]),
            false => borrow(&[certificates, raw]),
        }
    }
}
