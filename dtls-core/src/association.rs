//! stub
use crate::*;
/// An established association.
#[derive(Debug)]
pub struct Association {}
#[allow(unused)]
impl Association {
    /// The caller's own handle for the peer.
    pub const fn peer(&self) -> PeerId {
        todo!()
    }
    /// Bytes that a record has in front of its payload, and behind it.
    pub const fn overhead(&self) -> (usize, usize) {
        (13 + 8, 8)
    }
    /// Nothing more can be sent or received.
    pub fn is_over(&self) -> bool {
        todo!()
    }
    /// Takes records until one holds something for the caller; `None` when the datagram is used up.
    pub fn receive<'d, P: Platform>(
        &mut self,
        platform: &mut P,
        now: Instant,
        datagram: &mut Datagram<'d>,
    ) -> Option<Event<'d>> {
        todo!()
    }
    /// Writes what is owed (last flight, refusal to renegotiate, `close_notify`) into one datagram; call until `None`.
    pub fn poll_transmit<P: Platform>(
        &mut self,
        platform: &mut P,
        out: &mut [u8],
    ) -> Result<Option<usize>, SendError> {
        todo!()
    }
    /// Seals the `n` bytes at `out[overhead().0..]` in place; returns the length of the record.
    pub fn seal<P: Platform>(
        &mut self,
        platform: &mut P,
        n: usize,
        out: &mut [u8],
    ) -> Result<usize, SendError> {
        todo!()
    }
    /// Seals a copy of `payload`.
    pub fn send<P: Platform>(
        &mut self,
        platform: &mut P,
        payload: &[u8],
        out: &mut [u8],
    ) -> Result<usize, SendError> {
        todo!()
    }
    /// Owes the peer a `close_notify`; over once `poll_transmit` has written it.
    pub fn close(&mut self) {
        todo!()
    }
}
