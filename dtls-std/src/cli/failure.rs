//! How a command fails.

use super::advice;
use anyhow::anyhow;
use core::fmt;
use dtls_std::{ConnectError, KeyError, Pin};
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
        let advice = advice::on_key(&error);
        Self::Usage(with_advice(error, advice))
    }
}

impl Failure {
    /// There is no connection; `own` is the pin of the key that we would have shown.
    pub(crate) fn connect(error: ConnectError, own: Option<Pin>) -> Self {
        let advice = advice::on_connect(&error, own);
        let usage = matches!(error, ConnectError::MtuTooSmall(_));
        let error = with_advice(error, advice);
        if usage {
            Self::Usage(error)
        } else {
            Self::Peer(error)
        }
    }
}

fn with_advice(error: impl Into<anyhow::Error>, advice: Option<String>) -> anyhow::Error {
    let error = error.into();
    match advice {
        Some(advice) => anyhow!("{error:#}; {advice}"),
        None => error,
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Peer(error.into())
    }
}
