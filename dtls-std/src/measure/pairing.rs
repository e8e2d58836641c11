//! Who shakes hands with whom, and the handshakes themselves.

use super::delay::{Delayed, Delays};
use super::figures::{Sample, Side};
use super::stopwatch::Stopwatch;
use crate::clock;
use crate::openssl::{
    Authentication, ClientCheck, ClientOptions, Credentials, OpenSsl, ServerOptions, ServerTrust,
};
use crate::{Client, ClientConfig, Peer, Server, ServerConfig, ServerEvent, StdPlatform, Trust};
use anyhow::{Context, bail, ensure};
use core::net::{IpAddr, SocketAddr};
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use dtls_core::{AcceptedPeers, ClientAuthentication, Instant, Meter, Micros, Timers};
use std::net::UdpSocket;
use std::thread;

/// OpenSSL's s_server packs its flight into one datagram with this, as we do.
const MTU: u16 = 1400;

/// No handshake on loopback takes longer, unless something is wrong.
const PATIENCE: Micros = Micros::from_secs(10);

/// One row of the measurement.
pub(super) struct Pairing<'a> {
    /// `None`: ours.
    pub(super) client: Option<&'a OpenSsl>,
    /// `None`: ours.
    pub(super) server: Option<&'a OpenSsl>,
    pub(super) authentication: Authentication,
}

/// What all rows have in common.
pub(super) struct Setup {
    pub(super) credentials: Credentials,
    pub(super) address: IpAddr,
    pub(super) mutual: bool,
    pub(super) handshakes: usize,
    pub(super) delays: Delays,
}

/// A meter by the clock of the process, a stopwatch to compare it with, and what delays both.
type Probe = Delayed<(Meter<fn() -> Instant>, Stopwatch)>;

impl Pairing<'_> {
    /// All handshakes, as our sides saw them; `done` is called after each.
    pub(super) fn measure(&self, setup: &Setup, done: impl Fn()) -> anyhow::Result<Vec<Side>> {
        match (self.client, self.server) {
            (None, None) => self.ours_with_ours(setup, done),
            (None, Some(openssl)) => self.our_client(openssl, setup, done),
            (Some(openssl), _) => self.our_server(openssl, setup, done),
        }
    }

    fn ours_with_ours(&self, setup: &Setup, done: impl Fn()) -> anyhow::Result<Vec<Side>> {
        let socket = UdpSocket::bind((setup.address, 0))?;
        let address = socket.local_addr()?;
        let (client, server) = (self.client_config(setup)?, self.server_config(setup)?);
        let client_failed = AtomicBool::new(false);
        let (client_side, server_side) = thread::scope(|scope| {
            let server_side = scope.spawn(|| {
                let mut server = Server::new(socket, server, platform(setup))?;
                let still = || match client_failed.load(Ordering::Relaxed) {
                    true => bail!("the client failed"),
                    false => Ok(()),
                };
                let handshake = |_| next_handshake(&mut server, still).map(|(_, sample)| sample);
                (0..setup.handshakes).map(handshake).collect()
            });
            let handshake = |_| connect(address, &client, setup).inspect(|_| done());
            let client_side: anyhow::Result<Vec<_>> =
                (0..setup.handshakes).map(handshake).collect();
            client_failed.store(client_side.is_err(), Ordering::Relaxed);
            (client_side, server_side.join())
        });
        let server_side: anyhow::Result<Vec<_>> =
            server_side.unwrap_or_else(|_| bail!("the server panicked"));
        Ok(vec![
            Side::client(&client_side?),
            Side::server(&server_side?),
        ])
    }

    fn our_client(
        &self,
        openssl: &OpenSsl,
        setup: &Setup,
        done: impl Fn(),
    ) -> anyhow::Result<Vec<Side>> {
        let clients = match setup.mutual {
            true => ClientCheck::AnyKey,
            false => ClientCheck::NotAsked,
        };
        let server = openssl.serve(&ServerOptions {
            address: setup.address,
            clients,
            mtu: Some(MTU),
            ..ServerOptions::new(self.authentication, &setup.credentials.server)
        })?;
        let config = self.client_config(setup)?;
        let handshake = |_| {
            let sample = connect(server.address(), &config, setup)
                .with_context(|| format!("s_server said: {}", server.process.said()));
            sample.inspect(|_| done())
        };
        let samples: Vec<_> = (0..setup.handshakes)
            .map(handshake)
            .collect::<Result<_, _>>()?;
        Ok(vec![Side::client(&samples)])
    }

    fn our_server(
        &self,
        openssl: &OpenSsl,
        setup: &Setup,
        done: impl Fn(),
    ) -> anyhow::Result<Vec<Side>> {
        let socket = UdpSocket::bind((setup.address, 0))?;
        let options = ClientOptions {
            trust: ServerTrust::Pin(setup.credentials.server.pin),
            identity: setup.mutual.then_some(&setup.credentials.client),
            mtu: Some(MTU),
            ..ClientOptions::new(self.authentication, socket.local_addr()?)
        };
        let mut server = Server::new(socket, self.server_config(setup)?, platform(setup))?;
        let handshake = |_| {
            let mut client = openssl.connect(&options)?;
            let (peer, sample) = next_handshake(&mut server, || {
                let ended = client.process.has_ended();
                ensure!(!ended, "s_client ended and said: {}", client.process.said());
                Ok(())
            })
            .with_context(|| format!("s_client said: {}", client.process.said()))?;
            client.expect_connected()?;
            server.close(peer)?;
            done();
            Ok(sample)
        };
        let samples: Vec<_> = (0..setup.handshakes)
            .map(handshake)
            .collect::<anyhow::Result<_>>()?;
        Ok(vec![Side::server(&samples)])
    }

    fn client_config(&self, setup: &Setup) -> anyhow::Result<ClientConfig> {
        let identity = setup.credentials.client.identity(self.authentication)?;
        Ok(ClientConfig {
            identity: setup.mutual.then_some(identity),
            accept: self.accepted(),
            timers: TIMERS,
            trust_icmp_errors: true,
            ..ClientConfig::new(Trust::pins([setup.credentials.server.pin]))
        })
    }

    fn server_config(&self, setup: &Setup) -> anyhow::Result<ServerConfig> {
        let identity = setup.credentials.server.identity(self.authentication)?;
        let (client_authentication, trust) = match setup.mutual {
            true => (
                ClientAuthentication::Required,
                Trust::pins([setup.credentials.client.pin]),
            ),
            false => (ClientAuthentication::None, Trust::pins([]).and_anonymous()),
        };
        Ok(ServerConfig {
            accept: self.accepted(),
            client_authentication,
            timers: TIMERS,
            ..ServerConfig::new(identity, trust)
        })
    }

    const fn accepted(&self) -> AcceptedPeers {
        match self.authentication {
            Authentication::RawPublicKey => AcceptedPeers::RAW_PUBLIC_KEY,
            Authentication::Certificate => AcceptedPeers::CERTIFICATE,
        }
    }
}

const TIMERS: Timers = Timers {
    handshake: PATIENCE,
    ..Timers::INTERNET
};

fn platform(setup: &Setup) -> StdPlatform<Probe> {
    let probes = (
        Meter::new(clock::now as fn() -> Instant),
        Stopwatch::default(),
    );
    StdPlatform::new().with_probe(Delayed::new(probes, setup.delays))
}

/// The last handshake.
fn sample(platform: &mut StdPlatform<Probe>) -> Sample {
    let (meter, stopwatch) = &platform.probe_mut().probe;
    Sample::new(meter, stopwatch.elapsed)
}

/// One handshake of our client.
fn connect(server: SocketAddr, config: &ClientConfig, setup: &Setup) -> anyhow::Result<Sample> {
    let mut client = Client::connect_with(server, config, platform(setup))?;
    let sample = sample(client.platform());
    client.close()?;
    Ok(sample)
}

/// Waits for the next handshake of our server, as long as `still` sees a reason to.
fn next_handshake(
    server: &mut Server<Probe>,
    mut still: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<(Peer, Sample)> {
    let end = clock::now().after(PATIENCE);
    loop {
        match server.poll(Duration::from_millis(50))? {
            Some(ServerEvent::Connected { peer, .. }) => {
                return Ok((peer, sample(server.platform())));
            }
            Some(ServerEvent::HandshakeFailed { peer, why, .. }) => {
                bail!("no handshake with {peer}: {why}")
            }
            _ => still()?,
        }
        ensure!(clock::now() < end, "no client came within 10 s");
    }
}
