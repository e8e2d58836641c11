//! Real peers, and what is said with them.
//!
//! `cargo test -p interop` shakes hands with every OpenSSL that it finds: the system's, those in the path list
//! `DTLS_OPENSSL`, and what `interop/peers/suite-root.sh` has unpacked under `target/peers`. A peer that is not there is
//! ignored visibly, or a failure if `DTLS_REQUIRE_PEERS=1` is set.

pub mod our_client;
pub mod our_server;
pub mod readme;
pub mod tool;

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::time::Duration;
use dtls_core::{AcceptedPeers, Micros, Timers};
use dtls_std::openssl::Authentication;

/// Longer than anything should take.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Who is asked for a key, and how it is shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Credentials {
    /// How.
    pub authentication: Authentication,
    /// The client too.
    pub mutual: bool,
}

impl Credentials {
    /// All there are.
    pub const ALL: [Self; 4] = [
        Self::new(Authentication::RawPublicKey, false),
        Self::new(Authentication::RawPublicKey, true),
        Self::new(Authentication::Certificate, false),
        Self::new(Authentication::Certificate, true),
    ];

    const fn new(authentication: Authentication, mutual: bool) -> Self {
        Self {
            authentication,
            mutual,
        }
    }

    /// What is accepted from the peer: nothing but the kind that is to be tested.
    const fn accepted(self) -> AcceptedPeers {
        match self.authentication {
            Authentication::RawPublicKey => AcceptedPeers::RAW_PUBLIC_KEY,
            Authentication::Certificate => AcceptedPeers::CERTIFICATE,
        }
    }
}

impl fmt::Display for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.authentication {
            Authentication::RawPublicKey => "raw public keys",
            Authentication::Certificate => "X.509",
        })?;
        f.write_str(match self.mutual {
            true => " mutual",
            false => " server-only",
        })
    }
}

/// IP version 4 or 6.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ip {
    /// 127.0.0.1
    V4,
    /// ::1
    V6,
}

impl Ip {
    const fn loopback(self) -> IpAddr {
        match self {
            Self::V4 => IpAddr::V4(Ipv4Addr::LOCALHOST),
            Self::V6 => IpAddr::V6(Ipv6Addr::LOCALHOST),
        }
    }
}

impl fmt::Display for Ip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        })
    }
}

/// Patient enough for a busy machine, and over in time if something is wrong.
const TIMERS: Timers = Timers {
    handshake: Micros::from_secs(10),
    ..Timers::INTERNET
};
