//! How a command fails.

use core::fmt;
use dtls_std::{ConnectError, KeyError};
use std::io;
use std::process::ExitCode;

/// Whose fault it is.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The network's or the peer's.
    Peer(anyhow::Error),
    /// The caller's.
    Usage(anyhow::Error),
}

impl Failure {
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Peer(_) => 1,
            Self::Usage(_) => 2,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Peer(error) | Self::Usage(error) => write!(f, "{error:#}"),
        }
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        Self::Usage(error.into())
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::MtuTooSmall(_) => Self::Usage(error.into()),
            _ => Self::Peer(error.into()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Peer(error.into())
    }
}
