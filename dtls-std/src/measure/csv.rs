//! The report as a table for spreadsheets: a row for each phase, and one for the whole handshake, of each side.

use super::figures::Side;
use super::report::{PairingReport, Report};
use super::statistics::Distribution;
use serde::Serialize;
use std::io::Write;

/// Times in microseconds; bytes and datagrams are medians. What a row does not have is empty.
#[derive(Default, Serialize)]
struct Row<'a> {
    client: String,
    server: String,
    credentials: &'a str,
    mutual: bool,
    handshakes: usize,
    side: &'a str,
    phase: &'a str,
    own_work: Option<bool>,
    min_us: u64,
    p5_us: u64,
    p25_us: u64,
    median_us: u64,
    p75_us: u64,
    p95_us: u64,
    p99_us: u64,
    max_us: u64,
    bytes_sent: Option<u64>,
    datagrams_sent: Option<u64>,
    bytes_received: Option<u64>,
    datagrams_received: Option<u64>,
    retransmissions: u64,
}

pub(super) fn write(report: &Report, to: impl Write) -> anyhow::Result<()> {
    let mut table = csv::Writer::from_writer(to);
    for pairing in &report.pairings {
        for side in &pairing.sides {
            for phase in &side.phases {
                table.serialize(Row {
                    phase: phase.name,
                    own_work: Some(phase.own_work),
                    bytes_sent: Some(phase.bytes_sent.median),
                    datagrams_sent: Some(phase.datagrams_sent.median),
                    bytes_received: Some(phase.bytes_received.median),
                    datagrams_received: Some(phase.datagrams_received.median),
                    retransmissions: phase.retransmissions,
                    ..Row::new(pairing, side, phase.time_us)
                })?;
            }
            table.serialize(Row {
                phase: "total",
                retransmissions: side.retransmissions,
                ..Row::new(pairing, side, side.total_us)
            })?;
        }
    }
    Ok(table.flush()?)
}

impl<'a> Row<'a> {
    fn new(pairing: &'a PairingReport, side: &'a Side, time: Distribution) -> Self {
        Self {
            client: pairing.client.to_string(),
            server: pairing.server.to_string(),
            credentials: pairing.authentication,
            mutual: pairing.mutual,
            handshakes: pairing.handshakes,
            side: side.role,
            min_us: time.min,
            p5_us: time.p5,
            p25_us: time.p25,
            median_us: time.median,
            p75_us: time.p75,
            p95_us: time.p95,
            p99_us: time.p99,
            max_us: time.max,
            ..Self::default()
        }
    }
}
