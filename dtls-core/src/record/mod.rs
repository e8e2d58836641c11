//! Records: cut out of datagrams, numbered, protected. Knows nothing of handshakes.

mod datagram;
mod protect;
mod window;

pub use datagram::Datagram;
pub(crate) use datagram::{Record, begin};
pub(crate) use protect::{OVERHEAD, ReadKeys, WriteKeys};
