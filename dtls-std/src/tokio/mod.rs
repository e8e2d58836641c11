//! Client and server for tokio, with the configurations of the blocking ones and the same core. Feature `tokio`.
//!
//! Public-key operations are computed where they come up, on the task that drives the peer: a handshake takes one to a few
//! milliseconds of processor time.

mod client;
mod server;

pub use client::Client;
pub use server::Server;
