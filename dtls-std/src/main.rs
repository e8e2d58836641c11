//! The command-line tool.

mod cli;

use clap::{Parser, Subcommand};
use cli::{Failure, client, keygen, server};
use dtls_std::measure::{self, MeasureArgs};
use std::process::ExitCode;

/// DTLS 1.2 with raw public keys or pinned certificates.
///
/// Without a command, handshakes are measured, as `dtls measure` does.
#[derive(Parser)]
#[command(
    name = "dtls",
    version,
    args_conflicts_with_subcommands = true,
    after_help = EXAMPLES
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    measure: MeasureArgs,
}

#[derive(Subcommand)]
enum Command {
    Keygen(keygen::Args),
    Client(client::Args),
    Server(server::Args),
    /// Measure handshakes, phase by phase
    #[command(after_help = MEASURE_EXAMPLES)]
    Measure(MeasureArgs),
}

const EXAMPLES: &str = "\
Examples:
  dtls keygen --out server
  dtls keygen --out client
  dtls server --key server.key --client-pin client.pub --echo
  echo hello | dtls client 127.0.0.1:4433 --key client.key --pin server.pub

Exit status: 0 success, 1 no connection or a failure of the peer, 2 wrong usage or a key file of no use.";

const MEASURE_EXAMPLES: &str = "\
Examples:
  dtls measure -n 100
  dtls measure --peer ours --credential rpk --csv phases.csv
  dtls measure --json - | jq .pairings[0].sides[0].total_us.median";

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Some(Command::Keygen(args)) => keygen::run(&args),
        Some(Command::Client(args)) => client::run(args),
        Some(Command::Server(args)) => server::run(args),
        Some(Command::Measure(args)) => measure::run(&args).map_err(Failure::Peer),
        None => measure::run(&cli.measure).map_err(Failure::Peer),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("dtls: {failure}");
            failure.exit_code()
        }
    }
}
