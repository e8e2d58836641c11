//! Options that client and server share.

use super::Failure;
use anyhow::{Context, anyhow};
use clap::ValueEnum;
use core::time::Duration;
use dtls_core::{AcceptedPeers, Timers};
use dtls_std::{Capture, Identity, KeyLog, Pin, StdPlatform, Trace, clock};
use std::path::{Path, PathBuf};

/// How to shake hands.
#[derive(clap::Args, Debug)]
pub(crate) struct HandshakeArgs {
    /// Kinds of credential to accept from the peer
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Accept::Any)]
    pub(crate) accept: Accept,
    /// Largest datagram to send, in bytes of UDP payload
    #[arg(long, value_name = "BYTES", default_value_t = 1232)]
    pub(crate) mtu: u16,
    /// Time for a whole handshake
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Talk to peers without the extended master secret (RFC 7627)
    #[arg(long)]
    pub(crate) allow_no_ems: bool,
}

impl HandshakeArgs {
    pub(crate) fn timers(&self) -> Timers {
        Timers {
            handshake: clock::saturating(self.timeout),
            ..Timers::INTERNET
        }
    }
}

/// Kinds of credential.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Accept {
    /// Raw public keys (RFC 7250)
    Raw,
    /// X.509 certificates
    X509,
    /// Both, raw public keys preferred
    Any,
}

impl From<Accept> for AcceptedPeers {
    fn from(accept: Accept) -> Self {
        match accept {
            Accept::Raw => Self::RAW_PUBLIC_KEY,
            Accept::X509 => Self::CERTIFICATE,
            Accept::Any => Self::ANY,
        }
    }
}

/// What to watch with.
#[derive(clap::Args, Debug)]
pub(crate) struct WatchArgs {
    /// Append the master secrets to this file, with which a capture can be decrypted
    #[arg(long, value_name = "FILE")]
    keylog: Option<PathBuf>,
    /// Write all datagrams to this file
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Print records, phases and drops
    #[arg(short, long)]
    verbose: bool,
}

impl WatchArgs {
    pub(crate) fn platform(&self) -> Result<StdPlatform, Failure> {
        let mut platform = StdPlatform::new();
        if let Some(path) = &self.keylog {
            platform = platform.with_key_log(open(path, KeyLog::append)?);
        }
        if let Some(path) = &self.pcap {
            platform = platform.with_capture(open(path, Capture::create)?);
        }
        if self.verbose {
            platform = platform.with_trace(Trace::stderr());
        }
        Ok(platform)
    }
}

fn open<T>(path: &Path, how: fn(&Path) -> std::io::Result<T>) -> Result<T, Failure> {
    how(path)
        .with_context(|| format!("cannot write {}", path.display()))
        .map_err(Failure::Usage)
}

/// Key and certificates.
pub(crate) fn identity(key: &Path, certificates: Option<&Path>) -> Result<Identity, Failure> {
    Ok(Identity::read(key, certificates)?)
}

/// For clap: a pin as digits or in a file.
pub(crate) fn pin(text: &str) -> Result<Pin, String> {
    Pin::from_digits_or_file(text).map_err(|error| error.to_string())
}

/// For clap: a span in seconds, with a fraction if need be.
pub(crate) fn seconds(text: &str) -> Result<Duration, anyhow::Error> {
    let seconds = text.parse().map_err(|_| anyhow!("not a number"))?;
    Ok(Duration::try_from_secs_f64(seconds)?)
}

/// For clap: a number of things, at least one.
pub(crate) fn count(text: &str) -> Result<usize, anyhow::Error> {
    match text.parse() {
        Ok(0) | Err(_) => Err(anyhow!("not a number from 1 on")),
        Ok(count) => Ok(count),
    }
}
