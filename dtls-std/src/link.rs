//! A client's UDP socket, on which the network's complaints are no errors.

use crate::port::is_soft;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use core::time::Duration;
use std::io::{self, ErrorKind};
use std::net::UdpSocket;

/// A blocking socket that talks to one peer only. ICMP errors are soft: a datagram that they are about counts as lost.
pub(crate) struct Link {
    socket: UdpSocket,
    local: SocketAddr,
}

/// What came.
pub(crate) enum Heard {
    /// A datagram of this length.
    Datagram(usize),
    /// Nothing, which is no promise that all the time has passed.
    Silence,
    /// The network complains.
    Complaint(io::Error),
}

impl Link {
    pub(crate) fn new(socket: UdpSocket, peer: SocketAddr) -> io::Result<Self> {
        socket.set_nonblocking(false)?;
        socket.connect(peer)?;
        let local = socket.local_addr()?;
        Ok(Self { socket, local })
    }

    pub(crate) const fn local(&self) -> SocketAddr {
        self.local
    }

    /// What could not be sent is lost, and the network's complaint about it is returned.
    pub(crate) fn send(&self, datagram: &[u8]) -> Option<io::Error> {
        self.socket.send(datagram).err()
    }

    /// Waits for a datagram.
    pub(crate) fn receive(&self, patience: Duration, buffer: &mut [u8]) -> io::Result<Heard> {
        // A timeout of zero would mean: wait for ever.
        let patience = patience.max(Duration::from_millis(1));
        self.socket.set_read_timeout(Some(patience))?;
        match self.socket.recv(buffer) {
            Ok(n) => Ok(Heard::Datagram(n)),
            Err(error) if is_silence(error.kind()) => Ok(Heard::Silence),
            Err(error) if is_soft(error.kind()) => Ok(Heard::Complaint(error)),
            Err(error) => Err(error),
        }
    }
}

/// Where a socket of our own for this peer is bound to.
pub(crate) const fn anywhere(peer: SocketAddr) -> SocketAddr {
    let ip = match peer {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    SocketAddr::new(ip, 0)
}

const fn is_silence(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}
