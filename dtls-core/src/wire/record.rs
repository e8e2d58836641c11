//! The record header (RFC 6347 section 4.1).

/// What a record carries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ContentType(pub(crate) u8);

impl ContentType {
    pub(crate) const CHANGE_CIPHER_SPEC: Self = Self(20);
    pub(crate) const ALERT: Self = Self(21);
    pub(crate) const HANDSHAKE: Self = Self(22);
    pub(crate) const APPLICATION_DATA: Self = Self(23);
}

/// Length of a record header.
pub(crate) const HEADER: usize = 13;

/// Epoch and sequence number in one, as on the wire: 16 and 48 bits.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct RecordNumber(pub(crate) u64);

impl RecordNumber {
    pub(crate) const fn new(epoch: u16, sequence: u64) -> Self {
        Self(((epoch as u64) << 48) | (sequence & Self::LAST))
    }

    /// The largest sequence number of an epoch.
    pub(crate) const LAST: u64 = (1 << 48) - 1;

    pub(crate) const fn epoch(self) -> u16 {
        let [a, b, ..] = self.0.to_be_bytes();
        u16::from_be_bytes([a, b])
    }

    pub(crate) const fn sequence(self) -> u64 {
        self.0 & Self::LAST
    }
}

/// A record header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Header {
    pub(crate) content_type: ContentType,
    pub(crate) version: [u8; 2],
    pub(crate) number: RecordNumber,
    pub(crate) length: u16,
}

impl Header {
    pub(crate) const fn parse(bytes: &[u8; HEADER]) -> Self {
        let [kind, major, minor, a, b, c, d, e, f, g, h, hi, lo] = *bytes;
        Self {
            content_type: ContentType(kind),
            version: [major, minor],
            number: RecordNumber(u64::from_be_bytes([a, b, c, d, e, f, g, h])),
            length: u16::from_be_bytes([hi, lo]),
        }
    }

    pub(crate) const fn emit(self) -> [u8; HEADER] {
        let [major, minor] = self.version;
        let [a, b, c, d, e, f, g, h] = self.number.0.to_be_bytes();
        let [hi, lo] = self.length.to_be_bytes();
        [
            self.content_type.0,
            major,
            minor,
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
            hi,
            lo,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_round_trip() {
        let header = Header {
            content_type: ContentType::HANDSHAKE,
            version: super::super::DTLS_1_2,
            number: RecordNumber::new(1, RecordNumber::LAST),
            length: 0x1234,
        };
        assert_eq!(Header::parse(&header.emit()), header);
        assert_eq!(header.emit()[3..11], [0, 1, 255, 255, 255, 255, 255, 255]);
        assert_eq!(
            (header.number.epoch(), header.number.sequence()),
            (1, RecordNumber::LAST)
        );
    }
}
