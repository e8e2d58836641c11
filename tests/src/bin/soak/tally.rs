//! What happened to the clients.

use core::fmt;
use core::time::Duration;

#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) connected: u32,
    pub(crate) echoes: u64,
    /// Echoes that had to be asked for again: UDP loses datagrams when a queue is full.
    pub(crate) repeated: u64,
    pub(crate) closed: u64,
    pub(crate) vanished: u64,
    /// Handshakes from a port that the server knew from a client that vanished.
    pub(crate) reborn: u64,
    /// Clients that did nothing wrong and were not served.
    pub(crate) lost: Vec<String>,
    latencies: Vec<Duration>,
}

impl Tally {
    pub(crate) fn handshake(&mut self, took: Duration) {
        self.connected += 1;
        self.latencies.push(took);
    }

    pub(crate) fn handshakes(&self) -> usize {
        self.latencies.len()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut latencies = self.latencies.clone();
        latencies.sort_unstable();
        // Nearest rank.
        let percentile = |percent: usize| {
            let rank = (latencies.len() * percent).div_ceil(100);
            latencies
                .get(rank.saturating_sub(1))
                .copied()
                .unwrap_or_default()
        };
        writeln!(
            f,
            "handshakes: {}, latency p50 {:.1?}, p95 {:.1?}, max {:.1?}; {} from the port of one that vanished",
            self.handshakes(),
            percentile(50),
            percentile(95),
            percentile(100),
            self.reborn
        )?;
        writeln!(
            f,
            "echoes: {}, {} of them after a repeated question; clients closed {} times, vanished {} times",
            self.echoes, self.repeated, self.closed, self.vanished
        )?;
        for lost in self.lost.iter().take(10) {
            writeln!(f, "lost: {lost}")?;
        }
        writeln!(f, "lost honest clients: {}", self.lost.len())
    }
}
