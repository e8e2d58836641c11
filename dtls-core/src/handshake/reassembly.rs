//! Putting handshake messages together and in order (RFC 6347 sections 4.2.2 and 4.2.3), in lent memory.
//!
//! A message that is due and comes in one piece never gets here. Others lie in the arena as blocks: the bytes, then one
//! bit for each byte that has come, so that fragments may overlap in any way. When memory is short, the message that is
//! due displaces those that came early; the peer will repeat them.

use crate::discard::Discard;
use crate::error::Fatal;
use crate::wire::handshake::{Fragment, HandshakeType, Header};
use core::ops::Range;

/// How far ahead of the message that is due others are kept: the longest flight has five messages.
const AHEAD: u16 = 6;

/// Where a message lies.
#[derive(Clone, Copy, Debug)]
struct Block {
    kind: HandshakeType,
    message_seq: u16,
    offset: u16,
    length: u16,
    /// Bytes that have not come yet.
    missing: u16,
    use_of: Use,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Use {
    Free = 0,
    /// A message that is not complete, or not due.
    Message,
    /// A message that has been processed, but whose body is still needed.
    Kept,
}

impl Block {
    const FREE: Self = Self {
        kind: HandshakeType::HELLO_REQUEST,
        message_seq: 0,
        offset: 0,
        length: 0,
        missing: 0,
        use_of: Use::Free,
    };

    fn body(&self) -> Range<usize> {
        let start = usize::from(self.offset);
        start..start.saturating_add(self.length.into())
    }

    fn end(&self) -> usize {
        let bits = match self.use_of {
            Use::Kept => 0,
            Use::Free | Use::Message => bitmap_length(self.length.into()),
        };
        self.body().end.saturating_add(bits)
    }

    fn is_kept(&self, kind: HandshakeType) -> bool {
        self.use_of == Use::Kept && self.kind == kind
    }

    fn is_message(&self, message_seq: u16) -> bool {
        self.use_of == Use::Message && self.message_seq == message_seq
    }
}

const fn bitmap_length(length: usize) -> usize {
    length.div_ceil(8)
}

/// What becomes of a fragment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sorted {
    /// It is the message that is due, in one piece: process it from where it lies.
    Whole,
    /// It lies in the arena now.
    Stored,
    /// It is of no use.
    Dropped(Discard),
}

/// The messages that came early or in pieces, and those whose body is kept: a HelloVerifyRequest, a Certificate.
#[derive(Debug)]
pub(super) struct Reassembly {
    /// The message_seq that is due.
    next: u16,
    blocks: [Block; AHEAD as usize],
    /// The length of a message that was too large for the arena.
    too_large: u32,
}

impl Reassembly {
    pub(super) const fn new() -> Self {
        Self {
            next: 0,
            blocks: [Block::FREE; AHEAD as usize],
            too_large: 0,
        }
    }

    /// Begins at this message_seq.
    pub(super) const fn expect(&mut self, message_seq: u16) {
        self.next = message_seq;
    }

    /// The message_seq that is due.
    pub(super) const fn next(&self) -> u16 {
        self.next
    }

    /// A message with this number has been processed.
    pub(super) const fn is_past(&self, message_seq: u16) -> bool {
        message_seq < self.next
    }

    /// The length of a message that the arena was too small for, if there was one.
    pub(super) fn too_large(&self) -> Option<u32> {
        Some(self.too_large).filter(|length| *length > 0)
    }

    /// Decides about a fragment that is not past, and stores it if it is not the whole message that is due.
    pub(super) fn sort(&mut self, memory: &mut [u8], fragment: &Fragment<'_>) -> Sorted {
        let Header { message_seq, .. } = fragment.header;
        if message_seq == self.next && fragment.is_whole() {
            return Sorted::Whole;
        }
        if message_seq.saturating_sub(self.next) >= AHEAD {
            return Sorted::Dropped(Discard::Early);
        }
        match self.store(memory, fragment) {
            Some(()) => Sorted::Stored,
            None if message_seq == self.next => {
                self.too_large = fragment.header.length;
                Sorted::Dropped(Discard::TooLarge)
            }
            None => Sorted::Dropped(Discard::Early),
        }
    }

    /// Copies a fragment into its block; `None` if there is no room for the message.
    fn store(&mut self, memory: &mut [u8], fragment: &Fragment<'_>) -> Option<()> {
        let Header {
            kind, message_seq, ..
        } = fragment.header;
        let length = u16::try_from(fragment.header.length).ok()?;
        let offset = usize::try_from(fragment.header.fragment_offset).ok()?;
        let found = self
            .blocks
            .iter()
            .position(|block| block.is_message(message_seq));
        let found = match found.and_then(|index| self.blocks.get_mut(index)) {
            // Fragments that contradict each other never mix: the latest wins, so that a forger has to keep on.
            Some(block) if block.kind != kind || block.length != length => {
                *block = Block::FREE;
                None
            }
            _ => found,
        };
        let index = match found {
            Some(index) => index,
            None => self.allocate(memory, kind, message_seq, length)?,
        };
        let block = self.blocks.get_mut(index)?;
        let (body, bits) = memory
            .get_mut(block.offset.into()..block.end())?
            .split_at_mut_checked(length.into())?;
        for (position, byte) in (offset..).zip(fragment.body) {
            let bit = bits.get_mut(position / 8)?;
            let mask = 1u8.checked_shl(u32::try_from(position % 8).ok()?)?;
            if *bit & mask == 0 {
                *bit |= mask;
                block.missing = block.missing.saturating_sub(1);
                *body.get_mut(position)? = *byte;
            }
        }
        Some(())
    }

    /// Forgets everything.
    pub(super) const fn clear(&mut self) {
        self.blocks = [Block::FREE; AHEAD as usize];
    }

    /// Forgets all messages that are not complete, or not due.
    pub(super) fn forget_early(&mut self) {
        self.blocks
            .iter_mut()
            .filter(|block| block.use_of == Use::Message)
            .for_each(|block| *block = Block::FREE);
    }

    /// Makes a block for a message; for the one that is due at the expense of others.
    fn allocate(
        &mut self,
        memory: &mut [u8],
        kind: HandshakeType,
        message_seq: u16,
        length: u16,
    ) -> Option<usize> {
        let size = usize::from(length).saturating_add(bitmap_length(length.into()));
        let mut place = self.place(memory.len(), size);
        if place.is_none() && message_seq == self.next {
            self.forget_early();
            place = self.place(memory.len(), size);
        }
        let (index, offset) = place?;
        let block = Block {
            kind,
            message_seq,
            offset: u16::try_from(offset).ok()?,
            length,
            missing: length,
            use_of: Use::Message,
        };
        memory.get_mut(block.body().end..block.end())?.fill(0);
        *self.blocks.get_mut(index)? = block;
        Some(index)
    }

    /// A free block and the lowest offset at which `size` bytes are free: the begin of the arena, or the end of a block.
    fn place(&self, capacity: usize, size: usize) -> Option<(usize, usize)> {
        let used = || self.blocks.iter().filter(|block| block.use_of != Use::Free);
        let free = self
            .blocks
            .iter()
            .position(|block| block.use_of == Use::Free)?;
        let fits = |start: usize| {
            let end = start.saturating_add(size);
            end <= capacity
                && used().all(|block| end <= block.offset.into() || block.end() <= start)
        };
        let offset = used()
            .map(Block::end)
            .chain([0])
            .filter(|start| fits(*start))
            .min()?;
        Some((free, offset))
    }

    /// The message that is due, if all of it has come.
    pub(super) fn due<'m>(&self, memory: &'m [u8]) -> Option<(Header, &'m [u8])> {
        let block = self
            .blocks
            .iter()
            .find(|block| block.is_message(self.next))?;
        let body = memory.get(block.body()).filter(|_| block.missing == 0)?;
        Some((
            Header::whole(block.kind, block.length.into(), block.message_seq),
            body,
        ))
    }

    /// The message that was due has been processed. If it came whole and is still needed, `keep` is its type and body.
    ///
    /// # Errors
    /// It cannot be kept, for the arena is too small.
    pub(super) fn processed(
        &mut self,
        memory: &mut [u8],
        keep: Option<(HandshakeType, &[u8])>,
    ) -> Result<(), Fatal> {
        let next = self.next;
        self.blocks
            .iter_mut()
            .filter(|block| block.is_message(next))
            .for_each(|block| *block = Block::FREE);
        if let Some((kind, body)) = keep {
            self.keep(memory, kind, body).ok_or_else(|| {
                Fatal::MessageTooLarge(u32::try_from(body.len()).unwrap_or(u32::MAX))
            })?;
        }
        self.next = next.saturating_add(1);
        Ok(())
    }

    /// The message that was due has been processed from the arena, and its body is still needed.
    pub(super) fn processed_and_kept(&mut self, kind: HandshakeType) {
        self.release(kind);
        let next = self.next;
        self.blocks
            .iter_mut()
            .filter(|block| block.is_message(next))
            .for_each(|block| block.use_of = Use::Kept);
        self.next = next.saturating_add(1);
    }

    fn keep(&mut self, memory: &mut [u8], kind: HandshakeType, body: &[u8]) -> Option<()> {
        self.release(kind);
        let length = u16::try_from(body.len()).ok()?;
        let index = self.allocate(memory, kind, self.next, length)?;
        let block = self.blocks.get_mut(index)?;
        block.use_of = Use::Kept;
        memory.get_mut(block.body())?.copy_from_slice(body);
        Some(())
    }

    /// The body of this type that is kept; empty if there is none.
    pub(super) fn kept<'m>(&self, memory: &'m [u8], kind: HandshakeType) -> &'m [u8] {
        let block = self.blocks.iter().find(|block| block.is_kept(kind));
        block
            .and_then(|block| memory.get(block.body()))
            .unwrap_or_default()
    }

    /// The kept body of this type has served.
    pub(super) fn release(&mut self, kind: HandshakeType) {
        self.blocks
            .iter_mut()
            .filter(|block| block.is_kept(kind))
            .for_each(|block| *block = Block::FREE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fragment of a message whose bytes are its offsets.
    struct Source([u8; 64]);

    impl Source {
        fn new() -> Self {
            Self(core::array::from_fn(|n| u8::try_from(n).unwrap()))
        }

        fn fragment(&self, message_seq: u16, length: u32, range: Range<usize>) -> Fragment<'_> {
            let header = Header {
                kind: HandshakeType::CERTIFICATE,
                length,
                message_seq,
                fragment_offset: u32::try_from(range.start).unwrap(),
                fragment_length: u32::try_from(range.len()).unwrap(),
            };
            Fragment {
                header,
                body: &self.0[range],
            }
        }
    }

    /// RFC 6347 section 4.2.3: fragments in any order, overlapping, repeated.
    #[test]
    fn fragments_may_come_in_any_order_and_overlap() {
        let source = Source::new();
        let pieces = [0..10, 5..25, 20..21, 20..40, 30..33];
        let mut order = [0, 1, 2, 3, 4];
        for round in 0..120 {
            // all permutations, by Heap's factorial numbering
            let mut rest = round;
            for n in (2..=5).rev() {
                order.swap(n - 1, rest % n);
                rest /= n;
            }
            let (mut reassembly, mut memory) = (Reassembly::new(), [0xaa; 64]);
            for n in order {
                assert!(reassembly.due(&memory).is_none() || n > 0);
                let fragment = source.fragment(0, 40, pieces[n].clone());
                assert_eq!(reassembly.sort(&mut memory, &fragment), Sorted::Stored);
            }
            let (header, body) = reassembly.due(&memory).unwrap();
            assert_eq!((header.length, body), (40, &source.0[..40]));
        }
    }

    #[test]
    fn a_whole_message_that_is_due_is_not_copied() {
        let (source, mut memory) = (Source::new(), [0; 0]);
        let mut reassembly = Reassembly::new();
        assert_eq!(
            reassembly.sort(&mut memory, &source.fragment(0, 40, 0..40)),
            Sorted::Whole
        );
        reassembly.processed(&mut memory, None).unwrap();
        assert!(reassembly.is_past(0) && !reassembly.is_past(1));
    }

    /// Same message_seq, other length: never mixed, the latest wins (CVE-2014-0195 and its kin).
    #[test]
    fn contradicting_fragments_never_mix() {
        let (source, mut memory) = (Source::new(), [0; 64]);
        let mut reassembly = Reassembly::new();
        for (length, range) in [(30, 0..20), (40, 20..40), (40, 0..10)] {
            reassembly.sort(&mut memory, &source.fragment(0, length, range));
            assert!(reassembly.due(&memory).is_none());
        }
        reassembly.sort(&mut memory, &source.fragment(0, 40, 10..20));
        assert_eq!(reassembly.due(&memory).unwrap().1, &source.0[..40]);
    }

    /// Messages of different message_seq are kept apart, however their fragments alternate.
    #[test]
    fn early_messages_wait_their_turn() {
        let (source, mut memory) = (Source::new(), [0; 128]);
        let mut reassembly = Reassembly::new();
        for step in 0..4 {
            for message_seq in [2, 0, 1] {
                let fragment = source.fragment(message_seq, 32, step * 8..step * 8 + 8);
                assert_eq!(reassembly.sort(&mut memory, &fragment), Sorted::Stored);
            }
        }
        for message_seq in 0..3 {
            let (header, body) = reassembly.due(&memory).unwrap();
            assert_eq!((header.message_seq, body), (message_seq, &source.0[..32]));
            reassembly.processed(&mut memory, None).unwrap();
        }
        assert!(reassembly.due(&memory).is_none());
    }

    /// When memory is short, the message that is due comes first.
    #[test]
    fn the_message_that_is_due_displaces_early_ones() {
        let (source, mut memory) = (Source::new(), [0; 48]);
        let mut reassembly = Reassembly::new();
        assert_eq!(
            reassembly.sort(&mut memory, &source.fragment(3, 32, 0..32)),
            Sorted::Stored
        );
        let early = reassembly.sort(&mut memory, &source.fragment(2, 32, 0..32));
        assert_eq!(early, Sorted::Dropped(Discard::Early));
        assert_eq!(
            reassembly.sort(&mut memory, &source.fragment(0, 32, 0..8)),
            Sorted::Stored
        );
        assert_eq!(
            reassembly.sort(&mut memory, &source.fragment(0, 32, 8..32)),
            Sorted::Stored
        );
        assert_eq!(reassembly.due(&memory).unwrap().1, &source.0[..32]);
    }

    /// Nothing that a fragment claims makes memory grow: too long, or too far ahead, is dropped.
    #[test]
    fn what_does_not_fit_is_dropped() {
        let (source, mut memory) = (Source::new(), [0; 16]);
        let mut reassembly = Reassembly::new();
        for length in [15, 1000, 70_000, 0xff_ffff] {
            let large = reassembly.sort(&mut memory, &source.fragment(0, length, 0..8));
            assert_eq!(large, Sorted::Dropped(Discard::TooLarge));
            assert_eq!(reassembly.too_large(), Some(length));
        }
        for message_seq in [AHEAD, 7, u16::MAX] {
            let far = reassembly.sort(&mut memory, &source.fragment(message_seq, 8, 0..8));
            assert_eq!(far, Sorted::Dropped(Discard::Early));
        }
        assert_eq!(
            reassembly.sort(&mut memory, &source.fragment(0, 14, 0..8)),
            Sorted::Stored
        );
    }

    /// What is kept stays until it is released, whatever else comes and goes; one body of each type.
    #[test]
    fn kept_bodies_stay() {
        const COOKIE: HandshakeType = HandshakeType::HELLO_VERIFY_REQUEST;
        const CERTIFICATE: HandshakeType = HandshakeType::CERTIFICATE;
        let (source, mut memory) = (Source::new(), [0; 80]);
        let mut reassembly = Reassembly::new();
        let cookie = Some((COOKIE, &[7; 20][..]));
        reassembly.processed(&mut memory, cookie).unwrap();
        for message_seq in 1..9 {
            reassembly.sort(&mut memory, &source.fragment(message_seq, 32, 16..32));
            reassembly.sort(&mut memory, &source.fragment(message_seq, 32, 0..16));
            assert_eq!(reassembly.due(&memory).unwrap().1, &source.0[..32]);
            reassembly.processed(&mut memory, None).unwrap();
            assert_eq!(reassembly.kept(&memory, COOKIE), [7; 20]);
        }
        reassembly.sort(&mut memory, &source.fragment(9, 32, 16..32));
        reassembly.sort(&mut memory, &source.fragment(9, 32, 0..16));
        reassembly.processed_and_kept(CERTIFICATE);
        assert_eq!(reassembly.kept(&memory, CERTIFICATE), &source.0[..32]);
        assert_eq!(reassembly.kept(&memory, COOKIE), [7; 20]);
        assert_eq!(
            reassembly.processed(&mut memory, Some((CERTIFICATE, &[1; 81]))),
            Err(Fatal::MessageTooLarge(81))
        );
        reassembly.release(COOKIE);
        reassembly.release(CERTIFICATE);
        for kind in [COOKIE, CERTIFICATE] {
            assert!(reassembly.kept(&memory, kind).is_empty());
        }
    }
}
