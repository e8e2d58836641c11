//! `dtls client`

use super::input::{self, BURST, TICK};
use super::options::{self, HandshakeArgs, WatchArgs};
use super::{Failure, SUITE};
use anyhow::{Context, anyhow};
use core::net::SocketAddr;
use core::time::Duration;
use dtls_core::AlertDescription;
use dtls_std::{Client, ClientConfig, ConnectError, Identity, Pin, Received, SendFailed, Trust};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::sync::mpsc::TryRecvError;
use std::time::Instant;

/// Connect to a server; standard input goes there line by line, what comes back goes to standard output
///
/// At the end of the input, answers are waited for a little, then the connection is closed.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  echo hello | dtls client 127.0.0.1:4433 --pin server.pub
  dtls client '[::1]:4433' --key client.key --pin 0a1b…64 digits
  dtls client localhost:4433 --pin server.crt --accept x509 --keylog keys --pcap session.pcap -v")]
pub(crate) struct Args {
    /// HOST:PORT or ADDRESS:PORT, an IPv6 address in brackets
    #[arg(value_name = "ADDR")]
    address: String,
    /// Private key (PEM); without it the client is anonymous
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Certificate of the key, and those it was issued with (PEM); without it the public key is shown raw
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// Accept this server: the pin, or a file with its public key or certificate; can be repeated
    #[arg(
        long = "pin",
        value_name = "HEX|FILE",
        value_parser = options::pin,
        required_unless_present = "insecure_accept_anyone"
    )]
    pins: Vec<Pin>,
    /// Accept any server: no protection from a man in the middle
    #[arg(long, conflicts_with = "pins")]
    insecure_accept_anyone: bool,
    /// How long to wait for answers after the end of the input, counted from the last one
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 500)]
    wait: u64,
    #[command(flatten)]
    handshake: HandshakeArgs,
    #[command(flatten)]
    watch: WatchArgs,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let wait = Duration::from_millis(args.wait);
    let client = connect(args)?;
    let key = client.peer_pin().map(|pin| format!(", key {pin}"));
    let key = key.unwrap_or_default();
    eprintln!("connected to {}: {SUITE}{key}", client.peer());
    if io::stdin().is_terminal() {
        eprintln!("each line goes to the server; Ctrl-D ends");
    }
    converse(client, wait)
}

/// Tries the addresses of the host in turn, each as long as allowed or until the network says that nobody listens there.
fn connect(args: Args) -> Result<Client, Failure> {
    let identity = args
        .key
        .map(|key| options::identity(&key, args.cert.as_deref()))
        .transpose()?;
    let trust = match args.insecure_accept_anyone {
        true => Trust::insecure_accept_anyone(),
        false => Trust::pins(args.pins),
    };
    let mut config = ClientConfig {
        identity,
        accept: args.handshake.accept.into(),
        timers: args.handshake.timers(),
        mtu: args.handshake.mtu,
        allow_legacy_master_secret: args.handshake.allow_no_ems,
        ..ClientConfig::new(trust)
    };
    let own = config.identity.as_ref().map(Identity::pin);
    let mut addresses = resolve(&args.address)?.into_iter().peekable();
    while let Some(address) = addresses.next() {
        config.trust_icmp_errors = addresses.peek().is_some();
        match Client::connect_with(address, &config, args.watch.platform()?) {
            Err(ConnectError::NobodyListens(_) | ConnectError::Unreachable { .. })
                if addresses.peek().is_some() => {}
            done => return done.map_err(|error| Failure::connect(error, own)),
        }
    }
    Err(Failure::Peer(anyhow!("{} has no address", args.address)))
}

fn resolve(address: &str) -> Result<Vec<SocketAddr>, Failure> {
    let addresses = address.to_socket_addrs();
    let usage = matches!(&addresses, Err(error) if error.kind() == ErrorKind::InvalidInput);
    let fault = if usage { Failure::Usage } else { Failure::Peer };
    let addresses = addresses.with_context(|| format!("no address for \"{address}\""));
    Ok(addresses.map_err(fault)?.collect())
}

/// Carries data both ways until the input ends and answers cease, or the server closes.
fn converse(mut client: Client, wait: Duration) -> Result<(), Failure> {
    let lines = input::lines();
    let mut end = None;
    loop {
        for _ in 0..BURST {
            match lines.try_recv() {
                Ok(line) => send(&mut client, &line)?,
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    end.get_or_insert_with(|| Instant::now() + wait);
                    break;
                }
            }
        }
        match client.recv(TICK)? {
            Some(Received::Data(data)) => {
                if !print(&data)? {
                    return Ok(client.close()?);
                }
                end = end.map(|_| Instant::now() + wait);
            }
            Some(Received::Closed(AlertDescription::CLOSE_NOTIFY)) => {
                eprintln!("closed by the server");
                return Ok(());
            }
            Some(Received::Closed(alert)) => {
                return Err(Failure::Peer(anyhow!("the server sent the alert {alert}")));
            }
            Some(Received::TooManyForgeries) => {
                return Err(Failure::Peer(anyhow!(
                    "too many forged records came; connect anew"
                )));
            }
            Some(_) | None => {}
        }
        if end.is_some_and(|end| Instant::now() >= end) {
            return Ok(client.close()?);
        }
    }
}

/// Whether somebody still reads.
fn print(data: &[u8]) -> io::Result<bool> {
    let mut output = io::stdout().lock();
    match output.write_all(data).and_then(|()| output.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true),
    }
}

/// A line that is longer than a datagram goes in several.
fn send(client: &mut Client, line: &[u8]) -> Result<(), Failure> {
    let sent = match client.send(line) {
        Err(SendFailed::TooLong { most, .. }) if most > 0 => {
            line.chunks(most).try_for_each(|piece| client.send(piece))
        }
        sent => sent,
    };
    sent.map_err(|error| Failure::Peer(error.into()))
}
