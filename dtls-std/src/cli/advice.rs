//! What to do about a failure: the half of the message behind the semicolon.

use dtls_core::{AlertDescription, Fatal};
use dtls_std::{ConnectError, KeyError, Pin};
use std::io::ErrorKind;

pub(crate) fn on_key(error: &KeyError) -> Option<String> {
    let advice = match error {
        KeyError::Unreadable { source, .. } if source.kind() == ErrorKind::NotFound => {
            "`dtls keygen` makes keys"
        }
        KeyError::Unwritable { source, .. } if source.kind() == ErrorKind::AlreadyExists => {
            "choose another name with --out"
        }
        KeyError::Damaged { .. } | KeyError::NotACertificate(_) => "copy the file again",
        KeyError::Missing { .. } => "is it the right file?",
        KeyError::ForeignCertificate(_) => "is it the right file?",
        _ => return None,
    };
    Some(advice.into())
}

/// `own` is the pin of the key that we would have shown.
pub(crate) fn on_connect(error: &ConnectError, own: Option<Pin>) -> Option<String> {
    let advice = match error {
        ConnectError::NobodyListens(_) => "start the server, or correct the address".into(),
        ConnectError::Unreachable { .. } => "correct the address, or check the network".into(),
        ConnectError::Refused { pin, .. } => {
            format!("if that is the right server, add --pin {pin}")
        }
        ConnectError::MtuTooSmall(size) => format!("use --mtu {size} or more"),
        ConnectError::Handshake { why, .. } => on_handshake(*why, own)?,
        ConnectError::Io(_) => return None,
    };
    Some(advice)
}

fn on_handshake(why: Fatal, own: Option<Pin>) -> Option<String> {
    let refused = |own: Pin| format!("the server does not accept our key: it needs our pin {own}");
    let advice = match why {
        Fatal::TimedOut => "check the address and the firewalls between, or allow more --timeout",
        Fatal::AlertReceived(
            AlertDescription::CERTIFICATE_UNKNOWN
            | AlertDescription::ACCESS_DENIED
            | AlertDescription::UNKNOWN_CA,
        ) => return own.map(refused),
        // RFC 7925 section 6: the alert of a refused raw public key, too.
        Fatal::AlertReceived(AlertDescription::HANDSHAKE_FAILURE) => {
            let key = own.map_or("wants a key of us, see --key".into(), |own| {
                format!("does not accept our key and needs our pin {own}")
            });
            return Some(format!(
                "the server {key}; or it has not the suite {}, or no credential as --accept asks \
                 for",
                super::SUITE
            ));
        }
        Fatal::AlertReceived(AlertDescription::UNSUPPORTED_CERTIFICATE)
        | Fatal::NoCommonCertificateType => {
            "one side has raw public keys only, the other certificates: see --accept and --cert"
        }
        Fatal::AlertReceived(AlertDescription::PROTOCOL_VERSION) | Fatal::ProtocolVersion => {
            "the server has to allow DTLS 1.2"
        }
        Fatal::AlertReceived(AlertDescription::INSUFFICIENT_SECURITY) | Fatal::NothingInCommon => {
            return Some(format!(
                "the server has to allow the suite {}, secp256r1 and the extended master secret; \
                 without the last, see --allow-no-ems",
                super::SUITE
            ));
        }
        _ => return None,
    };
    Some(advice.into())
}
