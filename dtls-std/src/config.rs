//! What clients and servers are told.

use crate::identity::Identity;
use crate::trust::Trust;
use core::time::Duration;
use dtls_core::{AcceptedPeers, ClientAuthentication, Config, Limits, Timers};

/// What a client agrees to. Can be shared by any number of clients.
pub struct ClientConfig {
    /// What to show to a server that asks; `None`: nothing.
    pub identity: Option<Identity>,
    /// Which servers are accepted.
    pub trust: Trust,
    /// The kinds of credential accepted from the server.
    pub accept: AcceptedPeers,
    /// Retransmission and the time for the whole handshake.
    pub timers: Timers,
    /// How far one set of keys is used.
    pub limits: Limits,
    /// The largest datagram to send, UDP payload in bytes.
    pub mtu: u16,
    /// Talk to servers without the extended master secret (RFC 7627).
    pub allow_legacy_master_secret: bool,
    /// Give up when the network says that nobody listens there. Otherwise the handshake goes on until its time is over:
    /// anybody can forge an ICMP message, and the server may be about to start.
    pub trust_icmp_errors: bool,
}

impl ClientConfig {
    /// No identity, both kinds of credential accepted, Internet timers, the datagram size of the core.
    #[must_use]
    pub const fn new(trust: Trust) -> Self {
        let core = Config::new(AcceptedPeers::ANY);
        Self {
            identity: None,
            trust,
            accept: core.accept,
            timers: core.timers,
            limits: core.limits,
            mtu: core.mtu,
            allow_legacy_master_secret: false,
            trust_icmp_errors: false,
        }
    }

    /// Lends it as the core wants it.
    pub(crate) fn lend<T>(&self, borrow: impl FnOnce(&Config<'_>) -> T) -> T {
        let config = Config {
            timers: self.timers,
            limits: self.limits,
            mtu: self.mtu,
            allow_legacy_master_secret: self.allow_legacy_master_secret,
            ..Config::new(self.accept)
        };
        match &self.identity {
            None => borrow(&config),
            Some(identity) => identity.lend(|credentials| {
                borrow(&Config {
                    credentials,
                    ..config
                })
            }),
        }
    }
}

/// What a server agrees to.
pub struct ServerConfig {
    /// What the server shows.
    pub identity: Identity,
    /// Which clients are accepted.
    pub trust: Trust,
    /// The kinds of credential accepted from clients.
    pub accept: AcceptedPeers,
    /// Whether clients are asked for a credential.
    pub client_authentication: ClientAuthentication,
    /// Retransmission and the time for one whole handshake: then it has failed, and its place is vacant.
    pub timers: Timers,
    /// How far one set of keys is used.
    pub limits: Limits,
    /// The largest datagram to send, UDP payload in bytes.
    pub mtu: u16,
    /// Talk to clients without the extended master secret (RFC 7627).
    pub allow_legacy_master_secret: bool,
    /// Peers at a time, those counted whose handshake is on its way. When all places are taken, a newcomer is turned away.
    pub max_peers: usize,
    /// Handshakes at a time; each needs about 6 KB. When all places are taken, a newcomer gets that of a handshake that had
    /// to repeat a flight, or is turned away.
    pub max_handshakes: u16,
    /// Peers of which nothing authentic was heard for this long are given up; `None`: never.
    pub max_idle: Option<Duration>,
    /// When `max_peers` are there, a newcomer takes the place of the one of which nothing was heard for the longest time.
    pub evict_when_full: bool,
    /// How long a cookie is sure to be good; at most twice as long (RFC 6347 section 4.2.1).
    pub cookie_lifetime: Duration,
}

impl ServerConfig {
    /// Both kinds of credential accepted and one required, Internet timers, the datagram size of the core, 1,024 peers
    /// and 256 handshakes at a time, nobody evicted, a new cookie secret every 2 minutes.
    #[must_use]
    pub const fn new(identity: Identity, trust: Trust) -> Self {
        let core = Config::new(AcceptedPeers::ANY);
        Self {
            identity,
            trust,
            accept: core.accept,
            client_authentication: ClientAuthentication::Required,
            timers: core.timers,
            limits: core.limits,
            mtu: core.mtu,
            allow_legacy_master_secret: false,
            max_peers: 1024,
            max_handshakes: 256,
            max_idle: None,
            evict_when_full: false,
            cookie_lifetime: Duration::from_secs(120),
        }
    }

    /// Lends it as the core wants it.
    pub(crate) fn lend<T>(&self, borrow: impl FnOnce(&Config<'_>) -> T) -> T {
        self.identity.lend(|credentials| {
            borrow(&Config {
                credentials,
                client_authentication: self.client_authentication,
                timers: self.timers,
                limits: self.limits,
                mtu: self.mtu,
                allow_legacy_master_secret: self.allow_legacy_master_secret,
                ..Config::new(self.accept)
            })
        })
    }
}
