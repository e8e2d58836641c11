//! The resident memory of a process over time.

use anyhow::{Context, ensure};
use core::fmt;
use core::time::Duration;
use std::fs;

#[derive(Default)]
pub(crate) struct Memory {
    /// When, and KiB.
    samples: Vec<(Duration, u64)>,
}

impl Memory {
    pub(crate) fn sample(&mut self, at: Duration, pid: u32) -> anyhow::Result<()> {
        let path = format!("/proc/{pid}/status");
        let status = fs::read_to_string(&path)
            .with_context(|| format!("cannot read {path}: the server has ended"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        let kib = number.context("no VmRSS")?.parse()?;
        self.samples.push((at, kib));
        Ok(())
    }

    /// The last third of the time needs no more than the middle one: in the median 2 % more, or 256 KiB.
    pub(crate) fn flat(&self) -> anyhow::Result<()> {
        let (middle, last) = self.thirds();
        let tolerance = (middle / 50).max(256);
        ensure!(
            last <= middle + tolerance,
            "the memory grows: from {middle} KiB in the middle third to {last} KiB in the last, and {tolerance} KiB more \
             are tolerated"
        );
        Ok(())
    }

    /// Medians of the middle and the last third.
    fn thirds(&self) -> (u64, u64) {
        let third = self.samples.len() / 3;
        let median = |range: &[(Duration, u64)]| {
            let mut values: Vec<u64> = range.iter().map(|(_, kib)| *kib).collect();
            values.sort_unstable();
            values.get(values.len() / 2).copied().unwrap_or(0)
        };
        (
            median(&self.samples[third..2 * third]),
            median(&self.samples[2 * third..]),
        )
    }
}

/// Twelve samples, and the thirds.
impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = self.samples.len().div_ceil(12).max(1);
        for (at, kib) in self.samples.iter().skip(step - 1).step_by(step) {
            writeln!(f, "at {:4} s: server RSS {kib} KiB", at.as_secs())?;
        }
        let (middle, last) = self.thirds();
        writeln!(
            f,
            "server RSS, medians: middle third {middle} KiB, last third {last} KiB"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A minute of samples, one each second.
    fn minute(kib: impl Fn(u64) -> u64) -> Memory {
        let sample = |second| (Duration::from_secs(second), kib(second));
        Memory {
            samples: (0..60).map(sample).collect(),
        }
    }

    #[test]
    fn a_leak_is_not_flat_and_warming_up_is() {
        minute(|second| 4_000 + 300 * second.min(15))
            .flat()
            .unwrap();
        // 500 bytes for each of 50 handshakes a second.
        let error = minute(|second| 7_000 + 25 * second).flat().unwrap_err();
        assert!(
            error.to_string().contains("grows: from 7750 KiB"),
            "{error}"
        );
    }

    #[test]
    fn our_own_memory_can_be_read() {
        let mut memory = Memory::default();
        memory.sample(Duration::ZERO, std::process::id()).unwrap();
        assert!(memory.samples[0].1 > 500);
    }
}
