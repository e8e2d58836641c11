//! `dtls measure`: handshakes on loopback, timed phase by phase; with ourselves, and with OpenSSL in both directions.

mod csv;
mod delay;
mod figures;
mod machine;
mod pairing;
mod report;
mod statistics;
mod stopwatch;

pub use delay::{FlightDelay, OperationDelay};

use crate::openssl::{Authentication, Credentials, OpenSsl};
use anyhow::{Context, bail};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use delay::Delays;
use indicatif::{ProgressBar, ProgressStyle};
use machine::Machine;
use pairing::{Pairing, Setup};
use report::{PairingReport, PeerName, Report};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What to measure.
#[derive(clap::Args, Clone, Debug)]
pub struct MeasureArgs {
    /// Handshakes of each kind
    #[arg(short = 'n', long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    handshakes: u16,

    /// With whom
    #[arg(long, value_enum, default_value_t = PeerChoice::All)]
    peer: PeerChoice,

    /// How the sides show their keys
    #[arg(long, value_enum, default_value_t = CredentialChoice::All)]
    credential: CredentialChoice,

    /// Do not ask the client for a key
    #[arg(long)]
    server_only: bool,

    /// On IPv6 loopback
    #[arg(short = '6', long)]
    ipv6: bool,

    /// Write all figures there too; "-" for the standard output, instead of the tables
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the phases there as comma-separated values; "-" for the standard output, instead of the tables
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    csv: Option<PathBuf>,

    /// Make each such operation of ours take so many milliseconds longer: generate, agree, sign, verify or peer
    #[arg(long, value_name = "OPERATION=MS")]
    delay_operation: Option<OperationDelay>,

    /// Send this flight of ours so many milliseconds later: 1, 3 or 5 (client), 4 or 6 (server)
    #[arg(long, value_name = "FLIGHT=MS")]
    delay_flight: Option<FlightDelay>,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, Eq, PartialEq)]
enum PeerChoice {
    /// Our client with our server
    Ours,
    /// Each OpenSSL found, as server and as client
    Openssl,
    /// All of them
    All,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, Eq, PartialEq)]
enum CredentialChoice {
    /// Raw public keys (RFC 7250); OpenSSL knows them since 3.2
    Rpk,
    /// X.509 certificates, pinned
    X509,
    /// Both
    All,
}

impl CredentialChoice {
    const fn authentications(self) -> &'static [Authentication] {
        match self {
            Self::Rpk => &[Authentication::RawPublicKey],
            Self::X509 => &[Authentication::Certificate],
            Self::All => &[Authentication::RawPublicKey, Authentication::Certificate],
        }
    }
}

/// Measures and prints.
///
/// # Errors
/// A peer that is there cannot be reached, or a handshake fails; what could be measured is printed nevertheless. A file
/// cannot be written.
pub fn run(args: &MeasureArgs) -> anyhow::Result<()> {
    let openssl = match args.peer {
        PeerChoice::Ours => None,
        PeerChoice::Openssl | PeerChoice::All => Some(OpenSsl::find()?),
    };
    let names = |found: &Vec<OpenSsl>| found.iter().map(OpenSsl::name).collect();
    let setup = Setup {
        credentials: Credentials::generate()?,
        address: match args.ipv6 {
            true => IpAddr::V6(Ipv6Addr::LOCALHOST),
            false => IpAddr::V4(Ipv4Addr::LOCALHOST),
        },
        mutual: !args.server_only,
        handshakes: args.handshakes.into(),
        delays: Delays {
            operation: args.delay_operation,
            flight: args.delay_flight,
        },
    };
    let found = openssl.as_deref().unwrap_or_default();
    let pairings = pairings(args, found);
    let report = Report {
        dtls: env!("CARGO_PKG_VERSION"),
        machine: Machine::this(),
        openssl: openssl.as_ref().map(names),
        left_out: left_out(args, found),
        pairings: measure(&pairings, &setup),
    };
    write(&report, args)?;
    let failures = report.pairings.iter().filter_map(|pairing| {
        let failure = pairing.failure.as_ref()?;
        Some(format!("{pairing}: {failure}"))
    });
    match failures.collect::<Vec<_>>() {
        none if none.is_empty() => Ok(()),
        failures => bail!("{}", failures.join("\n")),
    }
}

/// What was asked for and cannot be.
fn left_out(args: &MeasureArgs, openssl: &[OpenSsl]) -> Vec<String> {
    let asked = |authentication| args.credential.authentications().contains(authentication);
    if !asked(&Authentication::RawPublicKey) {
        return Vec::new();
    }
    let too_old = openssl.iter().filter(|one| !one.has_raw_public_keys());
    let reason = |one: &OpenSsl| {
        format!(
            "raw public keys with {}, 3.2 and later know them",
            one.name()
        )
    };
    too_old.map(reason).collect()
}

/// What was asked for, as far as the OpenSSLs know it.
fn pairings<'a>(args: &MeasureArgs, openssl: &'a [OpenSsl]) -> Vec<Pairing<'a>> {
    let authentications = args.credential.authentications();
    let ours = (args.peer != PeerChoice::Openssl).then_some((None, None));
    let theirs = openssl
        .iter()
        .flat_map(|one| [(None, Some(one)), (Some(one), None)]);
    let everybody = ours.into_iter().chain(theirs);
    let pairings = everybody.flat_map(|(client, server)| {
        let knows = move |authentication: &Authentication| {
            let foreign = client.or(server);
            foreign.is_none_or(|openssl| openssl.knows(*authentication))
        };
        authentications
            .iter()
            .copied()
            .filter(knows)
            .map(move |authentication| Pairing {
                client,
                server,
                authentication,
            })
    });
    pairings.collect()
}

fn measure(pairings: &[Pairing<'_>], setup: &Setup) -> Vec<PairingReport> {
    // Hidden by itself where there is no terminal.
    let progress = ProgressBar::new((pairings.len() * setup.handshakes) as u64).with_style(
        ProgressStyle::with_template("{bar:40} {pos}/{len} handshakes {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let measure = |pairing: &Pairing<'_>| {
        let mut report = PairingReport {
            client: name(pairing.client),
            server: name(pairing.server),
            authentication: match pairing.authentication {
                Authentication::RawPublicKey => "raw public keys",
                Authentication::Certificate => "X.509",
            },
            mutual: setup.mutual,
            handshakes: 0,
            sides: Vec::new(),
            failure: None,
        };
        progress.set_message(report.to_string());
        match pairing.measure(setup, || progress.inc(1)) {
            Ok(sides) => {
                report.handshakes = setup.handshakes;
                report.sides = sides;
            }
            Err(error) => report.failure = Some(format!("{error:#}")),
        }
        report
    };
    let reports = pairings.iter().map(measure).collect();
    progress.finish_and_clear();
    reports
}

fn name(peer: Option<&OpenSsl>) -> PeerName {
    match peer {
        None => PeerName {
            name: "dtls",
            version: env!("CARGO_PKG_VERSION").into(),
        },
        Some(openssl) => PeerName {
            name: "OpenSSL",
            version: openssl.version(),
        },
    }
}

/// Writes a report in one format.
type Format = fn(&Report, Box<dyn Write>) -> anyhow::Result<()>;

fn write(report: &Report, args: &MeasureArgs) -> anyhow::Result<()> {
    let (path, write): (_, Format) = match (&args.json, &args.csv) {
        (Some(path), _) => (path, write_json),
        (None, Some(path)) => (path, csv::write),
        (None, None) => {
            print(report);
            return Ok(());
        }
    };
    if path == Path::new("-") {
        return write(report, Box::new(io::stdout()));
    }
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    write(report, Box::new(file))?;
    print(report);
    Ok(())
}

/// A reader that had enough is no failure of the measurement.
fn print(report: &Report) {
    let _ = write!(io::stdout(), "{report}");
}

fn write_json(report: &Report, mut to: impl Write) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut to, report)?;
    writeln!(to)?;
    Ok(())
}
