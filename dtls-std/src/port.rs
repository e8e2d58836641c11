//! A server's UDP socket: it tells to which of our addresses a datagram came, and answers from there.

use crate::peer::Peer;
use quinn_udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use std::io::{self, ErrorKind, IoSliceMut};

/// Room for the datagrams that come while one handshake is computed, in bytes. The system may give less.
const RECEIVE_BUFFER: usize = 4 << 20;

/// What is known of a socket. The socket stays with the driver, which waits in its own way; it does not block.
#[derive(Debug)]
pub(crate) struct Port(UdpSocketState);

/// Datagrams of one peer in the buffer: each of `stride` bytes, but the last may be shorter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) peer: Peer,
    length: usize,
    stride: usize,
}

impl Port {
    pub(crate) fn new(socket: UdpSockRef<'_>) -> io::Result<Self> {
        UdpSocketState::new(socket).map(Self)
    }

    /// Asks the system for a larger receive buffer; a smaller one is no failure, only more loss in a rush.
    pub(crate) fn make_room(&self, socket: UdpSockRef<'_>) {
        let _ = self.0.set_recv_buffer_size(socket, RECEIVE_BUFFER);
    }

    /// Takes what is there, or [`ErrorKind::WouldBlock`].
    pub(crate) fn receive(
        &self,
        socket: UdpSockRef<'_>,
        buffer: &mut [u8],
    ) -> io::Result<Option<Arrival>> {
        let mut meta = [RecvMeta::default()];
        match self
            .0
            .recv(socket, &mut [IoSliceMut::new(buffer)], &mut meta)
        {
            Ok(0) => Ok(None),
            Ok(_) => Ok(Some(Arrival::new(&meta[0]))),
            Err(error) if is_soft(error.kind()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends one datagram. Only [`ErrorKind::WouldBlock`] is an error: what the network complains about counts as lost.
    pub(crate) fn send(
        &self,
        socket: UdpSockRef<'_>,
        peer: Peer,
        datagram: &[u8],
    ) -> io::Result<()> {
        let transmit = Transmit {
            destination: peer.address,
            ecn: None,
            contents: datagram,
            segment_size: None,
            src_ip: peer.local,
        };
        self.0.send(socket, &transmit)
    }
}

impl Arrival {
    fn new(meta: &RecvMeta) -> Self {
        Self {
            peer: Peer {
                address: meta.addr,
                // What came to a group cannot be answered from there.
                local: meta.dst_ip.filter(|ip| !ip.is_multicast()),
            },
            length: meta.len,
            stride: meta.stride.max(1),
        }
    }

    /// The datagrams in the buffer that was received into.
    pub(crate) fn datagrams<'b>(&self, buffer: &'b mut [u8]) -> impl Iterator<Item = &'b mut [u8]> {
        let length = self.length.min(buffer.len());
        buffer[..length].chunks_mut(self.stride)
    }
}

/// What ICMP messages become: unauthenticated, and perhaps over in a moment.
pub(crate) const fn is_soft(kind: ErrorKind) -> bool {
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
