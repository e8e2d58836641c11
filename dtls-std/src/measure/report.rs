//! The whole report: as JSON what serde makes of it, for people as tables.

use super::figures::{PhaseReport, Side};
use super::machine::Machine;
use super::statistics::Distribution;
use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{CellAlignment, Table, TableComponent};
use core::fmt;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// Our own version.
    pub(super) dtls: &'static str,
    pub(super) machine: Machine,
    /// The OpenSSLs that were there; `None` if nobody asked for them.
    pub(super) openssl: Option<Vec<String>>,
    /// What was asked for and cannot be.
    pub(super) left_out: Vec<String>,
    pub(super) pairings: Vec<PairingReport>,
}

#[derive(Debug, Serialize)]
pub(super) struct PairingReport {
    pub(super) client: PeerName,
    pub(super) server: PeerName,
    pub(super) authentication: &'static str,
    pub(super) mutual: bool,
    /// Completed handshakes.
    pub(super) handshakes: usize,
    /// Our sides: we cannot look into a foreign peer.
    pub(super) sides: Vec<Side>,
    /// Why there are no figures.
    pub(super) failure: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct PeerName {
    pub(super) name: &'static str,
    pub(super) version: String,
}

impl fmt::Display for PeerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

impl fmt::Display for PairingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            client,
            server,
            authentication,
            ..
        } = self;
        let mutual = if self.mutual { ", mutual" } else { "" };
        write!(
            f,
            "{client} client, {server} server, {authentication}{mutual}"
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine {
            cpu,
            cores,
            os,
            architecture,
        } = &self.machine;
        writeln!(
            f,
            "dtls {} on {os}, {architecture}, {cpu}, {cores} cores",
            self.dtls
        )?;
        match self.openssl.as_deref() {
            None => {}
            Some([]) => writeln!(f, "no OpenSSL found")?,
            Some(found) => writeln!(f, "found: {}", found.join(", "))?,
        }
        for reason in &self.left_out {
            writeln!(f, "left out: {reason}")?;
        }
        for pairing in &self.pairings {
            for side in &pairing.sides {
                writeln!(
                    f,
                    "\n{pairing}: {} handshakes, seen by the {}",
                    pairing.handshakes, side.role
                )?;
                writeln!(f, "{}", table(side))?;
                writeln!(f, "{}", Flights(side))?;
            }
        }
        writeln!(f, "\n{}", summary(&self.pairings))
    }
}

/// The phases of one side.
fn table(side: &Side) -> Table {
    let mut table = new_table();
    table.set_header([
        "phase",
        "median ms",
        "p95",
        "max",
        "sent",
        "received",
        "again",
        "questions, median ms",
    ]);
    for phase in &side.phases {
        let time = phase.time_us;
        table.add_row([
            phase.name.to_owned(),
            milliseconds(time.median),
            milliseconds(time.p95),
            milliseconds(time.max),
            amount(phase.bytes_sent, phase.datagrams_sent),
            amount(phase.bytes_received, phase.datagrams_received),
            phase.retransmissions.to_string(),
            questions(phase),
        ]);
    }
    for (name, time) in [
        ("own work and sending", side.own_us),
        ("waiting for network and peer", side.waiting_us),
        ("whole handshake", side.total_us),
    ] {
        let [median, p95, max] = [time.median, time.p95, time.max].map(milliseconds);
        table.add_row([name.to_owned(), median, p95, max]);
    }
    for column in [1, 2, 3, 6] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// The questions of a phase, without those that are answered in no time.
fn questions(phase: &PhaseReport) -> String {
    let slow = phase
        .questions
        .iter()
        .filter(|question| question.time_us.median >= 10);
    let texts = slow.map(|question| {
        let time = milliseconds(question.time_us.median);
        format!("{} {time}", question.operation)
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// What one side sent, in one line.
struct Flights<'a>(&'a Side);

impl fmt::Display for Flights<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sent")?;
        for (n, flight) in self.0.flights.iter().enumerate() {
            let separator = if n == 0 { "" } else { "," };
            let amount = amount(flight.bytes, flight.datagrams);
            write!(f, "{separator} flight {}: {amount}", flight.number)?;
        }
        write!(f, "; {} retransmissions", self.0.retransmissions)
    }
}

fn summary(pairings: &[PairingReport]) -> Table {
    let mut table = new_table();
    table.set_header([
        "client",
        "server",
        "credentials",
        "handshakes",
        "median ms",
        "p95",
        "max",
    ]);
    for pairing in pairings {
        let mutual = if pairing.mutual { ", mutual" } else { "" };
        let mut row = vec![
            pairing.client.to_string(),
            pairing.server.to_string(),
            format!("{}{mutual}", pairing.authentication),
            pairing.handshakes.to_string(),
        ];
        match (&pairing.failure, pairing.sides.first()) {
            (None, Some(side)) => {
                let time = side.total_us;
                row.extend([time.median, time.p95, time.max].map(milliseconds));
            }
            _ => row.push("FAILED".into()),
        }
        table.add_row(row);
    }
    for column in 3..7 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn new_table() -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_HORIZONTAL_ONLY);
    table.remove_style(TableComponent::HorizontalLines);
    table.remove_style(TableComponent::MiddleIntersections);
    table
}

fn milliseconds(micros: u64) -> String {
    format!("{}.{:03}", micros / 1_000, micros % 1_000)
}

/// Medians of bytes and datagrams.
fn amount(bytes: Distribution, datagrams: Distribution) -> String {
    match (bytes.median, datagrams.median) {
        (0, _) => String::new(),
        (bytes, 1) => format!("{bytes} B in 1"),
        (bytes, datagrams) => format!("{bytes} B in {datagrams}"),
    }
}
