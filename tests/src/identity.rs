//! Three who take part, and what they agree to.

use dtls_core::crypto::rustcrypto::SigningKey;
use dtls_core::{AcceptedPeers, ClientAuthentication, Config, Credential, KeyId};
use p256::ecdsa::signature::Signer;
use rcgen::{CertificateParams, PKCS_ECDSA_P256_SHA256, PublicKeyData, SerialNumber};
use std::sync::LazyLock;

/// The server.
pub static SERVER: LazyLock<Identity> = LazyLock::new(|| Identity::new("server", [1; 32]));
/// A client that the server knows.
pub static CLIENT: LazyLock<Identity> = LazyLock::new(|| Identity::new("client", [2; 32]));
/// Somebody whom nobody knows.
pub static STRANGER: LazyLock<Identity> = LazyLock::new(|| Identity::new("stranger", [3; 32]));

/// A kind of credential.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// None: an anonymous client.
    Nothing,
    /// A raw public key (RFC 7250).
    Raw,
    /// A self-signed X.509 certificate.
    X509,
}

/// A key pair and both kinds of credential for it.
#[derive(Debug)]
pub struct Identity {
    pub(crate) keys: [SigningKey; 1],
    /// The public key, as others pin it.
    pub spki: [u8; 91],
    raw: [Credential<'static>; 1],
    x509: [Credential<'static>; 1],
}

impl Identity {
    fn new(name: &str, scalar: [u8; 32]) -> Self {
        let key = SigningKey::from_scalar(&scalar).expect("a scalar in range");
        let spki = key.spki();
        // Credentials borrow, and these live as long as the process.
        let leaf: &'static [u8] = Vec::leak(self_signed(name, &scalar, &key));
        Self {
            raw: [Credential::RawPublicKey {
                spki: Box::leak(Box::new(spki)),
                key: KeyId(0),
            }],
            x509: [Credential::Certificates {
                chain: Box::leak(Box::new([leaf])),
                key: KeyId(0),
            }],
            keys: [key],
            spki,
        }
    }

    /// Its credential of one kind, for a [`Config`].
    #[must_use]
    pub const fn credentials(&'static self, kind: Kind) -> &'static [Credential<'static>] {
        match kind {
            Kind::Nothing => &[],
            Kind::Raw => &self.raw,
            Kind::X509 => &self.x509,
        }
    }
}

/// What [`CLIENT`] agrees to, if it has a credential of the kind `own` and the server one of the kind `server`.
#[must_use]
pub fn client_config(own: Kind, server: Kind) -> Config<'static> {
    Config {
        credentials: CLIENT.credentials(own),
        ..Config::new(accept(server))
    }
}

/// What [`SERVER`] agrees to, if it has a credential of the kind `own`; if the clients have one, it is required.
#[must_use]
pub fn server_config(own: Kind, clients: Kind) -> Config<'static> {
    Config {
        credentials: SERVER.credentials(own),
        client_authentication: match clients {
            Kind::Nothing => ClientAuthentication::None,
            Kind::Raw | Kind::X509 => ClientAuthentication::Required,
        },
        ..Config::new(accept(clients))
    }
}

fn accept(kind: Kind) -> AcceptedPeers {
    AcceptedPeers {
        raw_public_key: kind == Kind::Raw,
        certificate: kind == Kind::X509,
    }
}

fn self_signed(name: &str, scalar: &[u8; 32], key: &SigningKey) -> Vec<u8> {
    let mut params = CertificateParams::new([name.to_owned()]).expect("a plain name");
    params.serial_number = Some(SerialNumber::from(1));
    let issuer = Issuer {
        private: p256::ecdsa::SigningKey::from_slice(scalar).expect("a scalar in range"),
        public: key.public_key().to_vec(),
    };
    let certificate = params.self_signed(&issuer).expect("plain parameters");
    certificate.der().to_vec()
}

/// Signs certificates with p256, deterministically.
struct Issuer {
    private: p256::ecdsa::SigningKey,
    public: Vec<u8>,
}

impl PublicKeyData for Issuer {
    fn der_bytes(&self) -> &[u8] {
        &self.public
    }

    fn algorithm(&self) -> &'static rcgen::SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

impl rcgen::SigningKey for Issuer {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        let signature: p256::ecdsa::Signature = self.private.sign(message);
        Ok(signature.to_der().as_bytes().to_vec())
    }
}
