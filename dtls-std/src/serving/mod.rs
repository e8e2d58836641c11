//! A server without its socket: what a blocking and an asynchronous one have in common.
//!
//! After each call that takes `now`, ask [`poll_transmit`](Serving::poll_transmit) and
//! [`poll_event`](Serving::poll_event) until they return `None`; then wait for a datagram, or until
//! [`deadline`](Serving::deadline) and [`tick`](Serving::tick). No call looks at all peers.

mod rooms;
mod seats;

use crate::clock;
use crate::config::ServerConfig;
use crate::counters::Counters;
use crate::error::SendFailed;
use crate::peer::Peer;
use crate::pin::Pin;
use crate::platform::StdPlatform;
use crate::seal::seal;
use crate::server::ServerEvent;
use crate::trace::Direction;
use core::net::SocketAddr;
use core::time::Duration;
use dtls_core::{
    Admission, Admitted, Answer, ClientHelloRecord, Connection, CookieGate, Datagram, Event, Fatal,
    Instant, PeerId, Platform, Probe, Question, SendError,
};
use getrandom::SysRng;
use rand_core::TryRng;
use rooms::Rooms;
use seats::{Seat, Seats};
use std::collections::VecDeque;
use std::io;

pub(crate) struct Serving<B: Probe> {
    pub(crate) platform: StdPlatform<B>,
    config: ServerConfig,
    /// The socket's own address.
    bound: SocketAddr,
    gate: CookieGate,
    /// When the gate gets its next secret.
    rotation: Instant,
    seats: Seats,
    rooms: Rooms<B>,
    /// Written already: to strangers, and to those who have lost their seat.
    notes: VecDeque<Note>,
    /// Who may have something to send.
    active: VecDeque<Peer>,
    events: VecDeque<ServerEvent>,
    next_id: u32,
}

/// A datagram that needs no memory of the peer.
struct Note {
    peer: Peer,
    length: usize,
    bytes: [u8; 128],
}

impl<B: Probe> Serving<B> {
    pub(crate) fn new(
        config: ServerConfig,
        platform: StdPlatform<B>,
        bound: SocketAddr,
    ) -> io::Result<Self> {
        Ok(Self {
            platform,
            bound,
            gate: CookieGate::new(secret()?),
            rotation: clock::now().after(clock::saturating(config.cookie_lifetime)),
            seats: Seats::new(config.max_peers),
            rooms: Rooms::new(config.max_handshakes),
            notes: VecDeque::new(),
            active: VecDeque::new(),
            events: VecDeque::new(),
            next_id: 0,
            config,
        })
    }

    /// Takes a datagram.
    pub(crate) fn receive(&mut self, now: Instant, peer: Peer, bytes: &mut [u8]) {
        self.watch(Direction::Received, peer, bytes);
        let mut datagram = Datagram::new(bytes);
        loop {
            match self.take(now, peer, &mut datagram) {
                Ok(None) => break,
                Ok(Some(Event::Stranger(hello))) => self.admit(now, peer, hello),
                Ok(Some(event)) => self.note(now, peer, event),
                Err(why) => {
                    self.failed(peer, why.into());
                    break;
                }
            }
        }
        self.answer(now, peer);
        self.settle(peer);
        if self.seats.get(peer).is_some() {
            self.active.push_back(peer);
        }
    }

    /// Does what is due: a new cookie secret, retransmissions, the end of what was idle for too long.
    pub(crate) fn tick(&mut self, now: Instant) -> io::Result<()> {
        if now >= self.rotation {
            self.gate.rotate(secret()?);
            self.rotation = now.after(clock::saturating(self.config.cookie_lifetime));
        }
        self.active.extend(self.rooms.due(now));
        if let Some(most) = self.config.max_idle {
            while let Some((peer, since)) = self.seats.idlest() {
                if now < since.after(clock::saturating(most)) {
                    break;
                }
                self.evict(now, peer, since);
            }
        }
        Ok(())
    }

    /// When to [`tick`](Self::tick) although nothing happened.
    pub(crate) fn deadline(&self) -> Instant {
        let idle = self.config.max_idle.and_then(|most| {
            let since = self.seats.idle_since()?;
            Some(since.after(clock::saturating(most)))
        });
        let due = self.rooms.deadline().into_iter().chain(idle);
        due.fold(self.rotation, Instant::min)
    }

    /// Writes the next datagram to send: to whom, and its length.
    pub(crate) fn poll_transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<(Peer, usize)> {
        if let Some(Note {
            peer,
            length,
            bytes,
        }) = self.notes.pop_front()
        {
            let length = length.min(out.len());
            out[..length].copy_from_slice(&bytes[..length]);
            self.watch(Direction::Sent, peer, &out[..length]);
            return Some((peer, length));
        }
        while let Some(peer) = self.active.front().copied() {
            let written = self.write(now, peer, out);
            self.settle(peer);
            match written {
                Ok(Some(n)) => {
                    self.watch(Direction::Sent, peer, &out[..n]);
                    return Some((peer, n));
                }
                Ok(None) => drop(self.active.pop_front()),
                // Its alert may follow.
                Err(SendError::Fatal(why)) => self.failed(peer, why.into()),
                Err(why) => {
                    self.failed(peer, why);
                    self.forget(peer);
                }
            }
        }
        None
    }

    pub(crate) fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// Writes one record for a peer.
    pub(crate) fn seal(
        &mut self,
        peer: Peer,
        data: &[u8],
        out: &mut [u8],
    ) -> Result<usize, SendFailed> {
        let seat = self.seats.get_mut(peer);
        let association = seat.and_then(|seat| seat.association.as_mut());
        let association = association.ok_or(SendFailed::NotConnected(peer.address))?;
        let n = seal(association, &mut self.platform, data, out)?;
        self.watch(Direction::Sent, peer, &out[..n]);
        Ok(n)
    }

    /// Begins to close, if there is an association.
    pub(crate) fn close(&mut self, peer: Peer) {
        let seat = self.seats.get_mut(peer);
        if let Some(association) = seat.and_then(|seat| seat.association.as_mut()) {
            association.close();
            self.active.push_back(peer);
        }
    }

    /// Established peers, and handshakes under way.
    pub(crate) fn occupancy(&self) -> (usize, usize) {
        (self.seats.established(), self.rooms.occupied())
    }

    pub(crate) fn peer_counters(&self, peer: Peer) -> Option<&Counters> {
        self.seats.get(peer).map(|seat| &seat.counters)
    }

    // Receiving.

    fn take<'d>(
        &mut self,
        now: Instant,
        peer: Peer,
        datagram: &mut Datagram<'d>,
    ) -> Result<Option<Event<'d>>, Fatal> {
        let Some(seat) = self.seats.get_mut(peer) else {
            let hello = datagram.client_hello(self.platform.probe());
            return Ok(hello.map(Event::Stranger));
        };
        let (association, rooms, config) = (&mut seat.association, &mut self.rooms, &self.config);
        self.platform
            .count_for(&mut seat.counters, |platform| match seat.room {
                Some(room) => config.lend(|config| {
                    let workspace = &mut rooms.get(room).workspace;
                    Connection::new(association, workspace, config).receive(platform, now, datagram)
                }),
                None => Ok(association
                    .as_mut()
                    .and_then(|association| association.receive(platform, now, datagram))),
            })
    }

    /// The gate in front of the server: nothing is remembered of a stranger before its cookie came back (RFC 6347 section
    /// 4.2.1).
    fn admit(&mut self, now: Instant, peer: Peer, hello: ClientHelloRecord<'_>) {
        let mut note = Note::new(peer);
        match self
            .gate
            .admit(&mut self.platform, peer.address, hello, &mut note.bytes)
        {
            Admission::Drop => {}
            Admission::Reply(length) => self.notes.push_back(Note { length, ..note }),
            Admission::Accept(hello) => match self.enter(now, peer) {
                Some(room) => self.accept(now, peer, room, hello),
                None => self.events.push_back(ServerEvent::Full { peer }),
            },
        }
    }

    fn accept(&mut self, now: Instant, peer: Peer, room: u16, hello: Admitted<'_>) {
        self.seats.enter(peer, room, now);
        let Some(seat) = self.seats.get_mut(peer) else {
            return;
        };
        let (association, rooms, config) = (&mut seat.association, &mut self.rooms, &self.config);
        let accepted = self.platform.count_for(&mut seat.counters, |platform| {
            config.lend(|config| {
                let workspace = &mut rooms.get(room).workspace;
                Connection::new(association, workspace, config).accept(platform, now, hello)
            })
        });
        if let Err(why) = accepted {
            self.failed(peer, why.into());
        }
    }

    /// A room for a newcomer, if there is a seat as well. Nobody is displaced by somebody unproven: a newcomer gets a room
    /// that is vacant, or one whose handshake had to repeat a flight.
    fn enter(&mut self, now: Instant, peer: Peer) -> Option<u16> {
        if let Some(room) = self.seats.get(peer).and_then(|seat| seat.room) {
            return Some(room);
        }
        let mut room = self.rooms.lease(peer);
        if room.is_none() {
            self.abandon(self.rooms.stalled()?);
            room = self.rooms.lease(peer);
        }
        let room = room?;
        if !self.seats.has_place_for(peer) && self.config.evict_when_full {
            if let Some((idlest, since)) = self.seats.idlest() {
                self.evict(now, idlest, since);
            }
        }
        if !self.seats.has_place_for(peer) {
            self.rooms.settle(room);
            return None;
        }
        Some(room)
    }

    /// Answers what the handshake with `peer` asks.
    fn answer(&mut self, now: Instant, peer: Peer) {
        loop {
            let Some(seat) = self.seats.get_mut(peer) else {
                return;
            };
            let Seat {
                association,
                room: Some(room),
                counters,
                ..
            } = seat
            else {
                return;
            };
            let room = self.rooms.get(*room);
            let (config, next_id) = (&self.config, &mut self.next_id);
            let result = self.platform.count_for(counters, |platform| {
                config.lend(|core| {
                    let mut connection = Connection::new(association, &mut room.workspace, core);
                    let (job, question) = connection.poll_question(platform)?;
                    let answer = match question {
                        Question::PublicKey(request) => {
                            let engine = config.identity.engine();
                            Answer::PublicKey(engine.answer(platform.rng(), request))
                        }
                        Question::Peer(identity) => {
                            room.pin = identity.spki().map(Pin::of);
                            let id = PeerId(*next_id);
                            *next_id = next_id.wrapping_add(1);
                            Answer::Peer(config.trust.accepts(identity).then_some(id))
                        }
                        // A question younger than this driver.
                        _ => Answer::Peer(None),
                    };
                    Some(connection.answer(platform, now, job, answer))
                })
            });
            match result {
                None => return,
                Some(Ok(event)) => {
                    if let Some(event) = event {
                        self.note(now, peer, event);
                    }
                }
                Some(Err(why)) => self.failed(peer, why.into()),
            }
        }
    }

    fn note(&mut self, now: Instant, peer: Peer, event: Event<'_>) {
        if let (Event::Connected(_) | Event::ApplicationData(_), Some(seat)) =
            (&event, self.seats.get_mut(peer))
        {
            seat.heard = now;
        }
        let event = match event {
            Event::Connected(id) => {
                let pin = self.shown_pin(peer);
                ServerEvent::Connected { peer, id, pin }
            }
            Event::ApplicationData(data) => ServerEvent::Data {
                peer,
                data: data.to_vec(),
            },
            Event::RehandshakeDue => ServerEvent::RehandshakeDue { peer },
            Event::TooManyForgeries => ServerEvent::TooManyForgeries { peer },
            Event::Closed(alert) => ServerEvent::Closed { peer, alert },
            // A plaintext alert may be forged: the handshake decides itself what comes of it.
            _ => return,
        };
        self.events.push_back(event);
    }

    fn failed(&mut self, peer: Peer, why: SendError) {
        let pin = self.shown_pin(peer);
        self.events
            .push_back(ServerEvent::HandshakeFailed { peer, pin, why });
    }

    /// The key that came up in the handshake with this peer.
    fn shown_pin(&mut self, peer: Peer) -> Option<Pin> {
        let room = self.seats.get(peer).and_then(|seat| seat.room)?;
        self.rooms.get(room).pin
    }

    // Sending.

    fn write(
        &mut self,
        now: Instant,
        peer: Peer,
        out: &mut [u8],
    ) -> Result<Option<usize>, SendError> {
        let Some(seat) = self.seats.get_mut(peer) else {
            return Ok(None);
        };
        let (association, rooms, config) = (&mut seat.association, &mut self.rooms, &self.config);
        self.platform
            .count_for(&mut seat.counters, |platform| match seat.room {
                Some(room) => config.lend(|config| {
                    let workspace = &mut rooms.get(room).workspace;
                    Connection::new(association, workspace, config)
                        .poll_transmit(platform, now, out)
                }),
                None => association.as_mut().map_or(Ok(None), |association| {
                    association.poll_transmit(platform, out)
                }),
            })
    }

    // Ending.

    /// Books what a call has changed: a handshake that is over, an association that is there or gone.
    fn settle(&mut self, peer: Peer) {
        let Some(seat) = self.seats.get_mut(peer) else {
            return;
        };
        if seat.room.is_some_and(|room| self.rooms.settle(room)) {
            seat.room = None;
        }
        self.seats.settle(peer);
    }

    /// Ends the handshake with `peer`, whatever its state.
    fn abandon(&mut self, peer: Peer) {
        if let Some(room) = self.seats.get(peer).and_then(|seat| seat.room) {
            self.rooms.get(room).workspace.clear();
        }
        self.settle(peer);
    }

    /// Ends everything with `peer`, without a word.
    fn forget(&mut self, peer: Peer) {
        if let Some(seat) = self.seats.get_mut(peer) {
            seat.association = None;
        }
        self.abandon(peer);
    }

    /// Gives up an idle peer, and tells it (RFC 5246 section 7.2.1): perhaps it still listens.
    fn evict(&mut self, now: Instant, peer: Peer, since: Instant) {
        let mut note = Note::new(peer);
        if let Some(seat) = self.seats.get_mut(peer) {
            if let Some(association) = &mut seat.association {
                association.close();
                let platform = &mut self.platform;
                let written = association.poll_transmit(platform, &mut note.bytes);
                note.length = written.ok().flatten().unwrap_or(0);
            }
        }
        self.forget(peer);
        self.notes.extend((note.length > 0).then_some(note));
        let idle = Duration::from_micros(now.since(since).0);
        self.events.push_back(ServerEvent::Evicted { peer, idle });
    }

    fn watch(&mut self, direction: Direction, peer: Peer, datagram: &[u8]) {
        let ip = peer.local.unwrap_or(self.bound.ip());
        let local = SocketAddr::new(ip, self.bound.port());
        self.platform
            .datagram(direction, local, peer.address, datagram);
    }
}

impl Note {
    const fn new(peer: Peer) -> Self {
        Self {
            peer,
            length: 0,
            bytes: [0; 128],
        }
    }
}

fn secret() -> io::Result<[u8; 32]> {
    let mut secret = [0; 32];
    SysRng
        .try_fill_bytes(&mut secret)
        .map_err(io::Error::other)?;
    Ok(secret)
}
