//! What our flights are made of.

use crate::config::{Config, Credential};
use crate::crypto::{Digest, Point, Signature};
use crate::wire::extension::CertificateType;
use crate::wire::hello::Answers;

/// What our flights are made of: enough to make them again at any time, byte for byte.
pub(super) struct Material {
    /// Client's and server's.
    pub(super) randoms: [[u8; 32]; 2],
    pub(super) agreed: Agreed,
    /// Our ephemeral public key.
    pub(super) point: Point,
    /// Our signature.
    pub(super) signature: Signature,
    /// What is signed next: `ServerECDHParams` with both randoms, then the transcript up to ClientKeyExchange, which is
    /// the session hash (RFC 7627 section 3), too.
    pub(super) digest: Digest,
}

/// What the hellos agreed on.
#[derive(Clone, Copy)]
pub(super) struct Agreed {
    pub(super) answers: Answers,
    /// The server has asked for the client's credential.
    pub(super) certificate_request: bool,
    /// The client has one to show.
    pub(super) client_shows: bool,
}

impl Agreed {
    /// RFC 7250 section 4.2: without the extension, it is X.509.
    pub(super) fn client_type(&self) -> CertificateType {
        self.answers
            .client_certificate_type
            .unwrap_or(CertificateType::X509)
    }

    pub(super) fn server_type(&self) -> CertificateType {
        self.answers
            .server_certificate_type
            .unwrap_or(CertificateType::X509)
    }
}

impl Material {
    /// Our credential for this handshake.
    pub(super) fn credential<'c>(
        &self,
        config: &Config<'c>,
        is_server: bool,
    ) -> Option<&'c Credential<'c>> {
        let agreed = &self.agreed;
        config.credential(if is_server {
            agreed.server_type()
        } else {
            agreed.client_type()
        })
    }
}
