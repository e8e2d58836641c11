//! Encodings only: what stands where in a record or handshake message. No state, no policy.
//!
//! Parsing is total: any bytes give a value or [`Malformed`]. Emitting goes through a [`Sink`], so that one description of
//! a message serves to measure it, to hash it and to cut any fragment out of it; no message is ever built in memory.

pub(crate) mod certificate;
pub(crate) mod extension;
pub(crate) mod handshake;
pub(crate) mod hello;
pub(crate) mod key_exchange;
mod reader;
pub(crate) mod record;
mod sink;
pub(crate) mod verify;

pub(crate) use reader::{Malformed, Reader, contains_u16};
pub(crate) use sink::{Sink, Window, length, prefixed};

/// DTLS 1.2 on the wire (RFC 6347 section 4.1).
pub(crate) const DTLS_1_2: [u8; 2] = [254, 253];
/// DTLS 1.0, which only the record headers of hellos may show.
pub(crate) const DTLS_1_0: [u8; 2] = [254, 255];

/// TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8 (RFC 7251 section 2).
pub(crate) const ECDHE_ECDSA_WITH_AES_128_CCM_8: u16 = 0xc0ae;
/// TLS_EMPTY_RENEGOTIATION_INFO_SCSV (RFC 5746 section 3.3).
pub(crate) const EMPTY_RENEGOTIATION_INFO_SCSV: u16 = 0x00ff;
/// ecdsa_secp256r1 with SHA-256, as `SignatureAndHashAlgorithm` (RFC 5246 section 7.4.1.4.1).
pub(crate) const ECDSA_SHA256: u16 = 0x0403;
/// secp256r1 as `NamedCurve` (RFC 8422 section 5.1.1).
pub(crate) const SECP256R1: u16 = 23;
