//! stub
use crate::*;
use core::net::SocketAddr;
/// A place for an association.
#[derive(Debug)]
pub struct Seat {
    association: Option<Association>,
}
impl Seat {
    /// A free place.
    pub const EMPTY: Self = Self { association: None };
}
/// A place for a handshake: a workspace and whom it serves.
#[derive(Debug)]
pub struct Room<'c, P: Platform, const M: usize> {
    config: Option<&'c Config<'c>>,
    workspace: Workspace<P, [u8; M]>,
}
impl<P: Platform, const M: usize> Room<'_, P, M> {
    /// A vacant place.
    #[allow(
        clippy::new_without_default,
        reason = "a Default would be built on the stack"
    )]
    pub const fn new() -> Self {
        Self {
            config: None,
            workspace: Workspace::new(),
        }
    }
}
/// A table of peers behind one socket: seats (`[Seat; N]` or `Vec<Seat>`) for associations, rooms (`[Room; H]` or `Vec<Room>`) for handshakes.
#[derive(Debug)]
pub struct Peers<'c, P: Platform, const M: usize, S, R> {
    seats: S,
    rooms: R,
    p: core::marker::PhantomData<&'c P>,
}
#[allow(unused)]
impl<
    'c,
    P: Platform,
    const M: usize,
    S: AsMut<[Seat]> + AsRef<[Seat]>,
    R: AsMut<[Room<'c, P, M>]> + AsRef<[Room<'c, P, M>]>,
> Peers<'c, P, M, S, R>
{
    /// A table over empty places.
    pub const fn new(seats: S, rooms: R) -> Self {
        Self {
            seats,
            rooms,
            p: core::marker::PhantomData,
        }
    }
    /// The association with `peer`, to seal with it or to close it.
    pub fn association(&mut self, peer: SocketAddr) -> Option<&mut Association> {
        todo!()
    }
    /// Forgets all about `peer`, without a word to it.
    pub fn forget(&mut self, peer: SocketAddr) {
        todo!()
    }
    /// Established associations, and handshakes under way.
    pub fn occupancy(&self) -> (usize, usize) {
        todo!()
    }
    /// Whose last authentic message is the oldest, and when it came.
    pub fn idle_longest(&self) -> Option<(SocketAddr, Instant)> {
        todo!()
    }
    /// A connection for a newcomer, to `accept` or to `connect` with; `None`: no room.
    pub fn enter(
        &mut self,
        now: Instant,
        config: &'c Config<'c>,
        peer: SocketAddr,
    ) -> Option<Connection<'_, P>> {
        todo!()
    }
    /// See [`Connection::receive`]. An error concerns this peer's handshake only.
    pub fn receive<'d>(
        &mut self,
        platform: &mut P,
        now: Instant,
        from: SocketAddr,
        datagram: &mut Datagram<'d>,
    ) -> Result<Option<Event<'d>>, Fatal> {
        todo!()
    }
    /// See [`Connection::poll_transmit`]; with the address to send to, or whom the error is about.
    pub fn poll_transmit(
        &mut self,
        platform: &mut P,
        now: Instant,
        out: &mut [u8],
    ) -> Result<Option<(SocketAddr, usize)>, (SocketAddr, SendError)> {
        todo!()
    }
    /// See [`Connection::poll_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }
    /// See [`Connection::poll_question`]; any number of questions can be out, one per handshake.
    pub fn poll_question<'s>(
        &'s mut self,
        platform: &mut P,
    ) -> Option<(SocketAddr, Job, Question<'s>)> {
        todo!()
    }
    /// See [`Connection::answer`]; tells whom it is about.
    pub fn answer(
        &mut self,
        platform: &mut P,
        now: Instant,
        job: Job,
        answer: Answer,
    ) -> Option<(SocketAddr, Result<Option<Event<'static>>, Fatal>)> {
        todo!()
    }
}
