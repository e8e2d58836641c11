//! Records and handshake messages in words. Total: bytes that make no sense are said to make none.

use core::fmt::Write;
use dtls_core::AlertDescription;

/// One line per record of a datagram.
pub(super) fn lines(mut datagram: &[u8]) -> Vec<String> {
    let mut lines = Vec::new();
    while !datagram.is_empty() {
        let Some((record, rest)) = Record::split(datagram) else {
            lines.push(format!("{} bytes that are no record", datagram.len()));
            break;
        };
        lines.push(record.describe());
        datagram = rest;
    }
    lines
}

/// DTLSCiphertext (RFC 6347 section 4.1).
struct Record<'d> {
    content_type: u8,
    epoch: u16,
    sequence_number: u64,
    fragment: &'d [u8],
}

impl<'d> Record<'d> {
    fn split(bytes: &'d [u8]) -> Option<(Self, &'d [u8])> {
        let (&[content_type, _, _, e0, e1, s0, s1, s2, s3, s4, s5, l0, l1], rest) =
            bytes.split_first_chunk()?;
        let length = usize::from(u16::from_be_bytes([l0, l1]));
        let (fragment, rest) = rest.split_at_checked(length)?;
        let record = Self {
            content_type,
            epoch: u16::from_be_bytes([e0, e1]),
            sequence_number: u64::from_be_bytes([0, 0, s0, s1, s2, s3, s4, s5]),
            fragment,
        };
        Some((record, rest))
    }

    fn describe(&self) -> String {
        let kind = match self.content_type {
            20 => "change_cipher_spec",
            21 => "alert",
            22 => "handshake",
            23 => "application_data",
            _ => "unknown type",
        };
        let mut text = format!(
            "epoch {} seq {} {kind}, {} bytes",
            self.epoch,
            self.sequence_number,
            self.fragment.len()
        );
        match (self.epoch, self.content_type) {
            (0, 21) => describe_alert(self.fragment, &mut text),
            (0, 22) => describe_messages(self.fragment, &mut text),
            (0, _) => {}
            _ => text.push_str(", encrypted"),
        }
        text
    }
}

/// Alert (RFC 5246 section 7.2).
fn describe_alert(fragment: &[u8], text: &mut String) {
    let &[level, description] = fragment else {
        return text.push_str(": malformed");
    };
    let level = match level {
        1 => "warning",
        2 => "fatal",
        _ => "unknown level",
    };
    let name = AlertDescription(description).name();
    text.push_str(": ");
    text.push_str(level);
    text.push(' ');
    text.push_str(name);
}

/// Handshake messages and fragments of them (RFC 6347 section 4.2.2).
fn describe_messages(mut fragment: &[u8], text: &mut String) {
    let mut separator = ": ";
    while !fragment.is_empty() {
        text.push_str(separator);
        separator = ", ";
        let Some((header, rest)) = fragment.split_first_chunk::<12>() else {
            return text.push_str("malformed");
        };
        let &[msg_type, n0, n1, n2, q0, q1, o0, o1, o2, l0, l1, l2] = header;
        let length = u32::from_be_bytes([0, n0, n1, n2]);
        let message_seq = u16::from_be_bytes([q0, q1]);
        let offset = u32::from_be_bytes([0, o0, o1, o2]);
        let fragment_length = u32::from_be_bytes([0, l0, l1, l2]);
        let name = message_name(msg_type);
        let _ = write!(text, "{name} seq {message_seq}");
        let _ = match (offset, fragment_length == length) {
            (0, true) => write!(text, " ({length} bytes)"),
            _ => write!(text, " ({fragment_length} bytes at {offset} of {length})"),
        };
        let body = usize::try_from(fragment_length).ok();
        match body.and_then(|body| rest.split_at_checked(body)) {
            Some((_, rest)) => fragment = rest,
            None => return text.push_str(" cut short"),
        }
    }
}

/// HandshakeType (RFC 5246 section 7.4, RFC 6347 section 4.3.2, RFC 5077 section 3.3).
const fn message_name(msg_type: u8) -> &'static str {
    match msg_type {
        0 => "HelloRequest",
        1 => "ClientHello",
        2 => "ServerHello",
        3 => "HelloVerifyRequest",
        4 => "NewSessionTicket",
        11 => "Certificate",
        12 => "ServerKeyExchange",
        13 => "CertificateRequest",
        14 => "ServerHelloDone",
        15 => "CertificateVerify",
        16 => "ClientKeyExchange",
        20 => "Finished",
        _ => "unknown message",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(content_type: u8, epoch: u8, fragment: &[u8]) -> Vec<u8> {
        let length = u16::try_from(fragment.len()).unwrap().to_be_bytes();
        let mut record = vec![content_type, 254, 253, 0, epoch, 0, 0, 0, 0, 0, 9];
        record.extend(length);
        record.extend(fragment);
        record
    }

    fn message(msg_type: u8, length: u8, offset: u8, body: &[u8]) -> Vec<u8> {
        let fragment_length = u8::try_from(body.len()).unwrap();
        let mut message = vec![msg_type, 0, 0, length, 0, 3, 0, 0, offset];
        message.extend([0, 0, fragment_length]);
        message.extend(body);
        message
    }

    /// RFC 6347 sections 4.1 and 4.2.2: several records in a datagram, several messages or a fragment in a record.
    #[test]
    fn a_flight_in_words() {
        let whole = [message(16, 2, 0, b"ab"), message(15, 1, 0, b"c")].concat();
        let datagram = [
            record(22, 0, &whole),
            record(22, 0, &message(11, 9, 4, b"de")),
            record(20, 0, &[1]),
            record(22, 1, &[0; 24]),
        ];
        assert_eq!(
            lines(&datagram.concat()),
            [
                "epoch 0 seq 9 handshake, 27 bytes: ClientKeyExchange seq 3 (2 bytes), CertificateVerify seq 3 (1 bytes)",
                "epoch 0 seq 9 handshake, 14 bytes: Certificate seq 3 (2 bytes at 4 of 9)",
                "epoch 0 seq 9 change_cipher_spec, 1 bytes",
                "epoch 1 seq 9 handshake, 24 bytes, encrypted",
            ]
        );
    }

    #[test]
    fn nonsense_is_called_so() {
        assert_eq!(lines(&[22; 12]), ["12 bytes that are no record"]);
        assert_eq!(
            lines(&record(21, 0, &[9])),
            ["epoch 0 seq 9 alert, 1 bytes: malformed"]
        );
        let mut cut = message(1, 40, 0, &[0; 3]);
        cut.pop();
        assert_eq!(
            lines(&record(22, 0, &cut)),
            ["epoch 0 seq 9 handshake, 14 bytes: ClientHello seq 3 (3 bytes at 0 of 40) cut short"]
        );
        assert_eq!(
            lines(&record(22, 0, &cut[..5])),
            ["epoch 0 seq 9 handshake, 5 bytes: malformed"]
        );
    }

    proptest! {
        /// Whatever comes in, the trace says something about every datagram that is not empty, in a bounded number of lines.
        #[test]
        fn garbage_never_stops_the_trace(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let lines = lines(&bytes);
            prop_assert_eq!(lines.is_empty(), bytes.is_empty());
            prop_assert!(lines.len() <= bytes.len() / 13 + 1);
        }

        /// The same behind well-formed record headers, so that the handshake messages are reached.
        #[test]
        fn garbage_in_a_record(kind in 20u8..24, body in proptest::collection::vec(any::<u8>(), 0..100)) {
            prop_assert_eq!(lines(&record(kind, 0, &body)).len(), 1);
        }
    }
}
