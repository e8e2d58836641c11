//! The peers that a server knows.

use crate::counters::Counters;
use crate::peer::Peer;
use dtls_core::{Association, Instant};
use std::collections::{BTreeSet, HashMap};

/// Everything that is kept of peers with a proven address, by peer.
pub(super) struct Seats {
    seats: HashMap<Peer, Seat>,
    most: usize,
    /// Each association once, under a time at which it was heard of: not always the last, see
    /// [`idlest`](Self::idlest).
    queue: BTreeSet<(Instant, Peer)>,
}

/// What is kept of one peer. It has an association, a room for a handshake, or both.
pub(super) struct Seat {
    pub(super) association: Option<Association>,
    pub(super) room: Option<u16>,
    /// When something authentic came last, or a handshake began.
    pub(super) heard: Instant,
    pub(super) counters: Counters,
    /// Under which time it is in the queue.
    queued: Option<Instant>,
}

impl Seats {
    pub(super) fn new(most: usize) -> Self {
        Self {
            seats: HashMap::with_capacity(most),
            most,
            queue: BTreeSet::new(),
        }
    }

    pub(super) fn get(&self, peer: Peer) -> Option<&Seat> {
        self.seats.get(&peer)
    }

    pub(super) fn get_mut(&mut self, peer: Peer) -> Option<&mut Seat> {
        self.seats.get_mut(&peer)
    }

    /// Whether `peer` has a seat or could have one.
    pub(super) fn has_place_for(&self, peer: Peer) -> bool {
        self.seats.len() < self.most || self.seats.contains_key(&peer)
    }

    /// Gives a seat to a peer whose handshake begins in `room`.
    pub(super) fn enter(&mut self, peer: Peer, room: u16, now: Instant) {
        let seat = self.seats.entry(peer).or_insert_with(|| Seat {
            association: None,
            room: None,
            heard: now,
            counters: Counters::default(),
            queued: None,
        });
        (seat.room, seat.heard) = (Some(room), now);
    }

    /// To be called after everything that was done with a peer: what is over is removed.
    pub(super) fn settle(&mut self, peer: Peer) {
        let Some(seat) = self.seats.get_mut(&peer) else {
            return;
        };
        seat.association
            .take_if(|association| association.is_over());
        match (&seat.association, seat.queued) {
            (Some(_), None) => {
                self.queue.insert((seat.heard, peer));
                seat.queued = Some(seat.heard);
            }
            (None, Some(then)) => {
                self.queue.remove(&(then, peer));
                seat.queued = None;
            }
            _ => {}
        }
        if seat.association.is_none() && seat.room.is_none() {
            self.seats.remove(&peer);
        }
    }

    /// The association of which nothing was heard for the longest time, and since when.
    ///
    /// Hearing from a peer does not move it in the queue; it is moved here, when it comes to its front.
    pub(super) fn idlest(&mut self) -> Option<(Peer, Instant)> {
        loop {
            let (then, peer) = *self.queue.first()?;
            let seat = self.seats.get_mut(&peer)?;
            if seat.heard == then {
                return Some((peer, then));
            }
            self.queue.remove(&(then, peer));
            self.queue.insert((seat.heard, peer));
            seat.queued = Some(seat.heard);
        }
    }

    /// Nothing has been idle since before this.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        self.queue.first().map(|(then, _)| *then)
    }

    /// Established peers.
    pub(super) fn established(&self) -> usize {
        self.queue.len()
    }
}
