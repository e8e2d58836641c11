//! Protection of records with an AEAD (RFC 5246 section 6.2.3.3, RFC 6347 section 4.1.2.1, RFC 6655 section 3).

use super::window::ReplayWindow;
use super::{Record, begin};
use crate::crypto::{Aead, CryptoError, Symmetric};
use crate::discard::Discard;
use crate::error::{Fatal, SendError};
use crate::wire::DTLS_1_2;
use crate::wire::record::{ContentType, HEADER, RecordNumber};
use zeroize::Zeroize;

/// Length of the explicit part of the nonce.
const EXPLICIT: usize = 8;
/// Bytes in front of the payload and behind it.
pub(crate) const OVERHEAD: (usize, usize) = (HEADER + EXPLICIT, Aead::Aes128Ccm8.tag_len());

/// The largest plaintext of a record (RFC 5246 section 6.2.1).
const LARGEST: usize = 1 << 14;

/// What one direction is protected with; erased on drop. There is no copy of it.
struct Keys {
    aead: Aead,
    key: [u8; 16],
    salt: [u8; 4],
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.key.zeroize();
        self.salt.zeroize();
    }
}

impl Keys {
    /// Moves the keys and erases the place where they were.
    fn take(&mut self) -> Self {
        let (aead, key, salt) = (self.aead, self.key, self.salt);
        self.key.zeroize();
        self.salt.zeroize();
        Self { aead, key, salt }
    }

    /// RFC 6655 section 3: `salt || explicit`, and the explicit part is the record number, so it cannot repeat.
    fn nonce(&self, number: RecordNumber) -> [u8; 12] {
        let ([a, b, c, d], [e, f, g, h, i, j, k, l]) = (self.salt, number.0.to_be_bytes());
        [a, b, c, d, e, f, g, h, i, j, k, l]
    }
}

/// RFC 5246 section 6.2.3.3: number, type, version and length of the plaintext.
const fn additional_data(number: RecordNumber, content_type: ContentType, length: u16) -> [u8; 13] {
    let [a, b, c, d, e, f, g, h] = number.0.to_be_bytes();
    let ([major, minor], [hi, lo]) = (DTLS_1_2, length.to_be_bytes());
    [a, b, c, d, e, f, g, h, content_type.0, major, minor, hi, lo]
}

/// The epoch under the keys of the handshake. There is no other: renegotiation does not exist here.
const PROTECTED: u16 = 1;

/// Seals our records.
pub(crate) struct WriteKeys {
    keys: Keys,
    /// The next sequence number.
    next: u64,
}

impl WriteKeys {
    pub(crate) const fn new(aead: Aead, key: [u8; 16], salt: [u8; 4]) -> Self {
        Self {
            keys: Keys { aead, key, salt },
            next: 0,
        }
    }

    /// Moves the keys and erases the place where they were.
    pub(crate) fn take(&mut self) -> Self {
        Self {
            keys: self.keys.take(),
            next: self.next,
        }
    }

    /// Records sealed so far.
    pub(crate) const fn sealed(&self) -> u64 {
        self.next
    }

    /// Seals the `n` bytes that stand at `out[OVERHEAD.0..]`; returns the length of the record.
    ///
    /// The number is spent before the cipher runs: whatever happens then, no nonce is used twice.
    pub(crate) fn seal<S: Symmetric>(
        &mut self,
        symmetric: &mut S,
        content_type: ContentType,
        n: usize,
        out: &mut [u8],
    ) -> Result<usize, SendError> {
        let Keys { aead, .. } = self.keys;
        // RFC 6347 section 4.1: sequence numbers must not wrap. The last one is never used.
        if self.next >= RecordNumber::LAST {
            return Err(SendError::Exhausted);
        }
        let number = RecordNumber::new(PROTECTED, self.next);
        // RFC 5246 section 6.2.1: 2^14 bytes at most.
        if n > LARGEST {
            return Err(SendError::TooLong(LARGEST));
        }
        let sealed = EXPLICIT.saturating_add(n).saturating_add(aead.tag_len());
        let body = begin(content_type, number, out, sealed)?;
        self.next = self.next.saturating_add(1);
        let parts = body
            .split_first_chunk_mut()
            .and_then(|(explicit, rest)| Some((explicit, rest.split_at_mut_checked(n)?)));
        let (explicit, (message, tag)) = parts.ok_or(Fatal::Crypto)?;
        *explicit = number.0.to_be_bytes();
        let aad = additional_data(
            number,
            content_type,
            u16::try_from(n).map_err(|_| Fatal::Crypto)?,
        );
        symmetric
            .seal(
                aead,
                &self.keys.key,
                &self.keys.nonce(number),
                &aad,
                message,
                tag,
            )
            .map_err(|_| Fatal::Crypto)?;
        Ok(HEADER.saturating_add(sealed))
    }

    /// Seals a copy of `message`.
    pub(crate) fn seal_copy<S: Symmetric>(
        &mut self,
        symmetric: &mut S,
        content_type: ContentType,
        message: &[u8],
        out: &mut [u8],
    ) -> Result<usize, SendError> {
        let total = message
            .len()
            .saturating_add(OVERHEAD.0)
            .saturating_add(OVERHEAD.1);
        let room = out
            .get_mut(..total)
            .and_then(|out| out.get_mut(OVERHEAD.0..))
            .and_then(|out| out.get_mut(..message.len()));
        room.ok_or(SendError::TooSmall(total))?
            .copy_from_slice(message);
        self.seal(symmetric, content_type, message.len(), out)
    }
}

/// Opens the peer's records.
pub(crate) struct ReadKeys {
    keys: Keys,
    window: ReplayWindow,
}

impl ReadKeys {
    pub(crate) fn new(aead: Aead, key: [u8; 16], salt: [u8; 4]) -> Self {
        Self {
            keys: Keys { aead, key, salt },
            window: ReplayWindow::default(),
        }
    }

    /// Moves the keys and erases the place where they were.
    pub(crate) fn take(&mut self) -> Self {
        Self {
            keys: self.keys.take(),
            window: self.window,
        }
    }

    /// Decrypts a record in place. Only one that verifies moves the replay window (RFC 6347 section 4.1.2.6).
    ///
    /// # Errors
    /// Why the record is to be dropped; its body is then worthless.
    pub(crate) fn open<'d, S: Symmetric>(
        &mut self,
        symmetric: &mut S,
        record: Record<'d>,
    ) -> Result<&'d mut [u8], Discard> {
        let Record {
            content_type,
            number,
            body,
        } = record;
        if number.epoch() != PROTECTED {
            return Err(Discard::Unexpected);
        }
        let Keys { aead, .. } = self.keys;
        let overhead = EXPLICIT.saturating_add(aead.tag_len());
        let n = body.len().checked_sub(overhead).ok_or(Discard::Malformed)?;
        // RFC 5246 section 6.2.1: 2^14 bytes at most.
        if n > LARGEST {
            return Err(Discard::Malformed);
        }
        if !self.window.is_new(number.sequence()) {
            return Err(Discard::Replayed);
        }
        let (explicit, rest) = body.split_first_chunk_mut().ok_or(Discard::Malformed)?;
        let (message, tag) = rest.split_at_mut_checked(n).ok_or(Discard::Malformed)?;
        let aad = additional_data(
            number,
            content_type,
            u16::try_from(n).map_err(|_| Discard::Malformed)?,
        );
        // The peer chooses the explicit part; that it is the record number is a custom, not a rule.
        let nonce = self.keys.nonce(RecordNumber(u64::from_be_bytes(*explicit)));
        match symmetric.open(aead, &self.keys.key, &nonce, &aad, message, tag) {
            Ok(()) => {
                self.window.note(number.sequence());
                Ok(message)
            }
            Err(CryptoError::Invalid | CryptoError::Failed) => Err(Discard::BadMac),
        }
    }
}

#[cfg(all(test, feature = "rustcrypto"))]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::crypto::rustcrypto::SoftSymmetric;
    use crate::wire::record::Header;

    const DATA: ContentType = ContentType::APPLICATION_DATA;

    fn pair() -> (WriteKeys, ReadKeys) {
        let (aead, key, salt) = (Aead::Aes128Ccm8, [7; 16], [9; 4]);
        (
            WriteKeys::new(aead, key, salt),
            ReadKeys::new(aead, key, salt),
        )
    }

    fn record(datagram: &mut [u8]) -> Record<'_> {
        let (header, body) = datagram.split_first_chunk_mut().unwrap();
        let Header {
            content_type,
            number,
            ..
        } = Header::parse(header);
        Record {
            content_type,
            number,
            body,
        }
    }

    /// RFC 6347 section 4.1: sequence numbers never wrap, and refusing one more does not use one up.
    #[test]
    fn sequence_numbers_end_before_they_wrap() {
        let (mut write, mut read) = pair();
        let mut out = [0; 64];
        write.next = RecordNumber::LAST - 1;
        let n = write
            .seal_copy(&mut SoftSymmetric, DATA, b"last", &mut out)
            .unwrap();
        assert_eq!(out[3..11], [0, 1, 255, 255, 255, 255, 255, 254]);
        assert_eq!(
            read.open(&mut SoftSymmetric, record(&mut out[..n]))
                .unwrap(),
            b"last"
        );
        for _ in 0..3 {
            let refused = write.seal_copy(&mut SoftSymmetric, DATA, b"more", &mut out);
            assert_eq!(refused, Err(SendError::Exhausted));
            assert_eq!(write.sealed(), RecordNumber::LAST);
        }
    }

    /// RFC 6655 section 3, RFC 5246 section 6.2.3.3: whatever is changed in a record, it does not open; and that moves no
    /// window (RFC 6347 section 4.1.2.6), so that the record itself still does.
    #[test]
    fn every_byte_is_authenticated() {
        let (mut write, mut read) = pair();
        let mut sealed = [0; 64];
        let n = write
            .seal_copy(&mut SoftSymmetric, DATA, b"payload", &mut sealed)
            .unwrap();
        for position in 0..n {
            let mut forged = sealed;
            forged[position] ^= 1;
            if !(1..=2).contains(&position) && !(11..=12).contains(&position) {
                let opened = read
                    .open(&mut SoftSymmetric, record(&mut forged[..n]))
                    .map(drop);
                let wrong_epoch = (3..=4).contains(&position);
                let expected = if wrong_epoch {
                    Discard::Unexpected
                } else {
                    Discard::BadMac
                };
                assert_eq!(opened, Err(expected), "{position}");
            }
        }
        assert_eq!(
            read.open(&mut SoftSymmetric, record(&mut sealed[..n]))
                .unwrap(),
            b"payload"
        );
    }

    /// Protected records too short for nonce and tag.
    #[test]
    fn short_records_are_malformed() {
        let (_, mut read) = pair();
        for n in 0..16 {
            let mut body = [0; 16];
            let record = Record {
                content_type: DATA,
                number: RecordNumber::new(1, 0),
                body: &mut body[..n],
            };
            assert_eq!(
                read.open(&mut SoftSymmetric, record).map(drop),
                Err(Discard::Malformed)
            );
        }
    }

    /// RFC 5246 section 6.2.1.
    #[test]
    fn the_largest_plaintext() {
        let (mut write, mut read) = pair();
        let mut out = std::vec![0; LARGEST + 64];
        assert!(
            write
                .seal(&mut SoftSymmetric, DATA, LARGEST, &mut out)
                .is_ok()
        );
        let refused = write.seal(&mut SoftSymmetric, DATA, LARGEST + 1, &mut out);
        assert_eq!(refused, Err(SendError::TooLong(LARGEST)));

        for (n, expected) in [
            (LARGEST, Discard::BadMac),
            (LARGEST + 1, Discard::Malformed),
        ] {
            let record = Record {
                content_type: DATA,
                number: RecordNumber::new(1, 0),
                body: &mut out[..EXPLICIT + n + 8],
            };
            let opened = read.open(&mut SoftSymmetric, record).map(drop);
            assert_eq!(opened, Err(expected));
        }
    }
}
