//! Who a server talks to.

use core::fmt;
use core::net::{IpAddr, SocketAddr};

/// A peer of a server: its address, and the address of ours that it talks to. It is the same peer as long as both are, and
/// what it hears comes from the address that it spoke to.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Peer {
    /// Its address.
    pub address: SocketAddr,
    /// Our address, as far as the system tells.
    pub local: Option<IpAddr>,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}
