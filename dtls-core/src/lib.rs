//! DTLS 1.2 (RFC 6347) for constrained devices, as a state machine without I/O.
//!
//! No socket, clock, heap, thread, lock, global or `std`: time, randomness, memory, keys and public-key operations come
//! from the caller.
//!
//! | a peer is | it costs | it lives in |
//! |---|---|---|
//! | a stranger | nothing | two secrets of the [`CookieGate`] serve all strangers |
//! | shaking hands | about 1.25 KB, lent | a [`Workspace`], handled through a [`Connection`] |
//! | established | at most 160 bytes | an [`Association`], owned and plain |
//!
//! # The contract
//! One peer is an `Option<Association>`, a `Workspace` and a [`Connection`] over both; many peers are [`Peers`], with the
//! same loop. After each call, ask [`poll_question`](Connection::poll_question) and
//! [`poll_transmit`](Connection::poll_transmit) until they return `None`; then wait for a datagram or for
//! [`poll_timeout`](Connection::poll_timeout).
//! ```
//! # use dtls_core::*;
//! # fn f<P: Platform>(platform: &mut P, config: &Config<'_>, workspace: &mut Workspace<P>, clock: fn() -> Instant,
//! #     rx: &mut [u8], tx: &mut [u8], send: fn(&[u8]), engine: fn(PkRequest) -> Result<PkResponse, CryptoError>,
//! #     known: fn(PeerIdentity<'_>) -> Option<PeerId>) -> Result<(), SendError> {
//! let mut association = None;
//! let mut connection = Connection::new(&mut association, workspace, config);
//! connection.connect(platform, clock())?;
//! loop {
//!     while let Some((job, question)) = connection.poll_question(platform) {
//!         let answer = match question {
//!             Question::PublicKey(request) => Answer::PublicKey(engine(request)), // or later, from an accelerator
//!             Question::Peer(identity) => Answer::Peer(known(identity)),          // or later, from a data base
//!             _ => break,
//!         };
//!         connection.answer(platform, clock(), job, answer)?;
//!     }
//!     while let Some(n) = connection.poll_transmit(platform, clock(), tx)? {
//!         send(&tx[..n]);
//!     }
//!     let _ = connection.poll_timeout(); // … wait for a datagram, at most until then
//!     let mut datagram = Datagram::new(rx);
//!     while let Some(event) = connection.receive(platform, clock(), &mut datagram)? {
//!         // Connected(peer), ApplicationData(data), Closed(alert) …
//!     }
//! #   break
//! } Ok(()) }
//! ```
//! An error means that the handshake is over (`poll_transmit` may still hold its alert); an association that was there
//! before stays as it was. What a datagram from the network does wrong is never an error: it is dropped, and a
//! [`Probe`] is told why.
#![no_std]
// Encodings and proofs that only one role needs stay in builds without that role, where the linker drops them; the build
// with both roles allows nothing unused.
#![cfg_attr(
    not(all(feature = "client", feature = "server")),
    allow(
        dead_code,
        unused_imports,
        unused_variables,
        reason = "a build with one role"
    )
)]

#[cfg(not(any(feature = "client", feature = "server")))]
compile_error!("choose at least one of the features `client` and `server`");

#[cfg(test)]
extern crate std;

mod alert;
mod association;
mod config;
mod connection;
#[cfg(feature = "server")]
mod cookie;
pub mod crypto;
mod discard;
mod error;
mod event;
mod handshake;
mod meter;
#[cfg(feature = "server")]
mod peers;
mod platform;
mod probe;
mod proof;
mod record;
mod time;
mod wire;

pub use alert::{AlertDescription, AlertLevel};
pub use association::Association;
pub use config::{AcceptedPeers, ClientAuthentication, Config, Credential, Limits, Timers};
pub use connection::{Connection, Workspace};
#[cfg(feature = "server")]
pub use cookie::{Admission, Admitted, CookieGate};
pub use crypto::{
    Aead, CryptoError, Digest, Job, KeyId, PkRequest, PkResponse, Point, Secret, Signature,
    Symmetric,
};
pub use discard::Discard;
pub use error::{Fatal, SendError};
pub use event::{ClientHelloRecord, Event};
pub use meter::{Clock, Meter, PhaseFigures};
#[cfg(feature = "server")]
pub use peers::{Peers, Room, Seat};
pub use platform::{Answer, Parts, PeerId, PeerIdentity, Platform, Question};
pub use probe::{Mark, NoProbe, Operation, Phase, Probe};
pub use record::Datagram;
pub use time::{Instant, Micros};
