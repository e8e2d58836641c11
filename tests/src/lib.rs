//! Two or more DTLS endpoints on a network in virtual time: seeded, deterministic, and faster than the clock.
//!
//! ```
//! use dtls_tests::{Network, Peer, client_config, server_config, CLIENT, SERVER, Kind};
//! let mut net = Network::new(1);
//! let mut client = Peer::client(&net, 2, client_config(Kind::Raw, Kind::Raw));
//! let mut server = Peer::server(&net, 1, server_config(Kind::Raw, Kind::Raw));
//! client.connect(&server);
//! net.run(&mut [&mut client, &mut server]);
//! client.send(b"hello").unwrap();
//! net.run(&mut [&mut client, &mut server]);
//! assert_eq!(server.received(), [b"hello"]);
//! ```

mod endpoint;
mod engine;
mod gateway;
mod hello;
mod identity;
mod insider;
mod machine;
mod network;
mod peer;
mod refragmenter;
pub mod wire;

pub use endpoint::{Endpoint, Seen, address};
pub use engine::Engine;
pub use gateway::{Gateway, Table};
pub use hello::Hello;
pub use identity::{CLIENT, Identity, Kind, SERVER, STRANGER, client_config, server_config};
pub use insider::{Insider, Side};
pub use machine::{Machine, Recorder, VirtualClock};
pub use network::{Fate, Link, Logged, Network, Passing};
pub use peer::Peer;
pub use refragmenter::{Refragmenter, Shape};

/// Bytes of handshake memory that each workspace of the tests has, certificates included.
pub const MEMORY: usize = 2048;
