//! Certificate and CertificateRequest (RFC 5246 sections 7.4.2 and 7.4.4, RFC 7250 section 3), and the public keys in them.

use super::ECDSA_SHA256;
use super::{Malformed, Reader, Sink, key_exchange, prefixed};
use crate::config::Credential;
use crate::crypto::Point;
use der::oid::ObjectIdentifier;
use der::{Decode as _, Reader as _, SliceReader, TagNumber};
use spki::SubjectPublicKeyInfoRef;

/// ecdsa_sign as `ClientCertificateType` (RFC 8422 section 5.5).
const ECDSA_SIGN: u8 = 64;
const EC_PUBLIC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const PRIME256V1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");

/// Puts the body of a Certificate message; without a credential, an empty one, which looks the same for all types.
pub(crate) fn put(sink: &mut dyn Sink, credential: Option<&Credential<'_>>) {
    match credential {
        None => sink.put(&[0; 3]),
        // RFC 7250 section 3: in TLS 1.2 the SubjectPublicKeyInfo stands alone, with no list around it.
        Some(Credential::RawPublicKey { spki, .. }) => prefixed(sink, 3, &|sink| sink.put(spki)),
        Some(Credential::Certificates { chain, .. }) => prefixed(sink, 3, &|sink| {
            for certificate in *chain {
                prefixed(sink, 3, &|sink| sink.put(certificate));
            }
        }),
    }
}

/// The SubjectPublicKeyInfo in a raw-public-key Certificate message; `None` if the peer shows nothing.
pub(crate) fn parse_raw(body: &[u8]) -> Result<Option<&[u8]>, Malformed> {
    let mut reader = Reader::new(body);
    let spki = reader.vec24()?;
    reader.finish()?;
    Ok(Some(spki).filter(|spki| !spki.is_empty()))
}

/// The leaf in an X.509 Certificate message; `None` if the list is empty. All of the list is checked for its shape.
pub(crate) fn parse_x509(body: &[u8]) -> Result<Option<&[u8]>, Malformed> {
    let mut reader = Reader::new(body);
    let mut list = Reader::new(reader.vec24()?);
    reader.finish()?;
    let mut leaf = None;
    while !list.is_empty() {
        let certificate = list.vec24()?;
        leaf = leaf.or(Some(certificate));
        if certificate.is_empty() {
            return Err(Malformed);
        }
    }
    Ok(leaf)
}

/// The SubjectPublicKeyInfo of an X.509 certificate (RFC 5280 section 4.1), as it stands there.
pub(crate) fn spki_of(certificate: &[u8]) -> Result<&[u8], Malformed> {
    let spki = |certificate| -> der::Result<&[u8]> {
        let mut reader = SliceReader::new(certificate)?;
        let spki = reader.sequence(|certificate| {
            let spki = certificate.sequence(|tbs| {
                // version, which is absent in version 1
                tbs.context_specific::<u8>(TagNumber(0), der::TagMode::Explicit)?;
                for _skipped in ["serialNumber", "signature", "issuer", "validity", "subject"] {
                    tbs.tlv_bytes()?;
                }
                let spki = tbs.tlv_bytes()?;
                tbs.drain(tbs.remaining_len())?; // unique identifiers, extensions
                der::Result::Ok(spki)
            })?;
            certificate.tlv_bytes()?; // signatureAlgorithm
            certificate.tlv_bytes()?; // signature
            der::Result::Ok(spki)
        })?;
        reader.finish()?;
        Ok(spki)
    };
    spki(certificate).map_err(|_| Malformed)
}

/// The P-256 public key in a SubjectPublicKeyInfo (RFC 5480 section 2); `None` if it is another kind of key, or compressed
/// (RFC 7925 section 4.4: uncompressed only).
pub(crate) fn point_of(spki: &[u8]) -> Result<Option<&Point>, Malformed> {
    let info = SubjectPublicKeyInfoRef::from_der(spki).map_err(|_| Malformed)?;
    let is_p256 = info.algorithm.oid == EC_PUBLIC_KEY
        && info
            .algorithm
            .parameters_oid()
            .is_ok_and(|curve| curve == PRIME256V1);
    let key = info.subject_public_key.as_bytes().filter(|_| is_p256);
    Ok(key.and_then(key_exchange::uncompressed))
}

/// Puts a CertificateRequest: ECDSA with SHA-256, any authority.
pub(crate) fn put_request(sink: &mut dyn Sink) {
    sink.put(&[1, ECDSA_SIGN]);
    prefixed(sink, 2, &|sink| sink.put_u16(ECDSA_SHA256));
    sink.put_u16(0);
}

/// Whether a CertificateRequest takes ECDSA with SHA-256.
pub(crate) fn parse_request(body: &[u8]) -> Result<bool, Malformed> {
    let mut reader = Reader::new(body);
    let (types, algorithms) = (reader.vec8()?, reader.list16()?);
    let mut authorities = Reader::new(reader.vec16()?);
    reader.finish()?;
    while !authorities.is_empty() {
        authorities.vec16()?;
    }
    if types.is_empty() {
        return Err(Malformed);
    }
    Ok(types.contains(&ECDSA_SIGN) && super::contains_u16(algorithms, ECDSA_SHA256))
}
