//! Self-signed certificates, for peers that know no raw public keys.

use crate::keys::{self, KeyError, PrivateKey};
use core::time::Duration;
use getrandom::SysRng;
use p256::ecdsa::{DerSignature, SigningKey};
use rand_core::TryRng;
use std::fs::OpenOptions;
use std::path::Path;
use x509_cert::Certificate;
use x509_cert::builder::profile::BuilderProfile;
use x509_cert::builder::{self, Builder, CertificateBuilder};
use x509_cert::certificate::TbsCertificate;
use x509_cert::der::EncodePem;
use x509_cert::der::pem::LineEnding;
use x509_cert::ext::pkix::BasicConstraints;
use x509_cert::ext::{Extension, ToExtension};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::{SubjectPublicKeyInfoOwned, SubjectPublicKeyInfoRef};
use x509_cert::time::Validity;

/// Long enough for a pinned key, of which nobody judges the validity.
const VALIDITY: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Writes a self-signed certificate (ECDSA with P-256 and SHA-256) for `common_name` as PEM. A file that exists is left
/// alone.
///
/// # Errors
/// The name cannot be put in a certificate, or the file exists or cannot be written.
pub fn write_self_signed(key: &PrivateKey, common_name: &str, path: &Path) -> Result<(), KeyError> {
    let mut serial = [0; 16];
    SysRng
        .try_fill_bytes(&mut serial)
        .map_err(|_| KeyError::Random)?;
    let pem = build(key, common_name, &serial)
        .and_then(|certificate| Ok(certificate.to_pem(LineEnding::LF)?))
        .map_err(|_| KeyError::Name(common_name.into()))?;
    keys::write_new(OpenOptions::new(), path, pem.as_bytes())
}

fn build(key: &PrivateKey, common_name: &str, serial: &[u8]) -> builder::Result<Certificate> {
    let name: Name = format!("CN={}", escaped(common_name)).parse()?;
    let spki = SubjectPublicKeyInfoOwned::try_from(&key.spki()[..])?;
    CertificateBuilder::new(
        SelfSigned(name),
        SerialNumber::new(serial)?,
        Validity::from_now(VALIDITY)?,
        spki,
    )?
    .build::<_, DerSignature>(&SigningKey::from(&key.0))
}

/// Every byte that could mean something in a distinguished name as `\hex` (RFC 4514 section 2.4).
fn escaped(name: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("\\{byte:02x}"),
    };
    name.bytes().map(escape).collect()
}

/// Just what makes it version 3, which some peers insist on: each extension costs bytes in every handshake, and a peer that
/// pins the key looks at none.
struct SelfSigned(Name);

impl BuilderProfile for SelfSigned {
    fn get_issuer(&self, subject: &Name) -> Name {
        subject.clone()
    }

    fn get_subject(&self) -> Name {
        self.0.clone()
    }

    fn build_extensions(
        &self,
        _: SubjectPublicKeyInfoRef<'_>,
        _: SubjectPublicKeyInfoRef<'_>,
        tbs: &TbsCertificate,
    ) -> builder::Result<Vec<Extension>> {
        let no_issuer = BasicConstraints {
            ca: false,
            path_len_constraint: None,
        };
        Ok(vec![no_issuer.to_extension(tbs.subject(), &[])?])
    }
}
