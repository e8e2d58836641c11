//! ServerKeyExchange and ClientKeyExchange of ECDHE_ECDSA (RFC 8422 sections 5.4 and 5.7).

use super::prefixed;
use super::{ECDSA_SHA256, Malformed, Reader, SECP256R1, Sink, verify};
use crate::crypto::{Point, Signature};

/// `ECParameters` of secp256r1 and the length of a point: all that stands before it in `ServerECDHParams`.
const PARAMS_PREFIX: [u8; 4] = {
    let [hi, lo] = SECP256R1.to_be_bytes();
    [3, hi, lo, 65] // named_curve
};

/// The signed part of a ServerKeyExchange, `ServerECDHParams` (RFC 8422 section 5.4), in two pieces.
pub(crate) const fn server_params(point: &Point) -> [&[u8]; 2] {
    [&PARAMS_PREFIX, point]
}

/// A ServerKeyExchange as it came in.
pub(crate) struct ServerKeyExchange<'a> {
    pub(crate) point: &'a Point,
    pub(crate) signature: Signature,
}

/// Well-formed, but not what we can or may agree to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Unacceptable;

impl<'a> ServerKeyExchange<'a> {
    /// `Ok(Err(..))`: another curve, a compressed point, or a signature algorithm that was not offered.
    pub(crate) fn parse(body: &'a [u8]) -> Result<Result<Self, Unacceptable>, Malformed> {
        let mut reader = Reader::new(body);
        // RFC 8422 section 5.4: only named curves; the other curve types do not even have the same shape.
        if reader.u8()? != 3 || reader.u16()? != SECP256R1 {
            return Ok(Err(Unacceptable));
        }
        let point = reader.vec8()?;
        let (algorithm, signature) = (reader.u16()?, reader.vec16()?);
        reader.finish()?;
        match (uncompressed(point), algorithm) {
            (Some(point), ECDSA_SHA256) => Ok(Ok(Self {
                point,
                signature: verify::parse_signature(signature)?,
            })),
            _ => Ok(Err(Unacceptable)),
        }
    }
}

/// Puts a ServerKeyExchange.
pub(crate) fn put_server_key_exchange(sink: &mut dyn Sink, point: &Point, signature: &Signature) {
    server_params(point).iter().for_each(|part| sink.put(part));
    sink.put_u16(ECDSA_SHA256);
    prefixed(sink, 2, &|sink| verify::put_signature(sink, signature));
}

/// The client's point; `None` if it is not an uncompressed one on P-256.
pub(crate) fn parse_client_key_exchange(body: &[u8]) -> Result<Option<&Point>, Malformed> {
    let mut reader = Reader::new(body);
    let point = reader.vec8()?;
    reader.finish()?;
    Ok(uncompressed(point))
}

/// Puts a ClientKeyExchange.
pub(crate) fn put_client_key_exchange(sink: &mut dyn Sink, point: &Point) {
    sink.put_u8(65);
    sink.put(point);
}

/// RFC 8422 section 5.4.1: uncompressed points only.
pub(crate) fn uncompressed(point: &[u8]) -> Option<&Point> {
    point
        .try_into()
        .ok()
        .filter(|point: &&Point| point.first() == Some(&4))
}
