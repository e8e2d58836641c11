//! The soak: many clients echo against one server for minutes, vanish and return; memory stays flat, nobody is lost.
//!
//! The server is the command `dtls server --echo`, a process of its own, so that its resident memory means something. Linux
//! only: that memory is read from `/proc`.

mod client;
mod memory;
mod server;
mod tally;

use anyhow::{Context, bail, ensure};
use clap::Parser;
use client::{Client, World};
use core::net::SocketAddr;
use core::time::Duration;
use dtls_std::{ClientConfig, Identity, PrivateKey, Trust};
use indicatif::{ProgressBar, ProgressStyle};
use memory::Memory;
use server::Server;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use tally::Tally;
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep, sleep_until};

/// Many clients against one server over loopback: flat memory, nobody lost
///
/// Every client lives a few seconds, echoes, and then closes or vanishes without a word; it returns on the same port (RFC
/// 6347 section 4.2.8) or on another. The exit status is 1 if a client was lost, if the server's memory was not flat, or if
/// it remembers anybody at the end.
#[derive(Parser)]
#[command(after_help = "\
Examples:
  tests/soak
  tests/soak --seconds 600 --clients 2000")]
struct Args {
    /// How long
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(15..))]
    seconds: u64,
    /// Clients at a time
    #[arg(long, default_value_t = 1000)]
    clients: u32,
    /// Seed of what the clients do
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The command `dtls`; by default the one beside this program
    #[arg(long, value_name = "FILE")]
    dtls: Option<PathBuf>,
}

/// The server forgets who is silent for so long. Clients that live are never silent for half of it.
const MAX_IDLE: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("soak: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let [server_key, client_key] = [PrivateKey::generate()?, PrivateKey::generate()?];
    server_key.write(&folder.path().join("server.key"))?;
    let dtls = args.dtls.clone().map_or_else(beside, Ok)?;
    let mut server = Server::start(&dtls, folder.path(), client_key.pin(), args.clients)?;
    println!(
        "{} clients for {} s against {} (process {})",
        args.clients,
        args.seconds,
        server.address,
        server.pid()
    );

    let config = ClientConfig {
        identity: Some(Identity::raw(&client_key)),
        ..ClientConfig::new(Trust::pins([server_key.pin()]))
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (tally, memory) = LocalSet::new().block_on(&runtime, soak(args, &server, config))?;

    // Who vanished is forgotten by now, and so is everybody else.
    std::thread::sleep(MAX_IDLE + Duration::from_secs(2));
    let report = server.report()?;
    server.stop()?;
    println!("{memory}{tally}server: {report}");
    ensure!(tally.lost.is_empty(), "honest clients were lost");
    memory.flat()?;
    ensure!(
        report.starts_with("peers: 0; handshakes under way: 0;"),
        "the server remembers somebody: {report}"
    );
    Ok(())
}

/// The tool that was built together with this program.
fn beside() -> anyhow::Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name("dtls");
    match path.exists() {
        true => Ok(path),
        false => bail!(
            "there is no {}; run tests/soak, which builds it",
            path.display()
        ),
    }
}

async fn soak(
    args: &Args,
    server: &Server,
    config: ClientConfig,
) -> anyhow::Result<(Tally, Memory)> {
    let start = Instant::now();
    let length = Duration::from_secs(args.seconds);
    let address: SocketAddr = server.address.parse().context(server.address.clone())?;
    let world = Rc::new(World::new(address, config, start + length));
    // All arrive within the first twelfth: a rush, but one that a server with one thread can serve.
    let clients: Vec<_> = (0..args.clients)
        .map(|number| {
            let client = Client::new(Rc::clone(&world), args.seed, number);
            let arrival = start + length / 12 * number / args.clients;
            tokio::task::spawn_local(async move {
                sleep_until(arrival).await;
                client.live().await;
            })
        })
        .collect();

    // Hidden by itself where there is no terminal.
    let progress = ProgressBar::new(args.seconds).with_style(
        ProgressStyle::with_template("{bar:40} {pos}/{len} s {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let mut memory = Memory::default();
    while Instant::now() < start + length {
        sleep(Duration::from_millis(250)).await;
        memory.sample(start.elapsed(), server.pid())?;
        let tally = world.tally.borrow();
        progress.set_position(start.elapsed().as_secs());
        progress.set_message(format!(
            "{} connected, {} handshakes, {} echoes",
            tally.connected,
            tally.handshakes(),
            tally.echoes
        ));
    }
    for client in clients {
        client.await?;
    }
    progress.finish_and_clear();
    Ok((world.tally.take(), memory))
}
