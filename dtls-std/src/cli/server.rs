//! `dtls server`

use super::input::{self, BURST, TICK};
use super::options::{self, HandshakeArgs, WatchArgs};
use super::signals::Signals;
use super::{Failure, SUITE};
use anyhow::{Context, anyhow};
use clap::ValueEnum;
use core::fmt;
use core::net::SocketAddr;
use core::time::Duration;
use dtls_core::ClientAuthentication;
use dtls_std::{Peer, Pin, SendFailed, Server, ServerConfig, ServerEvent, Trust};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::net::UdpSocket;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;

/// Serve any number of clients; what they send goes to standard output, standard input goes to all of them
///
/// One line per event is printed on standard error, and at the end what was dropped and which alerts were sent and
/// received. SIGINT (Ctrl-C) and SIGTERM close all connections and end the server; SIGUSR1 prints the counters meanwhile.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "\
Examples:
  dtls server --key server.key --client-pin client.pub --echo
  dtls server --listen '[::]:4433' --key server.key --cert server.crt --anonymous
  dtls server --key server.key --anonymous --echo --max-peers 5000 --max-idle 600 --quiet",
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
    /// Clients at a time; more are turned away
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = options::count)]
    max_peers: usize,
    /// Handshakes at a time, about 6 KB each; more have to wait for a retransmission of theirs
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
    max_handshakes: u16,
    /// Close connections of which nothing was heard for so long
    #[arg(long, value_name = "SECONDS", value_parser = options::seconds)]
    max_idle: Option<Duration>,
    /// When --max-peers clients are there, close the connection that was idle for the longest time in favour of a new one
    #[arg(long)]
    evict_when_full: bool,
    /// Print no lines for events
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
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
        max_peers: args.max_peers,
        max_handshakes: args.max_handshakes,
        max_idle: args.max_idle,
        evict_when_full: args.evict_when_full,
        ..ServerConfig::new(identity, args.trust())
    };
    let signals = Signals::listen()?;
    eprintln!("listening at {address}, key {own_pin}");
    let mut service = Service {
        server: Server::new(socket, config, platform)?,
        lines: (!args.echo).then(input::lines),
        connected: BTreeSet::new(),
        once: args.once,
        quiet: args.quiet,
        signals,
    };
    let served = service.run();
    service.report();
    served
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

struct Service {
    server: Server,
    /// Standard input; `None`: echo.
    lines: Option<Receiver<Vec<u8>>>,
    connected: BTreeSet<Peer>,
    once: bool,
    quiet: bool,
    signals: Signals,
}

/// How often signals are looked for, if nothing else is.
const GLANCE: Duration = Duration::from_millis(200);

impl Service {
    fn run(&mut self) -> Result<(), Failure> {
        let patience = self.lines.as_ref().map_or(GLANCE, |_| TICK);
        while !self.signals.stop() {
            if self.signals.report() {
                self.report();
            }
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
        for peer in &self.connected {
            self.server.close(*peer)?;
        }
        Ok(())
    }

    /// Sends a line of standard input, if there is one, to everybody.
    fn say_line(&mut self) {
        let line = self.lines.as_ref().and_then(|lines| lines.try_recv().ok());
        let Some(line) = line else { return };
        // Whoever cannot be sent to is not there any more.
        let (server, quiet) = (&mut self.server, self.quiet);
        self.connected
            .retain(|&peer| match send(server, peer, &line) {
                Ok(()) => true,
                Err(error) => {
                    say(quiet, format_args!("{peer} not sent: {error}"));
                    false
                }
            });
    }

    /// Whether a client has closed.
    fn handle(&mut self, event: ServerEvent) -> Result<bool, Failure> {
        match event {
            ServerEvent::Connected { peer, pin, .. } => {
                self.connected.insert(peer);
                self.say(format_args!("{peer} connected: {SUITE}, {}", key(pin)));
            }
            ServerEvent::Data { peer, data } if self.lines.is_none() => {
                self.say(format_args!("{peer} sent {} bytes, echoed", data.len()));
                if let Err(error) = send(&mut self.server, peer, &data) {
                    self.say(format_args!("{peer} not sent: {error}"));
                }
            }
            ServerEvent::Data { peer, data } => {
                self.say(format_args!("{peer} sent {} bytes", data.len()));
                let mut output = io::stdout().lock();
                output.write_all(&data)?;
                output.flush()?;
            }
            ServerEvent::Closed { peer, alert } => {
                self.connected.remove(&peer);
                self.say(format_args!("{peer} closed: {alert}"));
                // The answer goes out before the program does.
                return Ok(true);
            }
            ServerEvent::Evicted { peer, idle } => {
                self.connected.remove(&peer);
                self.say(format_args!(
                    "{peer} evicted: idle for {} s",
                    idle.as_secs()
                ));
            }
            ServerEvent::TooManyForgeries { peer } => {
                self.connected.remove(&peer);
                self.say(format_args!("{peer} given up: too many forged records"));
            }
            ServerEvent::RehandshakeDue { peer } => {
                self.say(format_args!("{peer} should shake hands anew"));
            }
            ServerEvent::HandshakeFailed { peer, pin, why } => {
                let key = pin.map_or(String::new(), |pin| format!("; it showed the key {pin}"));
                if self.once {
                    return Err(Failure::Peer(anyhow!(
                        "no handshake with {peer}: {why}{key}"
                    )));
                }
                self.say(format_args!("{peer} no handshake: {why}{key}"));
            }
            ServerEvent::Full { peer } => {
                self.say(format_args!("{peer} turned away: all places are taken"));
            }
            _ => {}
        }
        Ok(false)
    }

    fn say(&self, line: fmt::Arguments<'_>) {
        say(self.quiet, line);
    }

    fn report(&self) {
        let (peers, handshakes) = self.server.occupancy();
        let counters = self.server.counters();
        eprintln!("peers: {peers}; handshakes under way: {handshakes}; {counters}");
    }
}

fn say(quiet: bool, line: fmt::Arguments<'_>) {
    if !quiet {
        eprintln!("{line}");
    }
}

fn key(pin: Option<Pin>) -> String {
    pin.map_or("anonymous".into(), |pin| format!("key {pin}"))
}

/// What is longer than a datagram goes in several.
fn send(server: &mut Server, peer: Peer, data: &[u8]) -> Result<(), SendFailed> {
    match server.send(peer, data) {
        Err(SendFailed::TooLong { most, .. }) if most > 0 => data
            .chunks(most)
            .try_for_each(|piece| server.send(peer, piece)),
        sent => sent,
    }
}
