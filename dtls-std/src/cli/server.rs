//! `dtls server`

use super::input::{self, BURST, TICK};
use super::options::{self, HandshakeArgs, WatchArgs};
use super::{Failure, SUITE};
use anyhow::{Context, anyhow};
use clap::ValueEnum;
use core::net::SocketAddr;
use core::time::Duration;
use dtls_core::ClientAuthentication;
use dtls_std::{Pin, SendFailed, Server, ServerConfig, ServerEvent, Trust};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::net::UdpSocket;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;

/// Serve any number of clients; what they send goes to standard output, standard input goes to all of them
///
/// One line per event is printed on standard error.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "\
Examples:
  dtls server --key server.key --client-pin client.pub --echo
  dtls server --listen '[::]:4433' --key server.key --cert server.crt --anonymous",
    group = clap::ArgGroup::new("clients").required(true).multiple(true)
)]
pub(crate) struct Args {
    /// Address to listen at
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4433")]
    listen: SocketAddr,
    /// Private key (PEM)
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Certificate of the key, and those it was issued with (PEM); without it the public key is shown raw
    #[arg(long, value_name = "FILE")]
    cert: Option<PathBuf>,
    /// Accept this client: the pin, or a file with its public key or certificate; can be repeated
    #[arg(
        long = "client-pin",
        value_name = "HEX|FILE",
        value_parser = options::pin,
        group = "clients"
    )]
    client_pins: Vec<Pin>,
    /// Accept clients with any key
    #[arg(long, conflicts_with = "client_pins", group = "clients")]
    insecure_accept_any_client: bool,
    /// Accept clients that show no key
    #[arg(long, group = "clients")]
    anonymous: bool,
    /// Whether clients are asked for a key; by default as suits those accepted
    #[arg(long, value_enum, value_name = "WHEN")]
    client_auth: Option<ClientAuth>,
    /// Send everything back to where it came from, instead of to standard output
    #[arg(long)]
    echo: bool,
    /// Serve one client: end when it closes, fail when its handshake does
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    handshake: HandshakeArgs,
    #[command(flatten)]
    watch: WatchArgs,
}

/// Whether clients are asked for a key.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ClientAuth {
    /// Never: all are anonymous
    None,
    /// Asked; one that shows none is anonymous
    Optional,
    /// Asked; one that shows none is refused
    Required,
}

impl From<ClientAuth> for ClientAuthentication {
    fn from(when: ClientAuth) -> Self {
        match when {
            ClientAuth::None => Self::None,
            ClientAuth::Optional => Self::Optional,
            ClientAuth::Required => Self::Required,
        }
    }
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let client_auth = args.client_auth()?;
    let identity = options::identity(&args.key, args.cert.as_deref())?;
    let own_pin = identity.pin();
    let platform = args.watch.platform()?;
    let socket = UdpSocket::bind(args.listen)
        .with_context(|| format!("cannot listen at {}", args.listen))
        .map_err(Failure::Usage)?;
    let address = socket.local_addr()?;
    let config = ServerConfig {
        accept: args.handshake.accept.into(),
        client_authentication: client_auth.into(),
        timers: args.handshake.timers(),
        mtu: args.handshake.mtu,
        allow_legacy_master_secret: args.handshake.allow_no_ems,
        ..ServerConfig::new(identity, args.trust())
    };
    eprintln!("listening at {address}, key {own_pin}");
    Server::scope(socket, &config, platform, |server| {
        Service {
            server,
            lines: (!args.echo).then(input::lines),
            connected: BTreeSet::new(),
            once: args.once,
        }
        .run()
    })
}

impl Args {
    fn trust(&self) -> Trust {
        let trust = match self.insecure_accept_any_client {
            true => Trust::insecure_accept_anyone(),
            false => Trust::pins(self.client_pins.iter().copied()),
        };
        match self.anonymous {
            true => trust.and_anonymous(),
            false => trust,
        }
    }

    fn client_auth(&self) -> Result<ClientAuth, Failure> {
        let with_key = self.insecure_accept_any_client || !self.client_pins.is_empty();
        let suits = match (with_key, self.anonymous) {
            (true, true) => ClientAuth::Optional,
            (true, false) => ClientAuth::Required,
            (false, _) => ClientAuth::None,
        };
        match self.client_auth.unwrap_or(suits) {
            ClientAuth::None if !self.anonymous => Err(Failure::Usage(anyhow!(
                "clients that are not asked for a key are anonymous: add --anonymous"
            ))),
            when => Ok(when),
        }
    }
}

struct Service<'s, 'c> {
    server: &'s mut Server<'c>,
    /// Standard input; `None`: echo.
    lines: Option<Receiver<Vec<u8>>>,
    connected: BTreeSet<SocketAddr>,
    once: bool,
}

impl Service<'_, '_> {
    fn run(&mut self) -> Result<(), Failure> {
        let patience = self.lines.as_ref().map_or(Duration::MAX, |_| TICK);
        loop {
            for _ in 0..BURST {
                self.say_line();
            }
            if let Some(event) = self.server.poll(patience)? {
                let served = self.handle(event)?;
                if served && self.once {
                    return Ok(());
                }
            }
        }
    }

    /// Sends a line of standard input, if there is one, to everybody.
    fn say_line(&mut self) {
        let line = self.lines.as_ref().and_then(|lines| lines.try_recv().ok());
        let Some(line) = line else { return };
        // Whoever cannot be sent to is not there any more.
        let server = &mut self.server;
        self.connected
            .retain(|&peer| match send(server, peer, &line) {
                Ok(()) => true,
                Err(error) => {
                    eprintln!("{peer} not sent: {error}");
                    false
                }
            });
    }

    /// Whether a client has closed.
    fn handle(&mut self, event: ServerEvent) -> Result<bool, Failure> {
        match event {
            ServerEvent::Connected { peer, pin, .. } => {
                self.connected.insert(peer);
                let key = pin.map_or("anonymous".into(), |pin| format!("key {pin}"));
                eprintln!("{peer} connected: {SUITE}, {key}");
            }
            ServerEvent::Data { peer, data } if self.lines.is_none() => {
                eprintln!("{peer} sent {} bytes, echoed", data.len());
                if let Err(error) = send(self.server, peer, &data) {
                    eprintln!("{peer} not sent: {error}");
                }
            }
            ServerEvent::Data { peer, data } => {
                eprintln!("{peer} sent {} bytes", data.len());
                let mut output = io::stdout().lock();
                output.write_all(&data)?;
                output.flush()?;
            }
            ServerEvent::Closed { peer, alert } => {
                self.connected.remove(&peer);
                eprintln!("{peer} closed: {alert}");
                // The answer goes out before the program does.
                return Ok(true);
            }
            ServerEvent::HandshakeFailed { peer, why } => {
                if self.once {
                    return Err(Failure::Peer(anyhow!("no handshake with {peer}: {why}")));
                }
                eprintln!("{peer} no handshake: {why}");
            }
            ServerEvent::Full { peer } => eprintln!("{peer} turned away: all places are taken"),
        }
        Ok(false)
    }
}

/// What is longer than a datagram goes in several.
fn send(server: &mut Server<'_>, peer: SocketAddr, data: &[u8]) -> Result<(), SendFailed> {
    match server.send(peer, data) {
        Err(SendFailed::TooLong { most, .. }) if most > 0 => data
            .chunks(most)
            .try_for_each(|piece| server.send(peer, piece)),
        sent => sent,
    }
}
