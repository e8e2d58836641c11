//! What can go wrong for good. Noise from the network is never an error: it is a [`Discard`](crate::Discard).

use crate::AlertDescription;
use core::fmt;

/// Why a handshake is over. An association that existed before stays as it was.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Fatal {
    /// A message that was due could not be parsed.
    Decode,
    /// A handshake message arrived that is not allowed now.
    UnexpectedMessage,
    /// A field of a message that was due is out of range or contradicts what was agreed.
    IllegalParameter,
    /// The ServerHello carries an extension that was not asked for.
    UnsupportedExtension,
    /// The peer does not speak DTLS 1.2.
    ProtocolVersion,
    /// Nothing in common: suite, curve, signature algorithm or extended master secret.
    NothingInCommon,
    /// No certificate type in common (RFC 7250 section 4.2).
    NoCommonCertificateType,
    /// A certificate that cannot be parsed.
    BadCertificate,
    /// A certificate with a public key that is not an uncompressed point on P-256.
    UnsupportedCertificate,
    /// The peer did not authenticate itself although it has to.
    PeerAnonymous,
    /// The caller refused the peer's raw public key, PSK identity or anonymity.
    PeerRefused,
    /// The caller refused the peer's certificate.
    CertificateRefused,
    /// The peer's signature or public key is wrong.
    BadSignature,
    /// The peer's Finished is wrong: the two sides saw different handshakes.
    BadFinished,
    /// The peer ended the handshake with this alert.
    AlertReceived(AlertDescription),
    /// Retransmissions, or the time allowed for the whole handshake, are used up.
    TimedOut,
    /// Time is over, and one message did not fit the workspace: it needs this many bytes more or less.
    MessageTooLarge(u32),
    /// The credential configured does not fit its use (for example no credential at a server).
    Credential,
    /// The random source, the cipher or the public-key engine failed.
    Crypto,
}

impl Fatal {
    /// The alert that this failure sends to the peer: one table, total over the enumeration.
    ///
    /// RFC 7925 section 6: no certificate alert ever answers a raw public key or a PSK.
    #[must_use]
    pub const fn alert(self) -> Option<AlertDescription> {
        Some(match self {
            Self::Decode => AlertDescription::DECODE_ERROR,
            Self::UnexpectedMessage => AlertDescription::UNEXPECTED_MESSAGE,
            Self::IllegalParameter => AlertDescription::ILLEGAL_PARAMETER,
            Self::UnsupportedExtension => AlertDescription::UNSUPPORTED_EXTENSION,
            Self::ProtocolVersion => AlertDescription::PROTOCOL_VERSION,
            Self::NothingInCommon | Self::PeerAnonymous | Self::PeerRefused => {
                AlertDescription::HANDSHAKE_FAILURE
            }
            Self::NoCommonCertificateType | Self::UnsupportedCertificate => {
                AlertDescription::UNSUPPORTED_CERTIFICATE
            }
            Self::BadCertificate => AlertDescription::BAD_CERTIFICATE,
            Self::CertificateRefused => AlertDescription::CERTIFICATE_UNKNOWN,
            Self::BadSignature | Self::BadFinished => AlertDescription::DECRYPT_ERROR,
            Self::Credential | Self::Crypto => AlertDescription::INTERNAL_ERROR,
            Self::AlertReceived(_) | Self::TimedOut | Self::MessageTooLarge(_) => return None,
        })
    }
}

impl fmt::Display for Fatal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decode => f.write_str("the peer sent a message that cannot be parsed"),
            Self::UnexpectedMessage => {
                f.write_str("the peer sent a message that is not allowed now")
            }
            Self::IllegalParameter => f.write_str("the peer sent an illegal parameter"),
            Self::UnsupportedExtension => {
                f.write_str("the server answered an extension nobody asked for")
            }
            Self::ProtocolVersion => f.write_str("the peer does not speak DTLS 1.2"),
            Self::NothingInCommon => f.write_str(
                "no cipher suite, curve, signature algorithm or extended master secret in common",
            ),
            Self::NoCommonCertificateType => f.write_str("no certificate type in common"),
            Self::BadCertificate => f.write_str("the peer's certificate cannot be parsed"),
            Self::UnsupportedCertificate => {
                f.write_str("the peer's certificate has no P-256 public key")
            }
            Self::PeerAnonymous => f.write_str("the peer did not authenticate itself"),
            Self::PeerRefused => f.write_str("the peer's identity was refused"),
            Self::CertificateRefused => f.write_str("the peer's certificate was refused"),
            Self::BadSignature => f.write_str("the peer's signature is wrong"),
            Self::BadFinished => f.write_str("the peer's Finished is wrong"),
            Self::AlertReceived(alert) => write!(f, "the peer sent the alert {alert}"),
            Self::TimedOut => f.write_str("the peer did not answer in time"),
            Self::MessageTooLarge(size) => {
                write!(f, "a message of {size} bytes does not fit the workspace")
            }
            Self::Credential => f.write_str("the configured credential does not fit its use"),
            Self::Crypto => f.write_str("the random source, cipher or public-key engine failed"),
        }
    }
}

impl core::error::Error for Fatal {}

/// Why nothing was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SendError {
    /// The output has to be at least this long. Nothing is lost: call again with more room.
    TooSmall(usize),
    /// The payload is longer than a record can hold, which is this many bytes (RFC 5246 section 6.2.1).
    TooLong(usize),
    /// The last flight of the handshake has to go before any data: call `poll_transmit` first.
    LastFlightFirst,
    /// The association is closed.
    Closed,
    /// The [limit](crate::Limits) of sealed records or the sequence numbers (RFC 6347 section 4.1) are used up: a new
    /// handshake is due.
    Exhausted,
    /// The handshake is over.
    Fatal(Fatal),
}

impl From<Fatal> for SendError {
    fn from(fatal: Fatal) -> Self {
        Self::Fatal(fatal)
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooSmall(size) => write!(f, "the output needs room for {size} bytes"),
            Self::TooLong(size) => write!(f, "a record holds at most {size} bytes"),
            Self::LastFlightFirst => f.write_str("the last handshake flight has to be sent first"),
            Self::Closed => f.write_str("the association is closed"),
            Self::Exhausted => f.write_str("the keys are used up: a new handshake is due"),
            Self::Fatal(fatal) => fatal.fmt(f),
        }
    }
}

impl core::error::Error for SendError {}
