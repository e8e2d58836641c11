//! Many values in few.

use serde::Serialize;

/// The least, the largest, and what lies between them: percentiles by nearest rank, so that each is a value that
/// occurred. All zeros if there were no values.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub(super) struct Distribution {
    pub(super) min: u64,
    pub(super) p5: u64,
    pub(super) p25: u64,
    pub(super) median: u64,
    pub(super) p75: u64,
    pub(super) p95: u64,
    pub(super) p99: u64,
    pub(super) max: u64,
}

impl Distribution {
    pub(super) fn of(values: impl IntoIterator<Item = u64>) -> Self {
        let mut values: Vec<u64> = values.into_iter().collect();
        values.sort_unstable();
        let percentile = |percent: usize| {
            let rank = (values.len() * percent).div_ceil(100);
            values.get(rank.saturating_sub(1)).copied().unwrap_or(0)
        };
        Self {
            min: percentile(0),
            p5: percentile(5),
            p25: percentile(25),
            median: percentile(50),
            p75: percentile(75),
            p95: percentile(95),
            p99: percentile(99),
            max: percentile(100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let hundred = Distribution::of((1..=100).rev());
        assert_eq!((hundred.min, hundred.max), (1, 100));
        assert_eq!((hundred.p5, hundred.median, hundred.p95), (5, 50, 95));
        let twenty = Distribution::of((1..=20).map(|n| n * 10));
        assert_eq!((twenty.median, twenty.p95, twenty.p99), (100, 190, 200));
    }

    #[test]
    fn few_values_are_enough() {
        assert_eq!(Distribution::of([]), Distribution::default());
        let one = Distribution::of([7]);
        assert_eq!((one.min, one.median, one.p99, one.max), (7, 7, 7, 7));
    }
}
