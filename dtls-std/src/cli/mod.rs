//! The sub-commands.

mod advice;
pub(crate) mod client;
mod failure;
mod input;
pub(crate) mod keygen;
mod options;
pub(crate) mod server;
mod signals;

pub(crate) use failure::Failure;

/// The one suite there is (RFC 7251), as people want to see it named.
const SUITE: &str = "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8";
