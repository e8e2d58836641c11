//! What a handshake may agree to.

use crate::crypto::KeyId;
use crate::time::Micros;
use crate::wire::extension::{CertificateType, CertificateTypes};

/// What this side proves itself with. Private keys stay with the engine.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Credential<'a> {
    /// A raw public key (RFC 7250).
    RawPublicKey {
        /// SubjectPublicKeyInfo of a P-256 key, DER, 91 bytes.
        spki: &'a [u8],
        /// The private key.
        key: KeyId,
    },
    /// An X.509 chain.
    Certificates {
        /// Certificates, DER, the leaf first, each issued by the next (RFC 5246 section 7.4.2).
        chain: &'a [&'a [u8]],
        /// The leaf's private key.
        key: KeyId,
    },
}

/// Which kinds of credential are accepted from the peer. None is accepted unless named.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct AcceptedPeers {
    /// Raw public keys (RFC 7250); preferred if both are accepted.
    pub raw_public_key: bool,
    /// X.509 certificates.
    pub certificate: bool,
}

impl AcceptedPeers {
    /// Raw public keys only.
    pub const RAW_PUBLIC_KEY: Self = Self {
        raw_public_key: true,
        certificate: false,
    };
    /// X.509 certificates only.
    pub const CERTIFICATE: Self = Self {
        raw_public_key: false,
        certificate: true,
    };
    /// Both.
    pub const ANY: Self = Self {
        raw_public_key: true,
        certificate: true,
    };
}

/// Whether a server asks its clients for a credential. A client ignores this.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ClientAuthentication {
    /// Not asked: every client is anonymous.
    None,
    /// Asked; a client that shows nothing is put before the caller as anonymous.
    Optional,
    /// Asked; a client that shows nothing is refused.
    Required,
}

/// The timers of RFC 6347 section 4.2.4.1. The values are not constants of the protocol: choose by the link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Timers {
    /// First retransmission after this time.
    pub initial: Micros,
    /// Doubling stops here; at least 60 s says the RFC.
    pub maximum: Micros,
    /// Retransmissions of one flight, not counting its first transmission.
    pub retransmissions: u8,
    /// From the first byte to Finished, open questions included: bounds how long a workspace can be occupied.
    pub handshake: Micros,
    /// How long the last flight is sent again to a peer that did not hear it: 2 x MSL (RFC 6347 section 4.2.4).
    pub linger: Micros,
}

impl Timers {
    /// For hosts on the Internet: 1 s, as RFC 6347 section 4.2.4.1 says.
    pub const INTERNET: Self = Self {
        initial: Micros::from_secs(1),
        maximum: Micros::from_secs(60),
        retransmissions: 7,
        handshake: Micros::from_secs(300),
        linger: Micros::from_secs(240),
    };
    /// For constrained networks: 9 s, as RFC 7925 section 11 says.
    pub const CONSTRAINED: Self = Self {
        initial: Micros::from_secs(9),
        ..Self::INTERNET
    };
}

/// How far one set of keys is used. When three quarters of a limit are used up, [`Event::RehandshakeDue`] says so; when a
/// limit is reached, only a new handshake helps.
///
/// RFC 6347 has no such limits, but AES-CCM with a tag of 8 bytes needs them (RFC 9147 section 4.5.3 and appendix B.3).
///
/// [`Event::RehandshakeDue`]: crate::Event::RehandshakeDue
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Records that may be sealed. More application data is refused; alerts still go.
    pub sealed: u32,
    /// Records that may fail to authenticate. One more, and the association is over.
    pub forged: u32,
}

impl Limits {
    /// The default: 2^23 records sealed, which keeps the confidentiality of RFC 9147 appendix B.1; and 2^20 forgeries.
    ///
    /// Each forgery succeeds with probability 2^-64, so that an attacker who uses up the budget has had one chance in 2^44.
    /// The 2^7 of appendix B.3 would keep the margin of longer tags, but let anybody end an association with 128 datagrams;
    /// on a link of 250 kbit/s, 2^20 of them take more than twenty minutes. Where rejected records are rare or a new
    /// handshake is cheap, choose less.
    pub const DEFAULT: Self = Self {
        sealed: 1 << 23,
        forged: 1 << 20,
    };
}

/// What a handshake may agree to. Shared by any number of handshakes; can be a `static`.
///
/// ```
/// use dtls_core::{AcceptedPeers, Config, Credential, KeyId};
/// static SPKI: [u8; 91] = [0; 91];
/// static CONFIG: Config<'static> = Config {
///     credentials: &[Credential::RawPublicKey { spki: &SPKI, key: KeyId(0) }],
///     ..Config::new(AcceptedPeers::RAW_PUBLIC_KEY)
/// };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Config<'a> {
    /// Our credentials, in the order of preference. A server needs one, a client may have none.
    pub credentials: &'a [Credential<'a>],
    /// The credentials accepted from the peer.
    pub accept: AcceptedPeers,
    /// Whether a server asks its clients for a credential.
    pub client_authentication: ClientAuthentication,
    /// Talk to peers without the extended master secret (RFC 7627), which are refused otherwise.
    pub allow_legacy_master_secret: bool,
    /// The timers.
    pub timers: Timers,
    /// How far one set of keys is used.
    pub limits: Limits,
    /// The largest datagram to send, UDP payload in bytes. A shorter output slice makes it less.
    pub mtu: u16,
    /// Believe a plaintext alert at once. Otherwise it is an event, and the handshake goes on until the deadline of the
    /// current flight, because anybody could have sent it.
    pub trust_plaintext_alerts: bool,
    /// Answer a retransmission of the peer's previous flight with ours, at most once per deadline (RFC 6347
    /// section 4.2.4, exit 2 of WAITING).
    pub answer_retransmissions: bool,
}

impl Config<'_> {
    /// No credential of our own, no client authentication, Internet timers, datagrams for an IPv6 minimum MTU of 1280.
    #[must_use]
    pub const fn new(accept: AcceptedPeers) -> Self {
        Self {
            credentials: &[],
            accept,
            client_authentication: ClientAuthentication::None,
            allow_legacy_master_secret: false,
            timers: Timers::INTERNET,
            limits: Limits::DEFAULT,
            mtu: 1232,
            trust_plaintext_alerts: false,
            answer_retransmissions: true,
        }
    }
}

impl Credential<'_> {
    pub(crate) const fn certificate_type(&self) -> CertificateType {
        match self {
            Self::RawPublicKey { .. } => CertificateType::RawPublicKey,
            Self::Certificates { .. } => CertificateType::X509,
        }
    }

    pub(crate) const fn key(&self) -> KeyId {
        match self {
            Self::RawPublicKey { key, .. } | Self::Certificates { key, .. } => *key,
        }
    }
}

impl<'a> Config<'a> {
    /// The first credential of a type.
    pub(crate) fn credential(&self, kind: CertificateType) -> Option<&'a Credential<'a>> {
        self.credentials
            .iter()
            .find(|credential| credential.certificate_type() == kind)
    }

    /// The types of our credentials, in the order of preference.
    pub(crate) fn own_types(&self) -> CertificateTypes {
        let mut types = self.credentials.iter().map(Credential::certificate_type);
        let first = types.next();
        CertificateTypes([first, types.find(|kind| Some(*kind) != first)])
    }

    /// The types accepted from the peer, in the order of preference.
    pub(crate) fn accepted_types(&self) -> CertificateTypes {
        CertificateTypes([
            self.accept
                .raw_public_key
                .then_some(CertificateType::RawPublicKey),
            self.accept.certificate.then_some(CertificateType::X509),
        ])
    }
}
