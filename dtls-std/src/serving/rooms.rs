//! The handshakes on their way.

use crate::WORKSPACE;
use crate::peer::Peer;
use crate::pin::Pin;
use crate::platform::StdPlatform;
use core::mem;
use dtls_core::{Instant, Probe, Workspace};
use std::collections::BTreeSet;

/// Places for handshakes: made when they are needed for the first time, then used again. What is due and who gives way is
/// known without looking at them all.
pub(super) struct Rooms<B: Probe> {
    rooms: Vec<Box<Room<B>>>,
    most: u16,
    vacant: Vec<u16>,
    deadlines: BTreeSet<(Instant, u16)>,
    stalled: BTreeSet<u16>,
}

/// A place for one handshake.
pub(super) struct Room<B: Probe> {
    pub(super) workspace: Workspace<StdPlatform<B>, [u8; WORKSPACE]>,
    /// The key that the client has shown; it has yet to prove that it is its own.
    pub(super) pin: Option<Pin>,
    peer: Peer,
    deadline: Option<Instant>,
}

impl<B: Probe> Rooms<B> {
    pub(super) const fn new(most: u16) -> Self {
        Self {
            rooms: Vec::new(),
            most,
            vacant: Vec::new(),
            deadlines: BTreeSet::new(),
            stalled: BTreeSet::new(),
        }
    }

    /// A vacant room, for `peer`.
    pub(super) fn lease(&mut self, peer: Peer) -> Option<u16> {
        if self.vacant.is_empty() {
            let number = u16::try_from(self.rooms.len()).ok();
            let number = number.filter(|number| *number < self.most)?;
            let mut room = Box::new(Room {
                workspace: Workspace::new(),
                pin: None,
                peer,
                deadline: None,
            });
            room.workspace.set_slot(number);
            self.rooms.push(room);
            self.vacant.push(number);
        }
        let number = self.vacant.pop()?;
        let room = &mut self.rooms[usize::from(number)];
        (room.peer, room.pin) = (peer, None);
        Some(number)
    }

    /// A tenant who has to give way to a newcomer: its handshake had to repeat a flight.
    pub(super) fn stalled(&self) -> Option<Peer> {
        let number = self.stalled.first()?;
        Some(self.rooms[usize::from(*number)].peer)
    }

    pub(super) fn get(&mut self, number: u16) -> &mut Room<B> {
        &mut self.rooms[usize::from(number)]
    }

    /// To be called after everything that was done with a room: whether it is vacant now.
    pub(super) fn settle(&mut self, number: u16) -> bool {
        let room = &mut self.rooms[usize::from(number)];
        let deadline = room.workspace.poll_timeout();
        let before = mem::replace(&mut room.deadline, deadline);
        if before != deadline {
            before.map(|then| self.deadlines.remove(&(then, number)));
            self.deadlines.extend(deadline.map(|then| (then, number)));
        }
        match room.workspace.is_stalled() {
            true => self.stalled.insert(number),
            false => self.stalled.remove(&number),
        };
        let vacant = room.workspace.is_vacant();
        if vacant {
            self.vacant.push(number);
        }
        vacant
    }

    /// When something is due.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(then, _)| *then)
    }

    /// Whose handshakes are due.
    pub(super) fn due(&self, now: Instant) -> impl Iterator<Item = Peer> {
        let due = self.deadlines.range(..=(now, u16::MAX));
        due.map(|(_, number)| self.rooms[usize::from(*number)].peer)
    }

    /// How many are taken.
    pub(super) fn occupied(&self) -> usize {
        self.rooms.len() - self.vacant.len()
    }
}
