//! A UDP socket on which the network's complaints are no errors.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use core::time::Duration;
use std::io::{self, ErrorKind};
use std::net::UdpSocket;

/// A blocking socket. ICMP errors are soft: they are unauthenticated and may be over in a moment, so a datagram that they
/// are about counts as lost. The last one is remembered for messages to people.
pub(crate) struct Link {
    socket: UdpSocket,
    local: SocketAddr,
    connected: bool,
    soft_error: Option<io::Error>,
}

impl Link {
    /// A new socket that talks to one peer only.
    pub(crate) fn connect(peer: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind((unspecified(peer), 0))?;
        socket.connect(peer)?;
        Ok(Self {
            connected: true,
            ..Self::new(socket)?
        })
    }

    /// A socket of the caller's.
    pub(crate) fn new(socket: UdpSocket) -> io::Result<Self> {
        socket.set_nonblocking(false)?;
        Ok(Self {
            local: socket.local_addr()?,
            socket,
            connected: false,
            soft_error: None,
        })
    }

    /// Our own address as `peer` sees it, as far as we can know: the one that the routing table chooses if the socket is
    /// bound to all.
    pub(crate) fn local(&self, peer: SocketAddr) -> SocketAddr {
        if !self.local.ip().is_unspecified() {
            return self.local;
        }
        let route = Self::connect(peer).map(|link| link.local.ip());
        SocketAddr::new(route.unwrap_or(self.local.ip()), self.local.port())
    }

    /// The socket's own address.
    pub(crate) const fn bound(&self) -> SocketAddr {
        self.local
    }

    /// The last complaint of the network.
    pub(crate) const fn soft_error(&self) -> Option<&io::Error> {
        self.soft_error.as_ref()
    }

    /// Sends to `peer`, which is the one connected to if there is one.
    pub(crate) fn send(&mut self, peer: SocketAddr, datagram: &[u8]) {
        let sent = match self.connected {
            true => self.socket.send(datagram),
            false => self.socket.send_to(datagram, peer),
        };
        self.soft_error = sent.err().or(self.soft_error.take());
    }

    /// Waits for a datagram: its length and sender. `None` is no promise that all of `patience` has passed.
    pub(crate) fn receive(
        &mut self,
        patience: Duration,
        buffer: &mut [u8],
    ) -> io::Result<Option<(usize, SocketAddr)>> {
        // A timeout of zero would mean: wait for ever.
        let patience = patience.max(Duration::from_millis(1));
        self.socket.set_read_timeout(Some(patience))?;
        match self.socket.recv_from(buffer) {
            Ok(arrival) => Ok(Some(arrival)),
            Err(error) if is_silence(error.kind()) => Ok(None),
            Err(error) if is_soft(error.kind()) => {
                self.soft_error = Some(error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

const fn unspecified(peer: SocketAddr) -> IpAddr {
    match peer {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    }
}

const fn is_silence(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

/// What ICMP messages become.
const fn is_soft(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown
            | ErrorKind::PermissionDenied
    )
}
