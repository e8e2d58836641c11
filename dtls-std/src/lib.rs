//! DTLS 1.2 over UDP sockets of the standard library: a blocking [`Client`], a [`Server`] for many peers, both for tokio,
//! too (feature `tokio`), and what they need: keys and pins in PEM files, a key log, a capture, a trace.
//!
//! ```no_run
//! use dtls_std::{Client, ClientConfig, Identity, Pin, Trust};
//! use std::path::Path;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Pin::read(Path::new("server.pub"))?;
//! let config = ClientConfig {
//!     identity: Some(Identity::read(Path::new("client.key"), None)?),
//!     ..ClientConfig::new(Trust::pins([server]))
//! };
//! let mut client = Client::connect("[::1]:4433".parse()?, &config)?;
//! client.send(b"hello")?;
//! client.close()?;
//! # Ok(()) }
//! ```

mod attempt;
mod capture;
mod certificate;
mod client;
pub mod clock;
mod config;
mod counters;
mod error;
mod identity;
mod keylog;
mod keys;
mod link;
pub mod measure;
pub mod openssl;
mod peer;
mod pin;
mod platform;
mod port;
mod seal;
mod server;
mod serving;
mod session;
#[cfg(feature = "tokio")]
pub mod tokio;
mod trace;
mod trust;
mod wait;

pub use capture::Capture;
pub use certificate::write_self_signed;
pub use client::{Client, Received};
pub use config::{ClientConfig, ServerConfig};
pub use counters::Counters;
pub use error::{ConnectError, SendFailed};
pub use identity::Identity;
pub use keylog::KeyLog;
pub use keys::{KeyError, PrivateKey, Spki};
pub use peer::Peer;
pub use pin::{NotAPin, Pin};
pub use platform::{StdPlatform, Watch};
pub use server::{Server, ServerEvent};
pub use trace::Trace;
pub use trust::Trust;

/// Room for one handshake: enough for chains of a few certificates.
pub(crate) const WORKSPACE: usize = 4096;

/// Every UDP datagram fits.
pub(crate) const LARGEST_DATAGRAM: usize = 65_535;
