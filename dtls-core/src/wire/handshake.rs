//! The handshake header and its fragments (RFC 6347 section 4.2.2).

use super::{Malformed, Reader};

/// `HandshakeType` (RFC 5246 section 7.4, RFC 6347 section 4.3.2).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct HandshakeType(pub(crate) u8);

impl HandshakeType {
    pub(crate) const HELLO_REQUEST: Self = Self(0);
    pub(crate) const CLIENT_HELLO: Self = Self(1);
    pub(crate) const SERVER_HELLO: Self = Self(2);
    pub(crate) const HELLO_VERIFY_REQUEST: Self = Self(3);
    pub(crate) const CERTIFICATE: Self = Self(11);
    pub(crate) const SERVER_KEY_EXCHANGE: Self = Self(12);
    pub(crate) const CERTIFICATE_REQUEST: Self = Self(13);
    pub(crate) const SERVER_HELLO_DONE: Self = Self(14);
    pub(crate) const CERTIFICATE_VERIFY: Self = Self(15);
    pub(crate) const CLIENT_KEY_EXCHANGE: Self = Self(16);
    pub(crate) const FINISHED: Self = Self(20);
}

/// Length of a handshake header.
pub(crate) const HEADER: usize = 12;

/// Header of one fragment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Header {
    pub(crate) kind: HandshakeType,
    /// Length of the whole message.
    pub(crate) length: u32,
    pub(crate) message_seq: u16,
    pub(crate) fragment_offset: u32,
    pub(crate) fragment_length: u32,
}

impl Header {
    /// The header of an unfragmented message, as the transcript hash sees it (RFC 6347 section 4.2.6).
    pub(crate) const fn whole(kind: HandshakeType, length: u32, message_seq: u16) -> Self {
        Self {
            kind,
            length,
            message_seq,
            fragment_offset: 0,
            fragment_length: length,
        }
    }

    pub(crate) const fn emit(self) -> [u8; HEADER] {
        let [_, l0, l1, l2] = self.length.to_be_bytes();
        let [s0, s1] = self.message_seq.to_be_bytes();
        let [_, o0, o1, o2] = self.fragment_offset.to_be_bytes();
        let [_, f0, f1, f2] = self.fragment_length.to_be_bytes();
        [self.kind.0, l0, l1, l2, s0, s1, o0, o1, o2, f0, f1, f2]
    }
}

/// One fragment: a piece of a handshake message, or all of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragment<'a> {
    pub(crate) header: Header,
    pub(crate) body: &'a [u8],
}

impl<'a> Fragment<'a> {
    /// Takes the next fragment off a record. Its bounds are consistent: offset + length never exceeds the message.
    pub(crate) fn parse(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let kind = HandshakeType(reader.u8()?);
        let (length, message_seq) = (reader.u24()?, reader.u16()?);
        let (fragment_offset, fragment_length) = (reader.u24()?, reader.u24()?);
        let body = reader.bytes(usize::try_from(fragment_length).map_err(|_| Malformed)?)?;
        let header = Header {
            kind,
            length,
            message_seq,
            fragment_offset,
            fragment_length,
        };
        // A fragment without content helps nobody unless the message has none (fragment_length 0 of a longer message
        // has been used to make receivers loop or underflow).
        let end = fragment_offset.saturating_add(fragment_length);
        let useful = fragment_length > 0 || length == 0;
        if end <= length && useful {
            Ok(Self { header, body })
        } else {
            Err(Malformed)
        }
    }

    /// The fragment is the message.
    pub(crate) const fn is_whole(&self) -> bool {
        self.header.fragment_length == self.header.length
    }
}

/// A whole Finished message, header included (RFC 5246 section 7.4.9).
pub(crate) fn finished(message_seq: u16, verify_data: &[u8; 12]) -> [u8; HEADER + 12] {
    let mut message = [0; HEADER + 12];
    let header = Header::whole(HandshakeType::FINISHED, 12, message_seq).emit();
    for (to, from) in message.iter_mut().zip(header.iter().chain(verify_data)) {
        *to = *from;
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(bytes: &[u8]) -> Result<Header, Malformed> {
        Fragment::parse(&mut Reader::new(bytes)).map(|fragment| fragment.header)
    }

    /// RFC 6347 section 4.2.2.
    #[test]
    fn header_round_trip() {
        let header = Header {
            kind: HandshakeType::CERTIFICATE,
            length: 0x010203,
            message_seq: 0x0405,
            fragment_offset: 0x000607,
            fragment_length: 2,
        };
        let mut bytes = [0; 14];
        bytes[..12].copy_from_slice(&header.emit());
        assert_eq!(parse(&bytes), Ok(header));
        for short in 0..14 {
            assert_eq!(parse(&bytes[..short]), Err(Malformed));
        }
    }

    /// Fragment bounds that other stacks got wrong: an offset without length, an end behind the message, a huge length.
    #[test]
    fn impossible_fragments() {
        for [length, offset, fragment] in
            [[100, 50, 0], [17, 255, 16_777_198], [10, 8, 3], [0, 1, 0]]
        {
            let header = Header {
                kind: HandshakeType::CERTIFICATE,
                length,
                message_seq: 3,
                fragment_offset: offset,
                fragment_length: fragment,
            };
            let mut bytes = [0; 64];
            bytes[..12].copy_from_slice(&header.emit());
            assert_eq!(parse(&bytes), Err(Malformed), "{header:?}");
        }
    }
}
