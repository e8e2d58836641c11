//! The alert protocol (RFC 5246 section 7.2).

use core::fmt;

/// Severity of an alert.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum AlertLevel {
    /// The association may go on.
    Warning = 1,
    /// The association is over.
    Fatal = 2,
}

/// What an alert says (RFC 5246 section 7.2.2, RFC 5746, RFC 6066, RFC 4279).
///
/// A newtype, not an enumeration: a peer may send values that no RFC names.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct AlertDescription(pub u8);

macro_rules! descriptions {
    ($($(#[$doc:meta])* $name:ident = $value:literal, $text:literal;)*) => {
        impl AlertDescription {
            $($(#[$doc])* pub const $name: Self = Self($value);)*

            /// The RFC's name of the alert, or "unknown".
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* _ => "unknown" }
            }
        }
    };
}

descriptions! {
    /// The sender will not send any more.
    CLOSE_NOTIFY = 0, "close_notify";
    /// A message was not due.
    UNEXPECTED_MESSAGE = 10, "unexpected_message";
    /// A record did not authenticate (DTLS drops such records instead, RFC 6347 section 4.1.2.7).
    BAD_RECORD_MAC = 20, "bad_record_mac";
    /// A record was too long.
    RECORD_OVERFLOW = 22, "record_overflow";
    /// No acceptable set of parameters, or a raw public key or PSK was refused (RFC 7925 section 6).
    HANDSHAKE_FAILURE = 40, "handshake_failure";
    /// A certificate was corrupt or its signature wrong.
    BAD_CERTIFICATE = 42, "bad_certificate";
    /// No certificate type in common (RFC 7250 section 4.2).
    UNSUPPORTED_CERTIFICATE = 43, "unsupported_certificate";
    /// A certificate was revoked.
    CERTIFICATE_REVOKED = 44, "certificate_revoked";
    /// A certificate is not valid now.
    CERTIFICATE_EXPIRED = 45, "certificate_expired";
    /// A certificate was unacceptable for another reason.
    CERTIFICATE_UNKNOWN = 46, "certificate_unknown";
    /// A field was out of range or contradicts another.
    ILLEGAL_PARAMETER = 47, "illegal_parameter";
    /// No trust anchor for a certificate.
    UNKNOWN_CA = 48, "unknown_ca";
    /// A certificate is valid, but its holder is not let in.
    ACCESS_DENIED = 49, "access_denied";
    /// A message could not be parsed.
    DECODE_ERROR = 50, "decode_error";
    /// A signature or Finished did not verify.
    DECRYPT_ERROR = 51, "decrypt_error";
    /// The protocol version is not supported.
    PROTOCOL_VERSION = 70, "protocol_version";
    /// The suites offered are too weak.
    INSUFFICIENT_SECURITY = 71, "insufficient_security";
    /// A local failure that has nothing to do with the peer.
    INTERNAL_ERROR = 80, "internal_error";
    /// The handshake is cancelled, not failed.
    USER_CANCELED = 90, "user_canceled";
    /// Renegotiation is refused (a warning).
    NO_RENEGOTIATION = 100, "no_renegotiation";
    /// A ServerHello has an extension that was not asked for.
    UNSUPPORTED_EXTENSION = 110, "unsupported_extension";
    /// The server name is not known (RFC 6066 section 3).
    UNRECOGNIZED_NAME = 112, "unrecognized_name";
    /// The PSK identity is not known (RFC 4279 section 2; RFC 7925 says decrypt_error instead).
    UNKNOWN_PSK_IDENTITY = 115, "unknown_psk_identity";
}

impl fmt::Debug for AlertDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name(), self.0)
    }
}

impl fmt::Display for AlertDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The alert, if it ends something: a fatal one, or close_notify (RFC 5246 section 7.2).
pub(crate) fn ending_alert(body: &[u8]) -> Option<AlertDescription> {
    match body {
        [level, alert] if *level == AlertLevel::Fatal as u8 || *alert == 0 => {
            Some(AlertDescription(*alert))
        }
        _ => None,
    }
}
