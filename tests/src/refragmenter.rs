//! A middlebox that cuts handshake messages into other pieces, as another implementation would have done.

use crate::network::Passing;
use crate::wire::{self, CLIENT_HELLO, HANDSHAKE, HANDSHAKE_HEADER, RECORD_HEADER};
use core::net::SocketAddr;
use std::collections::HashMap;

/// How the plaintext messages of a flight are cut and packed.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Bytes of a body in one fragment, at most.
    pub fragment: usize,
    /// Bytes of the fragment before that are repeated in front.
    pub overlap: usize,
    /// Fragments in one record, at most.
    pub record: usize,
    /// Bytes in one datagram, at most, unless a single record has more.
    pub datagram: usize,
    /// The last fragment first.
    pub backwards: bool,
}

impl Shape {
    /// One whole message in each record, and all of them in one datagram.
    pub const WHOLE: Self = Self {
        fragment: usize::MAX,
        overlap: 0,
        record: 1,
        datagram: 1232,
        backwards: false,
    };
}

/// Cuts each datagram into the next of its shapes, so that a retransmission never looks like what it repeats. Only
/// ClientHellos stay whole: a gate that keeps no state cannot put them together (RFC 6347 section 4.2.1).
#[derive(Debug)]
pub struct Refragmenter {
    shapes: Vec<Shape>,
    /// Datagrams so far.
    datagrams: usize,
    /// The next record number of epoch 0, for each sender.
    numbers: HashMap<SocketAddr, u16>,
}

impl Refragmenter {
    /// A middlebox that uses these shapes in turn.
    #[must_use]
    pub fn new(shapes: &[Shape]) -> Self {
        Self {
            shapes: shapes.to_vec(),
            datagrams: 0,
            numbers: HashMap::new(),
        }
    }

    /// Cuts a datagram, possibly into several.
    pub fn cut(&mut self, passing: &mut Passing<'_>) {
        let shape = self.shapes[self.datagrams % self.shapes.len()];
        self.datagrams += 1;
        let mut datagrams = vec![Vec::new()];
        let number = self.numbers.entry(passing.from).or_default();
        for record in records(passing.bytes, shape, number) {
            if datagrams.last().map_or(0, Vec::len) + record.len() > shape.datagram {
                datagrams.push(Vec::new());
            }
            datagrams.last_mut().expect("one is there").extend(record);
        }
        datagrams.retain(|datagram| !datagram.is_empty());
        let mut datagrams = datagrams.into_iter();
        *passing.bytes = datagrams.next().unwrap_or_default();
        passing.followers.extend(datagrams);
    }
}

/// The records of a datagram in another shape; those of epoch 0 get numbers of their own.
fn records(datagram: &[u8], shape: Shape, number: &mut u16) -> Vec<Vec<u8>> {
    let messages = wire::messages(datagram);
    let mut records = Vec::new();
    let mut plain = |kind, body: &[u8]| {
        *number += 1;
        wire::forged(kind, *number, body)
    };
    for record in wire::records(datagram) {
        let body = &datagram[record.range.clone()][RECORD_HEADER..];
        match (record.kind, record.epoch) {
            (HANDSHAKE, 0) => {
                let inside = messages
                    .iter()
                    .filter(|message| message.record == record.range);
                let mut fragments: Vec<_> = inside
                    .flat_map(|message| fragments(&datagram[message.range.clone()], shape))
                    .collect();
                if shape.backwards {
                    fragments.reverse();
                }
                let bodies = fragments.chunks(shape.record).map(<[_]>::concat);
                records.extend(bodies.map(|body| plain(HANDSHAKE, &body)));
            }
            (kind, 0) => records.push(plain(kind, body)),
            _ => records.push(datagram[record.range].to_vec()),
        }
    }
    records
}

/// A message, or a fragment of one, in pieces.
fn fragments(message: &[u8], shape: Shape) -> Vec<Vec<u8>> {
    let (header, body) = message.split_at(HANDSHAKE_HEADER);
    if header[0] == CLIENT_HELLO || body.is_empty() {
        return vec![message.to_vec()];
    }
    let offset = u32::from_be_bytes([0, header[6], header[7], header[8]]);
    let starts = (0..body.len()).step_by(shape.fragment.min(body.len()));
    starts
        .map(|start| {
            let end = start.saturating_add(shape.fragment).min(body.len());
            let start = start.saturating_sub(shape.overlap);
            let as_u32 = |n: usize| u32::try_from(n).expect("a short message");
            let [_, offset @ ..] = (offset + as_u32(start)).to_be_bytes();
            let [_, length @ ..] = as_u32(end - start).to_be_bytes();
            [&header[..6], &offset, &length, &body[start..end]].concat()
        })
        .collect()
}
