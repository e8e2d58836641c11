//! The clock of this process.

use core::time::Duration;
use dtls_core::{Instant, Micros};
use std::sync::LazyLock;
use std::time::Instant as StdInstant;

static ORIGIN: LazyLock<StdInstant> = LazyLock::new(StdInstant::now);

/// Microseconds since the first call in this process, monotonic. It is a [`dtls_core::Clock`] too.
#[must_use]
pub fn now() -> Instant {
    Instant(saturating(ORIGIN.elapsed()).0)
}

/// A duration as the core counts it; the end of its range if it is longer (584,000 years).
#[must_use]
pub fn saturating(span: Duration) -> Micros {
    Micros(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
}

/// How long from now until `then`; zero if that has passed.
pub(crate) fn until(then: Instant) -> Duration {
    Duration::from_micros(then.since(now()).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_runs_forward_and_counts_microseconds() {
        let before = now();
        std::thread::sleep(Duration::from_millis(2));
        assert!(now().since(before) >= Micros::from_millis(2));
        assert_eq!(saturating(Duration::MAX), Micros(u64::MAX));
        assert_eq!(until(before), Duration::ZERO);
    }
}
