//! Key files: PEM (RFC 7468), P-256 only.

use crate::pin::Pin;
use dtls_core::Secret;
use dtls_core::crypto::rustcrypto::SigningKey;
use getrandom::SysRng;
use p256::pkcs8::{
    DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey, LineEnding,
};
use p256::{PublicKey, SecretKey};
use rustls_pki_types::pem::{Error as PemError, PemObject, SectionKind};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};
use zeroize::Zeroizing;

/// SubjectPublicKeyInfo of an uncompressed P-256 key, DER (RFC 5480 section 2).
pub type Spki = [u8; 91];

/// Why a key file is of no use.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A PEM block is damaged.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// No PEM block of the kind that is needed.
    #[error("{} holds no PEM block \"{wanted}\"", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The labels that would do.
        wanted: &'static str,
    },
    /// The private key is encrypted.
    #[error("{} is encrypted; decrypt it with `openssl pkey -in FILE -out FILE.key`", .0.display())]
    Encrypted(PathBuf),
    /// A key of another kind.
    #[error("{} is not a P-256 key; make one with `dtls keygen`", .0.display())]
    NotP256(PathBuf),
    /// The block labelled as a certificate is none.
    #[error("{} holds a CERTIFICATE that cannot be parsed", .0.display())]
    NotACertificate(PathBuf),
    /// The certificate was made for another key.
    #[error("the first certificate does not belong to the private key; its key has the pin {0}")]
    ForeignCertificate(Pin),
    /// Neither a pin nor a file.
    #[error(
        "\"{0}\" is neither a file nor a pin, the 64 hexadecimal digits that `dtls keygen` prints"
    )]
    NotAPin(String),
    /// A certificate could not be made for this name.
    #[error("cannot make a certificate for the name \"{0}\"")]
    Name(String),
    /// The operating system has no random numbers.
    #[error("the system gives no random numbers")]
    Random,
}

/// A P-256 private key. Erased on drop, never shown.
#[derive(Clone)]
pub struct PrivateKey(pub(crate) SecretKey);

impl PrivateKey {
    /// A new key from the randomness of the operating system.
    ///
    /// # Errors
    /// [`KeyError::Random`].
    pub fn generate() -> Result<Self, KeyError> {
        use p256::elliptic_curve::Generate;
        SecretKey::try_generate_from_rng(&mut SysRng)
            .map(Self)
            .map_err(|_| KeyError::Random)
    }

    /// The first private key in a PEM file: PKCS#8 (`PRIVATE KEY`) or SEC1 (`EC PRIVATE KEY`).
    ///
    /// # Errors
    /// The file cannot be read, holds no such key, or one that is encrypted or not on P-256.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let pem = Zeroizing::new(read(path)?);
        let (kind, der) = section(path, &pem, |kind| {
            matches!(kind, SectionKind::PrivateKey | SectionKind::EcPrivateKey)
        })?
        .ok_or_else(|| match contains(&pem, b"ENCRYPTED") {
            true => KeyError::Encrypted(path.into()),
            false => KeyError::Missing {
                path: path.into(),
                wanted: "PRIVATE KEY",
            },
        })?;
        let der = Zeroizing::new(der);
        let key = match kind {
            SectionKind::EcPrivateKey => SecretKey::from_sec1_der(&der).ok(),
            _ => SecretKey::from_pkcs8_der(&der).ok(),
        };
        key.map(Self).ok_or_else(|| KeyError::NotP256(path.into()))
    }

    /// Writes the key as PKCS#8 PEM, for the owner's eyes only. A file that exists is left alone.
    ///
    /// # Errors
    /// The file exists or cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), KeyError> {
        let pem = self.0.to_pkcs8_pem(LineEnding::LF);
        let pem = pem.map_err(|_| KeyError::NotP256(path.into()))?;
        let mut options = OpenOptions::new();
        for_the_owner_only(&mut options);
        write_new(options, path, pem.as_bytes())
    }

    /// Writes the public key as SubjectPublicKeyInfo PEM. A file that exists is left alone.
    ///
    /// # Errors
    /// The file exists or cannot be written.
    pub fn write_public(&self, path: &Path) -> Result<(), KeyError> {
        let pem = self.0.public_key().to_public_key_pem(LineEnding::LF);
        let pem = pem.map_err(|_| KeyError::NotP256(path.into()))?;
        write_new(OpenOptions::new(), path, pem.as_bytes())
    }

    /// The public key's SubjectPublicKeyInfo.
    #[must_use]
    pub fn spki(&self) -> Spki {
        encode(&self.0.public_key())
    }

    /// The key as the engine wants it.
    pub(crate) fn signing_key(&self) -> SigningKey {
        let scalar = Secret(self.0.to_bytes().into());
        SigningKey::from_scalar(&scalar.0)
            .expect("a secret key is a scalar between 0 and the order")
    }

    /// The public key's pin.
    #[must_use]
    pub fn pin(&self) -> Pin {
        Pin::of(&self.spki())
    }
}

/// The public key in a PEM file: `PUBLIC KEY`, or that of the first `CERTIFICATE`.
pub(crate) fn read_spki(path: &Path) -> Result<Spki, KeyError> {
    let pem = read(path)?;
    let found = section(path, &pem, |kind| {
        matches!(kind, SectionKind::PublicKey | SectionKind::Certificate)
    })?;
    match found {
        None => Err(KeyError::Missing {
            path: path.into(),
            wanted: "PUBLIC KEY\" or \"CERTIFICATE",
        }),
        Some((SectionKind::Certificate, der)) => certified_spki(path, &der),
        Some((_, der)) => canonical(path, &der),
    }
}

/// The certificates in a PEM file, DER, in their order in the file, and the public key of the first.
pub(crate) fn read_chain(path: &Path) -> Result<(Vec<Vec<u8>>, Spki), KeyError> {
    let pem = read(path)?;
    let chain: Vec<Vec<u8>> = sections(&pem)
        .filter_map(|found| match found {
            Ok((kind, der)) => (kind == SectionKind::Certificate).then_some(Ok(der)),
            Err(error) => Some(Err(damaged(path, &error))),
        })
        .collect::<Result<_, _>>()?;
    let leaf = chain.first().ok_or_else(|| KeyError::Missing {
        path: path.into(),
        wanted: "CERTIFICATE",
    })?;
    let spki = certified_spki(path, leaf)?;
    Ok((chain, spki))
}

/// The public key of a certificate, DER.
fn certified_spki(path: &Path, certificate: &[u8]) -> Result<Spki, KeyError> {
    let spki = Certificate::from_der(certificate)
        .and_then(|certificate| {
            let certificate = certificate.tbs_certificate();
            certificate.subject_public_key_info().to_der()
        })
        .map_err(|_| KeyError::NotACertificate(path.into()))?;
    canonical(path, &spki)
}

/// Brings a key into the one form that is allowed on the wire, with an uncompressed point (RFC 8422 section 5.1.1).
fn canonical(path: &Path, spki: &[u8]) -> Result<Spki, KeyError> {
    PublicKey::from_public_key_der(spki)
        .map(|key| encode(&key))
        .map_err(|_| KeyError::NotP256(path.into()))
}

fn encode(key: &PublicKey) -> Spki {
    let der = key.to_public_key_der();
    let spki = der.ok().and_then(|der| der.as_bytes().try_into().ok());
    spki.expect("the encoding of a P-256 key has 91 bytes")
}

fn read(path: &Path) -> Result<Vec<u8>, KeyError> {
    fs::read(path).map_err(|source| KeyError::Unreadable {
        path: path.into(),
        source,
    })
}

type Section = (SectionKind, Vec<u8>);

fn sections(pem: &[u8]) -> impl Iterator<Item = Result<Section, PemError>> {
    Section::pem_slice_iter(pem)
}

/// The first section of the kinds wanted; others, such as `EC PARAMETERS`, are skipped.
fn section(
    path: &Path,
    pem: &[u8],
    wanted: fn(&SectionKind) -> bool,
) -> Result<Option<Section>, KeyError> {
    sections(pem)
        .find(|found| found.as_ref().map_or(true, |(kind, _)| wanted(kind)))
        .transpose()
        .map_err(|error| damaged(path, &error))
}

fn damaged(path: &Path, error: &PemError) -> KeyError {
    KeyError::Damaged {
        path: path.into(),
        what: error.to_string(),
    }
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

/// Keys are not overwritten: what was lost with them could not be had back.
pub(crate) fn write_new(
    mut options: OpenOptions,
    path: &Path,
    content: &[u8],
) -> Result<(), KeyError> {
    options
        .write(true)
        .create_new(true)
        .open(path)
        .and_then(|mut file| file.write_all(content))
        .map_err(|source| KeyError::Unwritable {
            path: path.into(),
            source,
        })
}

/// A file that these options create is readable for its owner only, where the system knows owners.
pub(crate) fn for_the_owner_only(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _ = options;
}
