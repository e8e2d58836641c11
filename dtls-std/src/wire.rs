//! A link that is watched, with room for one datagram each way.

use crate::clock;
use crate::link::Link;
use crate::platform::StdPlatform;
use crate::trace::Direction;
use core::net::SocketAddr;
use dtls_core::Instant;
use std::io;

/// Every UDP datagram fits.
const LARGEST_DATAGRAM: usize = 65_535;

/// What a driver of the state machine works with. The platform sees every datagram as it is on the wire.
pub(crate) struct Wire<B> {
    pub(crate) link: Link,
    pub(crate) platform: StdPlatform<B>,
    /// The next datagram to send is written here; as long as the MTU.
    pub(crate) outgoing: Vec<u8>,
    /// The last datagram received.
    pub(crate) incoming: Vec<u8>,
}

impl<B> Wire<B> {
    pub(crate) fn new(link: Link, platform: StdPlatform<B>, mtu: u16) -> Self {
        Self {
            link,
            platform,
            outgoing: vec![0; mtu.into()],
            incoming: vec![0; LARGEST_DATAGRAM],
        }
    }

    /// Sends the first `n` bytes of `outgoing`.
    pub(crate) fn send(&mut self, peer: SocketAddr, n: usize) {
        let datagram = &self.outgoing[..n];
        let link = &self.link;
        self.platform
            .datagram(Direction::Sent, || link.local(peer), peer, datagram);
        self.link.send(peer, datagram);
    }

    /// Waits for a datagram in `incoming`, at most until `end`: its length and sender.
    pub(crate) fn receive(&mut self, end: Instant) -> io::Result<Option<(usize, SocketAddr)>> {
        let arrival = self.link.receive(clock::until(end), &mut self.incoming)?;
        if let Some((n, peer)) = arrival {
            let link = &self.link;
            let local = || link.local(peer);
            self.platform
                .datagram(Direction::Received, local, peer, &self.incoming[..n]);
        }
        Ok(arrival)
    }
}
