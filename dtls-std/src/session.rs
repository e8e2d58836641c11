//! A client without its socket, once connected: what a blocking and an asynchronous one have in common.

use crate::client::Received;
use crate::error::SendFailed;
use crate::pin::Pin;
use crate::platform::StdPlatform;
use crate::seal::seal;
use crate::trace::Direction;
use core::net::SocketAddr;
use dtls_core::{Association, Datagram, Event, Instant, Probe};
use std::collections::VecDeque;

pub(crate) struct Session<B> {
    pub(crate) platform: StdPlatform<B>,
    pub(crate) peer: SocketAddr,
    pub(crate) local: SocketAddr,
    /// The key that the peer showed.
    pub(crate) pin: Option<Pin>,
    pub(crate) association: Option<Association>,
    received: VecDeque<Received>,
}

impl<B: Probe> Session<B> {
    pub(crate) const fn new(platform: StdPlatform<B>, peer: SocketAddr, local: SocketAddr) -> Self {
        Self {
            platform,
            peer,
            local,
            pin: None,
            association: None,
            received: VecDeque::new(),
        }
    }

    /// Takes a datagram.
    pub(crate) fn receive(&mut self, now: Instant, bytes: &mut [u8]) {
        self.watch(Direction::Received, bytes);
        let mut datagram = Datagram::new(bytes);
        if let Some(association) = &mut self.association {
            while let Some(event) = association.receive(&mut self.platform, now, &mut datagram) {
                self.received.extend(Received::from_event(event));
            }
        }
    }

    pub(crate) fn poll_received(&mut self) -> Option<Received> {
        self.received.pop_front()
    }

    pub(crate) fn note(&mut self, event: Event<'_>) {
        self.received.extend(Received::from_event(event));
    }

    /// Writes the next datagram that is owed, and returns its length.
    pub(crate) fn poll_transmit(&mut self, out: &mut [u8]) -> Option<usize> {
        let association = self.association.as_mut()?;
        let written = association.poll_transmit(&mut self.platform, out);
        let n = written.ok().flatten()?;
        self.watch(Direction::Sent, &out[..n]);
        Some(n)
    }

    /// Writes one record.
    pub(crate) fn seal(&mut self, data: &[u8], out: &mut [u8]) -> Result<usize, SendFailed> {
        let association = self.association.as_mut();
        let association = association.ok_or(SendFailed::NotConnected(self.peer))?;
        let n = seal(association, &mut self.platform, data, out)?;
        self.watch(Direction::Sent, &out[..n]);
        Ok(n)
    }

    pub(crate) fn close(&mut self) {
        if let Some(association) = &mut self.association {
            association.close();
        }
    }

    pub(crate) fn watch(&mut self, direction: Direction, datagram: &[u8]) {
        self.platform
            .datagram(direction, self.local, self.peer, datagram);
    }
}
