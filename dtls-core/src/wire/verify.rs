//! CertificateVerify (RFC 5246 section 7.4.8) and the encoding of ECDSA signatures (RFC 8422 section 5.4).

use super::ECDSA_SHA256;
use super::Reader;
use super::{Malformed, Sink, prefixed};
use crate::crypto::Signature;
use der::asn1::UintRef;
use der::{Reader as _, SliceReader};

/// The signature algorithm and the signature of a CertificateVerify.
pub(crate) fn parse_certificate_verify(body: &[u8]) -> Result<(u16, &[u8]), Malformed> {
    let mut reader = Reader::new(body);
    let parts = (reader.u16()?, reader.vec16()?);
    reader.finish()?;
    Ok(parts)
}

/// Puts a CertificateVerify.
pub(crate) fn put_certificate_verify(sink: &mut dyn Sink, signature: &Signature) {
    sink.put_u16(ECDSA_SHA256);
    prefixed(sink, 2, &|sink| put_signature(sink, signature));
}

/// `r || s` of an `Ecdsa-Sig-Value`. Their range is the engine's business.
pub(crate) fn parse_signature(bytes: &[u8]) -> Result<Signature, Malformed> {
    let mut reader = SliceReader::new(bytes).map_err(|_| Malformed)?;
    let integers: Result<[UintRef<'_>; 2], der::Error> =
        reader.sequence(|reader| Ok([reader.decode()?, reader.decode()?]));
    let integers = integers.map_err(|_| Malformed)?;
    reader.finish().map_err(|_| Malformed)?;
    let mut signature = [0; 64];
    for (half, integer) in signature.chunks_exact_mut(32).zip(integers) {
        let digits = integer.as_bytes();
        let zeros = half.len().checked_sub(digits.len()).ok_or(Malformed)?;
        half.get_mut(zeros..)
            .ok_or(Malformed)?
            .copy_from_slice(digits);
    }
    Ok(signature)
}

/// Puts an `Ecdsa-Sig-Value`: a SEQUENCE of two INTEGERs, DER, 8 to 72 bytes.
pub(crate) fn put_signature(sink: &mut dyn Sink, signature: &Signature) {
    sink.put_u8(0x30);
    prefixed(sink, 1, &|sink| {
        for half in signature.chunks_exact(32) {
            let zeros = half.iter().take(31).take_while(|byte| **byte == 0).count();
            let digits = half.get(zeros..).unwrap_or_default();
            // DER integers are signed: a leading one bit needs a zero byte in front.
            let looks_negative = digits.first().is_some_and(|byte| byte & 0x80 != 0);
            sink.put_u8(0x02);
            prefixed(sink, 1, &|sink| {
                sink.put(if looks_negative { &[0] } else { &[] });
                sink.put(digits);
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Window, length};

    /// RFC 8422 section 5.4: short and long integers, and those with the high bit set, survive the round trip.
    #[test]
    fn signatures_round_trip() {
        for (r, s) in [(0x01, 0xff), (0x7f, 0x80), (0xff, 0x00), (0x00, 0x00)] {
            for zeros in 0..32 {
                let mut signature = [0x55; 64];
                signature[..zeros].fill(0);
                (signature[zeros], signature[32]) = (r, s);
                let n = length(&|sink| put_signature(sink, &signature));
                let mut der = [0; 72];
                put_signature(&mut Window::new(0, &mut der), &signature);
                assert_eq!(parse_signature(&der[..n]), Ok(signature));
            }
        }
    }

    /// RFC 5246 section 7.2.2: what is no DER signature is a decode_error.
    #[test]
    fn malformed_signatures() {
        for bytes in [
            &[][..],
            &[0x30, 0x00],
            &[0x30, 0x03, 0x02, 0x01, 0x01], // r only
            &[0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0xff], // s negative
            &[0x30, 0x07, 0x02, 0x02, 0x00, 0x01, 0x02, 0x01, 0x01], // r not minimal
            &[0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01, 0x00], // trailing byte
            &[0x30, 0x80, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01, 0x00, 0x00], // BER
        ] {
            assert_eq!(parse_signature(bytes), Err(Malformed), "{bytes:02x?}");
        }
        let mut long = [1; 41];
        long[..4].copy_from_slice(&[0x30, 39, 0x02, 34]);
        long[38..].copy_from_slice(&[0x02, 1, 1]);
        assert_eq!(parse_signature(&long), Err(Malformed));
    }
}
