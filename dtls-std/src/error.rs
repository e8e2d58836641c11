//! Errors of client and server, each in one line for people.

use crate::pin::Pin;
use core::net::SocketAddr;
use dtls_core::{Fatal, SendError};
use std::io;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The peer's host says that its port is closed, and nothing else came.
    #[error("nobody listens at {0}")]
    NobodyListens(SocketAddr),
    /// The network says that there is no way to the peer, and nothing else came.
    #[error("{peer} cannot be reached: {source}")]
    Unreachable {
        /// Where to.
        peer: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// We refused the peer's key.
    #[error("{peer} showed the key {pin}, which is not among the pins")]
    Refused {
        /// Where to.
        peer: SocketAddr,
        /// The key it showed.
        pin: Pin,
    },
    /// The handshake failed.
    #[error("no handshake with {peer}: {why}")]
    Handshake {
        /// With whom.
        peer: SocketAddr,
        /// Why.
        why: Fatal,
    },
    /// A ClientHello is never fragmented and does not fit the MTU.
    #[error("the MTU is too small: a ClientHello needs datagrams of {0} bytes")]
    MtuTooSmall(usize),
    /// Socket, key log or capture failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Why data was not sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SendFailed {
    /// There is no association with this peer.
    #[error("not connected to {0}")]
    NotConnected(SocketAddr),
    /// Application data is not fragmented (RFC 6347 section 4.1.1): the sender has to cut it.
    #[error("{length} bytes do not fit one datagram, at most {most} do")]
    TooLong {
        /// The data's length.
        length: usize,
        /// What would fit.
        most: usize,
    },
    /// The state machine refuses.
    #[error(transparent)]
    Refused(#[from] SendError),
}
