use crate::discard::Discard;
use crate::error::SendError;
use crate::event::ClientHelloRecord;
use crate::probe::Probe;
use crate::wire::record::{ContentType, HEADER, Header, RecordNumber};
use crate::wire::{DTLS_1_2, handshake::HandshakeType};
use core::{fmt, mem};

/// A received datagram: a cursor over its records, which are decrypted in place. What one owner leaves the next one
/// takes, so that application data which shares a datagram with Finished reaches the new association.
pub struct Datagram<'d> {
    rest: &'d mut [u8],
    /// Length of the whole, until it is booked.
    unbooked: u16,
}

impl<'d> Datagram<'d> {
    /// Wraps one UDP payload.
    pub fn new(payload: &'d mut [u8]) -> Self {
        let unbooked = u16::try_from(payload.len()).unwrap_or(u16::MAX);
        Self {
            rest: payload,
            unbooked,
        }
    }

    /// The ClientHello in a datagram from an address that has neither an association nor a handshake.
    pub fn client_hello<B: Probe + ?Sized>(
        &mut self,
        probe: &mut B,
    ) -> Option<ClientHelloRecord<'d>> {
        while let Some(record) = self.next(probe) {
            if record.client_random().is_some() {
                return Some(ClientHelloRecord(record));
            }
            probe.discarded(Discard::Unexpected);
        }
        None
    }

    /// Takes the next record that is well-formed. One bad record does not spoil the datagram, a wrong length does
    /// (RFC 6347 section 4.1.2.7).
    pub(crate) fn next<B: Probe + ?Sized>(&mut self, probe: &mut B) -> Option<Record<'d>> {
        while !self.rest.is_empty() {
            if let Some((header, body)) = self.split() {
                let plausible = match header.number.epoch() {
                    // RFC 5246 appendix E.1: before a version is negotiated, records of any DTLS will do.
                    0 => matches!(header.version, [254, _]),
                    _ => header.version == DTLS_1_2,
                };
                if plausible {
                    return Some(Record {
                        content_type: header.content_type,
                        number: header.number,
                        body,
                    });
                }
            }
            probe.discarded(Discard::Malformed);
        }
        None
    }

    /// Header and body of the next record; takes all if they do not fit.
    fn split(&mut self) -> Option<(Header, &'d mut [u8])> {
        let (header, rest) = mem::take(&mut self.rest).split_first_chunk_mut::<HEADER>()?;
        let header = Header::parse(header);
        let (body, rest) = rest.split_at_mut_checked(header.length.into())?;
        self.rest = rest;
        Some((header, body))
    }

    /// The length of the whole, the first time it is asked.
    pub(crate) fn take_length(&mut self) -> Option<u16> {
        Some(mem::take(&mut self.unbooked)).filter(|n| *n > 0)
    }
}

impl fmt::Debug for Datagram<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Datagram({} bytes left)", self.rest.len())
    }
}

/// One record, its header taken off.
pub(crate) struct Record<'d> {
    pub(crate) content_type: ContentType,
    pub(crate) number: RecordNumber,
    pub(crate) body: &'d mut [u8],
}

impl Record<'_> {
    /// The client's random, if this plaintext record begins with a ClientHello that has one in its first fragment.
    pub(crate) fn client_random(&self) -> Option<&[u8; 32]> {
        let is_hello = self.content_type == ContentType::HANDSHAKE
            && self.number.epoch() == 0
            && self.body.first() == Some(&HandshakeType::CLIENT_HELLO.0);
        // handshake header (12) and client_version (2) stand before it
        self.body.get(14..).filter(|_| is_hello)?.first_chunk()
    }
}

impl fmt::Debug for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Record({:?}, {:?}, {} bytes)",
            self.content_type,
            self.number,
            self.body.len()
        )
    }
}

/// Starts a record at the front of `out`: writes the header for a body of `n` bytes, which it returns to be filled in.
pub(crate) fn begin(
    content_type: ContentType,
    number: RecordNumber,
    out: &mut [u8],
    n: usize,
) -> Result<&mut [u8], SendError> {
    let total = HEADER.saturating_add(n);
    let too_small = SendError::TooSmall(total);
    let length = u16::try_from(n).map_err(|_| too_small)?;
    let (head, body) = out
        .get_mut(..total)
        .and_then(<[u8]>::split_first_chunk_mut::<HEADER>)
        .ok_or(too_small)?;
    *head = Header {
        content_type,
        version: DTLS_1_2,
        number,
        length,
    }
    .emit();
    Ok(body)
}
