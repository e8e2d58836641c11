//! Just enough of the wire format to look into datagrams and to damage them (RFC 6347 sections 4.1 and 4.2.2).

use core::ops::Range;

/// Bytes of a record header.
pub const RECORD_HEADER: usize = 13;
/// Bytes of a handshake header.
pub const HANDSHAKE_HEADER: usize = 12;

/// Content type of alerts.
pub const ALERT: u8 = 21;
/// Content type of handshake messages.
pub const HANDSHAKE: u8 = 22;
/// Content type of application data.
pub const APPLICATION_DATA: u8 = 23;

/// Handshake type of a ClientHello.
pub const CLIENT_HELLO: u8 = 1;
/// Handshake type of a ServerHello.
pub const SERVER_HELLO: u8 = 2;
/// Handshake type of a HelloVerifyRequest.
pub const HELLO_VERIFY_REQUEST: u8 = 3;
/// Handshake type of a Certificate.
pub const CERTIFICATE: u8 = 11;
/// Handshake type of a ServerKeyExchange.
pub const SERVER_KEY_EXCHANGE: u8 = 12;
/// Handshake type of a CertificateRequest.
pub const CERTIFICATE_REQUEST: u8 = 13;
/// Handshake type of a ServerHelloDone.
pub const SERVER_HELLO_DONE: u8 = 14;
/// Handshake type of a CertificateVerify.
pub const CERTIFICATE_VERIFY: u8 = 15;
/// Handshake type of a ClientKeyExchange.
pub const CLIENT_KEY_EXCHANGE: u8 = 16;

/// Where a record lies in a datagram.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Record {
    /// Content type.
    pub kind: u8,
    /// Epoch.
    pub epoch: u16,
    /// Header and fragment.
    pub range: Range<usize>,
}

/// Where a plaintext handshake message, or a fragment of one, lies in a datagram.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Message {
    /// Handshake type.
    pub kind: u8,
    /// message_seq.
    pub seq: u16,
    /// The record that carries it.
    pub record: Range<usize>,
    /// Header and body.
    pub range: Range<usize>,
}

impl Message {
    /// Bytes of its body.
    #[must_use]
    pub fn body_len(&self) -> usize {
        self.range.len() - HANDSHAKE_HEADER
    }
}

/// The records of a datagram that one of us wrote.
#[must_use]
pub fn records(datagram: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut at = 0;
    while let Some(header) = datagram.get(at..at + RECORD_HEADER) {
        let end = at + RECORD_HEADER + usize::from(u16::from_be_bytes([header[11], header[12]]));
        records.push(Record {
            kind: header[0],
            epoch: u16::from_be_bytes([header[3], header[4]]),
            range: at..end,
        });
        at = end;
    }
    records
}

/// The plaintext handshake messages of a datagram that one of us wrote.
#[must_use]
pub fn messages(datagram: &[u8]) -> Vec<Message> {
    let mut messages = Vec::new();
    for record in records(datagram) {
        if record.kind != HANDSHAKE || record.epoch != 0 {
            continue;
        }
        let mut at = record.range.start + RECORD_HEADER;
        while at < record.range.end {
            let header = &datagram[at..at + HANDSHAKE_HEADER];
            let end = at + HANDSHAKE_HEADER + u24(&header[9..]);
            messages.push(Message {
                kind: header[0],
                seq: u16::from_be_bytes([header[4], header[5]]),
                record: record.range.clone(),
                range: at..end,
            });
            at = end;
        }
    }
    messages
}

/// The plaintext alerts of a datagram: level and description.
#[must_use]
pub fn alerts(datagram: &[u8]) -> Vec<(u8, u8)> {
    let plain = records(datagram).into_iter();
    plain
        .filter(|record| record.kind == ALERT && record.epoch == 0)
        .map(|record| {
            let body = record.range.start + RECORD_HEADER;
            (datagram[body], datagram[body + 1])
        })
        .collect()
}

/// A plaintext record in epoch 0, as anybody can forge it.
#[must_use]
pub fn forged(kind: u8, sequence: u16, body: &[u8]) -> Vec<u8> {
    let mut record = vec![kind, 254, 253, 0, 0, 0, 0, 0, 0];
    record.extend(sequence.to_be_bytes());
    record.extend(
        u16::try_from(body.len())
            .expect("a short body")
            .to_be_bytes(),
    );
    record.extend(body);
    record
}

/// Cuts a whole message of a datagram down to `len` bytes of body, and tells so in its header and its record's: a message
/// that arrives in order and is complete, but too short.
pub fn truncate(datagram: &mut Vec<u8>, message: &Message, len: usize) {
    let cut = message.body_len() - len;
    datagram.drain(message.range.end - cut..message.range.end);
    put_u24(&mut datagram[message.range.start + 1..], len);
    put_u24(&mut datagram[message.range.start + 9..], len);
    let fragment = message.record.len() - RECORD_HEADER - cut;
    let [.., high, low] = fragment.to_be_bytes();
    datagram[message.record.start + 11] = high;
    datagram[message.record.start + 12] = low;
}

/// Alters every whole plaintext message of a type: its type and its body. The headers are made to agree.
pub fn alter(datagram: &mut Vec<u8>, kind: u8, change: &mut dyn FnMut(&mut u8, &mut Vec<u8>)) {
    for index in 0.. {
        let Some(message) = messages(datagram).into_iter().nth(index) else {
            return;
        };
        let whole = u24(&datagram[message.range.start + 1..]) == message.body_len();
        if message.kind != kind || !whole {
            continue;
        }
        let (start, body) = (
            message.range.start,
            message.range.start + HANDSHAKE_HEADER..message.range.end,
        );
        let mut altered = datagram[body.clone()].to_vec();
        change(&mut datagram[start], &mut altered);
        let fragment = message.record.len() - RECORD_HEADER - body.len() + altered.len();
        put_u24(&mut datagram[start + 1..], altered.len());
        put_u24(&mut datagram[start + 9..], altered.len());
        datagram.splice(body, altered);
        let length = &mut datagram[message.record.start + 11..message.record.start + RECORD_HEADER];
        length.copy_from_slice(&fragment.to_be_bytes()[6..]);
    }
}

fn u24(bytes: &[u8]) -> usize {
    bytes[..3]
        .iter()
        .fold(0, |value, &byte| value << 8 | usize::from(byte))
}

fn put_u24(bytes: &mut [u8], value: usize) {
    bytes[..3].copy_from_slice(&value.to_be_bytes()[5..]);
}

/// The records of a datagram, each plaintext handshake message in one of its own. Records of epoch 0 are numbered anew, in
/// the same order as before.
#[must_use]
pub fn split(datagram: &[u8]) -> Vec<Vec<u8>> {
    let mut split = Vec::new();
    for record in records(datagram) {
        let bytes = &datagram[record.range.clone()];
        let bodies: Vec<&[u8]> = match (record.kind, record.epoch) {
            (HANDSHAKE, 0) => {
                let inside = messages(datagram)
                    .into_iter()
                    .filter(|message| message.record == record.range);
                inside.map(|message| &datagram[message.range]).collect()
            }
            _ => vec![&bytes[RECORD_HEADER..]],
        };
        for (nth, body) in bodies.into_iter().enumerate() {
            let mut piece = bytes[..RECORD_HEADER].to_vec();
            if record.epoch == 0 {
                let number = u64::from_be_bytes(piece[3..11].try_into().expect("eight bytes"));
                let number = number * 16 + u64::try_from(nth).expect("few messages");
                piece[3..11].copy_from_slice(&number.to_be_bytes());
            }
            piece[11..]
                .copy_from_slice(&u16::try_from(body.len()).expect("a record").to_be_bytes());
            piece.extend_from_slice(body);
            split.push(piece);
        }
    }
    split
}
