//! ClientHello, ServerHello and HelloVerifyRequest (RFC 5246 section 7.4.1, RFC 6347 section 4.2.1).

use super::extension::{self, Extensions};
use super::{
    DTLS_1_2, ECDHE_ECDSA_WITH_AES_128_CCM_8, ECDSA_SHA256, Malformed, Reader, SECP256R1, Sink,
    prefixed,
};
use super::{EMPTY_RENEGOTIATION_INFO_SCSV, extension::CertificateTypes};
use crate::wire::extension::CertificateType;

/// A ClientHello as it came in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientHello<'a> {
    pub(crate) version: [u8; 2],
    pub(crate) random: &'a [u8; 32],
    pub(crate) session_id: &'a [u8],
    pub(crate) cookie: &'a [u8],
    /// Pairs of bytes.
    pub(crate) cipher_suites: &'a [u8],
    pub(crate) compression_methods: &'a [u8],
    pub(crate) extensions: Extensions<'a>,
}

impl<'a> ClientHello<'a> {
    pub(crate) fn parse(body: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let hello = Self {
            version: *reader.array()?,
            random: reader.array()?,
            session_id: reader.vec8()?,
            cookie: reader.vec8()?,
            cipher_suites: reader.list16()?,
            compression_methods: reader.vec8()?,
            extensions: Extensions::parse(&mut reader)?,
        };
        reader.finish()?;
        if hello.session_id.len() <= 32 && !hello.compression_methods.is_empty() {
            Ok(hello)
        } else {
            Err(Malformed)
        }
    }
}

/// The ClientHello we send. All of them offer the same but for credentials and cookie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnClientHello<'a> {
    pub(crate) random: &'a [u8; 32],
    pub(crate) cookie: &'a [u8],
    /// What we can show; nothing if we have no credential.
    pub(crate) client_types: CertificateTypes,
    /// What we accept.
    pub(crate) server_types: CertificateTypes,
}

impl OwnClientHello<'_> {
    pub(crate) fn emit(&self, sink: &mut dyn Sink) {
        sink.put(&DTLS_1_2);
        sink.put(self.random);
        sink.put_u8(0); // no session to resume
        prefixed(sink, 1, &|sink| sink.put(self.cookie));
        prefixed(sink, 2, &|sink| {
            sink.put_u16(ECDHE_ECDSA_WITH_AES_128_CCM_8);
            sink.put_u16(EMPTY_RENEGOTIATION_INFO_SCSV); // RFC 5746 section 3.4; 3 bytes less than the extension
        });
        sink.put(&[1, 0]); // null compression
        prefixed(sink, 2, &|sink| {
            extension::put(sink, extension::EXTENDED_MASTER_SECRET, &|_| {});
            extension::put(sink, extension::SUPPORTED_GROUPS, &|sink| {
                prefixed(sink, 2, &|sink| sink.put_u16(SECP256R1));
            });
            put_point_formats(sink);
            extension::put(sink, extension::SIGNATURE_ALGORITHMS, &|sink| {
                prefixed(sink, 2, &|sink| sink.put_u16(ECDSA_SHA256));
            });
            self.client_types
                .put(sink, extension::CLIENT_CERTIFICATE_TYPE);
            self.server_types
                .put(sink, extension::SERVER_CERTIFICATE_TYPE);
        });
    }
}

/// A ServerHello as it came in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerHello<'a> {
    pub(crate) version: [u8; 2],
    pub(crate) random: &'a [u8; 32],
    pub(crate) cipher_suite: u16,
    pub(crate) compression_method: u8,
    pub(crate) extensions: Extensions<'a>,
}

impl<'a> ServerHello<'a> {
    pub(crate) fn parse(body: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let (version, random, session_id) = (*reader.array()?, reader.array()?, reader.vec8()?);
        let (cipher_suite, compression_method) = (reader.u16()?, reader.u8()?);
        let extensions = Extensions::parse(&mut reader)?;
        reader.finish()?;
        let hello = Self {
            version,
            random,
            cipher_suite,
            compression_method,
            extensions,
        };
        if session_id.len() <= 32 {
            Ok(hello)
        } else {
            Err(Malformed)
        }
    }
}

/// The ServerHello we send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnServerHello<'a> {
    pub(crate) random: &'a [u8; 32],
    /// Which of the extensions the client has sent are answered.
    pub(crate) answers: Answers,
}

/// The extensions that a ServerHello answers. None is ever sent unasked (RFC 5246 section 7.4.1.4).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answers {
    pub(crate) extended_master_secret: bool,
    pub(crate) renegotiation_info: bool,
    pub(crate) ec_point_formats: bool,
    pub(crate) client_certificate_type: Option<CertificateType>,
    pub(crate) server_certificate_type: Option<CertificateType>,
}

impl Answers {
    pub(crate) const NONE: Self = Self {
        extended_master_secret: false,
        renegotiation_info: false,
        ec_point_formats: false,
        client_certificate_type: None,
        server_certificate_type: None,
    };
}

impl OwnServerHello<'_> {
    pub(crate) fn emit(&self, sink: &mut dyn Sink) {
        sink.put(&DTLS_1_2);
        sink.put(self.random);
        sink.put_u8(0); // the session cannot be resumed (RFC 5246 section 7.4.1.3)
        sink.put_u16(ECDHE_ECDSA_WITH_AES_128_CCM_8);
        sink.put_u8(0); // null compression
        let extensions = |sink: &mut dyn Sink| self.answers.emit(sink);
        if super::length(&extensions) > 0 {
            prefixed(sink, 2, &extensions);
        }
    }
}

impl Answers {
    fn emit(&self, sink: &mut dyn Sink) {
        if self.extended_master_secret {
            extension::put(sink, extension::EXTENDED_MASTER_SECRET, &|_| {});
        }
        if self.renegotiation_info {
            extension::put(sink, extension::RENEGOTIATION_INFO, &|sink| sink.put_u8(0));
        }
        if self.ec_point_formats {
            put_point_formats(sink);
        }
        for (kind, chosen) in [
            (
                extension::CLIENT_CERTIFICATE_TYPE,
                self.client_certificate_type,
            ),
            (
                extension::SERVER_CERTIFICATE_TYPE,
                self.server_certificate_type,
            ),
        ] {
            if let Some(chosen) = chosen {
                extension::put(sink, kind, &|sink| sink.put_u8(chosen as u8));
            }
        }
    }
}

/// Uncompressed points only (RFC 8422 section 5.1.2).
fn put_point_formats(sink: &mut dyn Sink) {
    extension::put(sink, extension::EC_POINT_FORMATS, &|sink| sink.put(&[1, 0]));
}

/// The cookie of a HelloVerifyRequest. Its server_version says nothing and is not looked at (RFC 6347 section 4.2.1).
pub(crate) fn parse_hello_verify_request(body: &[u8]) -> Result<&[u8], Malformed> {
    let mut reader = Reader::new(body);
    reader.array::<2>()?;
    let cookie = reader.vec8()?;
    reader.finish()?;
    Ok(cookie)
}

/// Body of a HelloVerifyRequest: 19 bytes. RFC 6347 section 4.2.1: server_version SHOULD be DTLS 1.0, whatever comes.
pub(crate) fn put_hello_verify_request(sink: &mut dyn Sink, cookie: &[u8; 16]) {
    sink.put(&super::DTLS_1_0);
    prefixed(sink, 1, &|sink| sink.put(cookie));
}
