//! Many peers behind one socket.

use crate::association::Association;
use crate::config::Config;
use crate::connection::{Connection, Workspace};
use crate::crypto::Job;
use crate::error::{Fatal, SendError};
use crate::event::Event;
use crate::platform::{Answer, Platform, Question};
use crate::record::Datagram;
use crate::time::Instant;
use core::fmt;
use core::marker::PhantomData;
use core::net::{IpAddr, Ipv4Addr, SocketAddr};

/// A place for one association. A peer whose handshake is on its way has one, too: its place is reserved.
pub struct Seat {
    peer: SocketAddr,
    heard: Instant,
    association: Option<Association>,
}

impl Seat {
    /// A free place.
    pub const EMPTY: Self = Self {
        peer: NOBODY,
        heard: Instant(0),
        association: None,
    };
}

/// A place for one handshake: a workspace and whom it serves.
pub struct Room<'c, P: Platform, const M: usize> {
    peer: SocketAddr,
    config: Option<&'c Config<'c>>,
    workspace: Workspace<P, [u8; M]>,
}

/// Peers have a port, this one has none.
const NOBODY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

impl<P: Platform, const M: usize> Room<'_, P, M> {
    /// A vacant place, to be written as `[const { Room::new() }; H]`.
    #[must_use]
    #[allow(
        clippy::new_without_default,
        reason = "a Default would be built on the stack"
    )]
    pub const fn new() -> Self {
        Self {
            peer: NOBODY,
            config: None,
            workspace: Workspace::new(),
        }
    }

    fn is_taken_by(&self, peer: SocketAddr) -> bool {
        self.peer == peer && !self.workspace.is_vacant()
    }

    fn connection<'a>(
        &'a mut self,
        association: &'a mut Option<Association>,
    ) -> Option<Connection<'a, P>> {
        let config = self.config.filter(|_| !self.workspace.is_vacant())?;
        Some(Connection::new(association, &mut self.workspace, config))
    }
}

/// A table of peers: places for associations (`[Seat; N]` or `Vec<Seat>`), and fewer, larger ones for handshakes (`[Room; H]`
/// or `Vec<Room>`) that they share.
/// It looks through all of its places for each datagram, and so is for tables that a device can hold; a host with thousands
/// of peers keeps an index of its own over [`Connection`]s, as `dtls-std` does.
///
/// When it is full, nobody is displaced by somebody unproven: a newcomer gets a room that is vacant, or one whose handshake
/// had to repeat a flight, and only if there is a seat for its association. Which association to give up is the caller's
/// choice: see [`idle_longest`](Self::idle_longest) and [`forget`](Self::forget).
///
/// Attackers whose addresses are real can hold rooms until their handshakes stall, which is after the first timeout. With as
/// many of them as there are rooms, or twice as many, each saying hello once a second, an honest client got in without delay;
/// with four times as many it waited for up to four of its own retransmissions (measured with 2, 4 and 8 rooms).
///
/// The loop is that of a [`Connection`], with addresses.
pub struct Peers<'c, P: Platform, const M: usize, S, R> {
    seats: S,
    rooms: R,
    platform: PhantomData<fn(&mut P, &'c Config<'c>)>,
}

impl<'c, P, const M: usize, S, R> Peers<'c, P, M, S, R>
where
    P: Platform,
    S: AsMut<[Seat]> + AsRef<[Seat]>,
    R: AsMut<[Room<'c, P, M>]> + AsRef<[Room<'c, P, M>]>,
{
    /// A table over empty places.
    pub const fn new(seats: S, rooms: R) -> Self {
        Self {
            seats,
            rooms,
            platform: PhantomData,
        }
    }

    /// The association with `peer`, to seal with it or to close it.
    pub fn association(&mut self, peer: SocketAddr) -> Option<&mut Association> {
        self.seats
            .as_mut()
            .iter_mut()
            .find(|seat| seat.peer == peer)?
            .association
            .as_mut()
    }

    /// Forgets all about `peer`, without a word to it.
    pub fn forget(&mut self, peer: SocketAddr) {
        if let Some(room) = self
            .rooms
            .as_mut()
            .iter_mut()
            .find(|room| room.is_taken_by(peer))
        {
            room.workspace.clear();
        }
        if let Some(seat) = self
            .seats
            .as_mut()
            .iter_mut()
            .find(|seat| seat.peer == peer)
        {
            *seat = Seat::EMPTY;
        }
    }

    /// Associations, and handshakes on their way.
    #[must_use]
    pub fn occupancy(&self) -> (usize, usize) {
        let seats = self
            .seats
            .as_ref()
            .iter()
            .filter(|seat| seat.association.is_some());
        let rooms = self
            .rooms
            .as_ref()
            .iter()
            .filter(|room| !room.workspace.is_vacant());
        (seats.count(), rooms.count())
    }

    /// Whose last authentic message is the oldest, and when it came.
    #[must_use]
    pub fn idle_longest(&self) -> Option<(SocketAddr, Instant)> {
        let seats = self
            .seats
            .as_ref()
            .iter()
            .filter(|seat| seat.association.is_some());
        seats
            .map(|seat| (seat.peer, seat.heard))
            .min_by_key(|(_, heard)| *heard)
    }

    /// A connection for a newcomer, to [accept](Connection::accept) or to [connect](Connection::connect) with; `None` if
    /// there is no room or no seat. A handshake with the same peer that was on its way is abandoned.
    pub fn enter(
        &mut self,
        now: Instant,
        config: &'c Config<'c>,
        peer: SocketAddr,
    ) -> Option<Connection<'_, P>> {
        let (seats, rooms) = (self.seats.as_mut(), self.rooms.as_mut());
        let own = rooms.iter().position(|room| room.is_taken_by(peer));
        let vacant = rooms.iter().position(|room| room.workspace.is_vacant());
        let is_stalled = |room: &usize| {
            let room = rooms.get(*room);
            room.is_some_and(|room| room.workspace.is_stalled())
        };
        // A stalled handshake gives way with its seat, too: that one may be all that is missing.
        let mut choice = own
            .into_iter()
            .chain(vacant)
            .chain((0..rooms.len()).filter(is_stalled));
        let (room, seat) =
            choice.find_map(|room| Some((room, Self::seat_beside(seats, rooms, room, peer)?)))?;
        let slot = u16::try_from(room).ok()?;
        let (seat, room) = (seats.get_mut(seat)?, rooms.get_mut(room)?);
        (seat.peer, seat.heard, room.peer, room.config) = (peer, now, peer, Some(config));
        room.workspace.clear();
        room.workspace.set_slot(slot);
        Some(Connection::new(
            &mut seat.association,
            &mut room.workspace,
            config,
        ))
    }

    /// The seat for a handshake in this room: the peer's own, or a free one that no handshake in another room has reserved.
    fn seat_beside(
        seats: &[Seat],
        rooms: &[Room<'c, P, M>],
        room: usize,
        peer: SocketAddr,
    ) -> Option<usize> {
        let reserved = |seat: &Seat| {
            let mut others = rooms.iter().enumerate().filter(|(n, _)| *n != room);
            others.any(|(_, other)| other.is_taken_by(seat.peer))
        };
        let own = seats.iter().position(|seat| seat.peer == peer);
        own.or_else(|| {
            let mut places = seats.iter();
            places.position(|seat| seat.association.is_none() && !reserved(seat))
        })
    }

    /// See [`Connection::receive`].
    ///
    /// # Errors
    /// The handshake with this peer is over; others are not concerned.
    pub fn receive<'d>(
        &mut self,
        platform: &mut P,
        now: Instant,
        from: SocketAddr,
        datagram: &mut Datagram<'d>,
    ) -> Result<Option<Event<'d>>, Fatal> {
        let seat = self
            .seats
            .as_mut()
            .iter_mut()
            .find(|seat| seat.peer == from);
        let room = self
            .rooms
            .as_mut()
            .iter_mut()
            .find(|room| room.is_taken_by(from));
        let Some(seat) = seat else {
            return Ok(datagram.client_hello(platform.probe()).map(Event::Stranger));
        };
        let event = match (room, &mut seat.association) {
            (Some(room), place) => match room.connection(place) {
                Some(mut connection) => connection.receive(platform, now, datagram)?,
                None => None,
            },
            (None, Some(association)) => association.receive(platform, now, datagram),
            (None, None) => datagram.client_hello(platform.probe()).map(Event::Stranger),
        };
        if matches!(event, Some(Event::ApplicationData(_) | Event::Connected(_))) {
            seat.heard = now;
        }
        Ok(event)
    }

    /// See [`Connection::poll_transmit`]; with the address to send to, or whom the error is about. An association that is
    /// over is gone when its last datagram has been written.
    ///
    /// # Errors
    /// As there; others are not concerned, so call again.
    pub fn poll_transmit(
        &mut self,
        platform: &mut P,
        now: Instant,
        out: &mut [u8],
    ) -> Result<Option<(SocketAddr, usize)>, (SocketAddr, SendError)> {
        for room in self.rooms.as_mut() {
            let peer = room.peer;
            let mut nobody = None;
            let Some(mut connection) = room.connection(&mut nobody) else {
                continue;
            };
            match connection.poll_transmit(platform, now, out) {
                Ok(None) => {}
                Ok(Some(n)) => return Ok(Some((peer, n))),
                Err(error) => return Err((peer, error)),
            }
        }
        for seat in self.seats.as_mut() {
            let peer = seat.peer;
            let Some(association) = &mut seat.association else {
                continue;
            };
            let written = association.poll_transmit(platform, out);
            if association.is_over() {
                // Not the address: a successor's handshake may be on its way, and the seat is reserved for it.
                seat.association = None;
            }
            match written {
                Ok(None) => {}
                Ok(Some(n)) => return Ok(Some((peer, n))),
                Err(error) => return Err((peer, error)),
            }
        }
        Ok(None)
    }

    /// See [`Connection::poll_timeout`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.rooms
            .as_ref()
            .iter()
            .filter_map(|room| room.workspace.poll_timeout())
            .min()
    }

    /// See [`Connection::poll_question`]; with whom it is about. Any number can be out, one for each handshake.
    pub fn poll_question<'s>(
        &'s mut self,
        platform: &mut P,
    ) -> Option<(SocketAddr, Job, Question<'s>)> {
        self.rooms.as_mut().iter_mut().find_map(|room| {
            let (job, question) = room.workspace.poll_question(platform, room.config?)?;
            Some((room.peer, job, question))
        })
    }

    /// See [`Connection::answer`]; tells whom it is about. `None` if the handshake that asked is gone.
    pub fn answer(
        &mut self,
        platform: &mut P,
        now: Instant,
        job: Job,
        answer: Answer,
    ) -> Option<(SocketAddr, Result<Option<Event<'static>>, Fatal>)> {
        let room = self.rooms.as_mut().get_mut(usize::from(job.slot))?;
        let peer = room.peer;
        let seat = self
            .seats
            .as_mut()
            .iter_mut()
            .find(|seat| seat.peer == peer)?;
        let result = room
            .connection(&mut seat.association)?
            .answer(platform, now, job, answer);
        if matches!(result, Ok(Some(Event::Connected(_)))) {
            seat.heard = now;
        }
        Some((peer, result))
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seat")
            .field("peer", &self.peer)
            .field("association", &self.association)
            .finish_non_exhaustive()
    }
}

impl<P: Platform, const M: usize> fmt::Debug for Room<'_, P, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room")
            .field("peer", &self.peer)
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}

impl<P: Platform, const M: usize, S: AsRef<[Seat]>, R> fmt::Debug for Peers<'_, P, M, S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peers")
            .field("seats", &self.seats.as_ref().len())
            .finish_non_exhaustive()
    }
}
