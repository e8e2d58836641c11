//! Timeout and retransmission (RFC 6347 section 4.2.4.1).

use crate::config::Timers;
use crate::time::{Instant, Micros};

/// The timers of one handshake.
#[derive(Debug)]
pub(super) struct Retransmit {
    /// The value of the timer now: doubled at each expiry, kept until a flight went through without loss.
    value: Micros,
    /// When the flight goes out again; `None` while it is the other side's turn to wait.
    at: Option<Instant>,
    /// When the handshake is given up.
    limit: Instant,
    /// Expiries of this flight.
    expired: u8,
    /// Any flight of this handshake had to be repeated.
    stalled: bool,
    /// The peer's repetition has been answered since the timer was set.
    answered: bool,
}

/// What a deadline that has passed means.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Due {
    Nothing,
    /// Send the flight again.
    Repeat,
    /// Give up.
    GiveUp,
}

impl Retransmit {
    pub(super) const fn new(timers: &Timers, now: Instant) -> Self {
        let limit = now.after(timers.handshake);
        Self {
            value: timers.initial,
            at: None,
            limit,
            expired: 0,
            stalled: false,
            answered: false,
        }
    }

    /// The flight is on the wire: the timer starts.
    pub(super) const fn flight_sent(&mut self, now: Instant) {
        self.at = Some(now.after(self.value));
    }

    /// A question is open: nothing is repeated while it is.
    pub(super) const fn suspend(&mut self) {
        self.at = None;
    }

    /// The question is answered, but the peer's flight is not complete: the timer runs again.
    pub(super) const fn resume(&mut self, now: Instant) {
        self.at = Some(now.after(self.value));
    }

    /// The peer's whole flight has come: the timer stops. Its value goes back only if nothing was lost.
    pub(super) const fn flight_received(&mut self, timers: &Timers) {
        if self.expired == 0 {
            self.value = timers.initial;
        }
        (self.at, self.expired, self.answered) = (None, 0, false);
    }

    /// Checks the deadlines.
    pub(super) fn poll(&mut self, timers: &Timers, now: Instant) -> Due {
        if now >= self.limit {
            return Due::GiveUp;
        }
        if self.at.is_none_or(|at| now < at) {
            return Due::Nothing;
        }
        if self.expired >= timers.retransmissions {
            return Due::GiveUp;
        }
        self.value = self.value.doubled(timers.maximum);
        self.expired = self.expired.saturating_add(1);
        (self.at, self.stalled, self.answered) = (None, true, false);
        Due::Repeat
    }

    /// Whether a repetition by the peer may be answered now; not again before the timer runs out.
    pub(super) const fn may_answer(&mut self) -> bool {
        !core::mem::replace(&mut self.answered, true)
    }

    /// The next deadline. The limit of the whole handshake always runs.
    pub(super) fn deadline(&self) -> Instant {
        self.at.map_or(self.limit, |at| at.min(self.limit))
    }

    /// Expiries of the flight that is on the wire.
    pub(super) const fn expiries(&self) -> u8 {
        self.expired
    }

    /// A flight had to be repeated.
    pub(super) const fn has_expired(&self) -> bool {
        self.stalled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMERS: Timers = Timers {
        retransmissions: 8,
        ..Timers::INTERNET
    };

    /// RFC 6347 section 4.2.4.1: doubled up to 60 s; the value is kept until a flight went through without loss.
    #[test]
    fn value_is_kept_until_a_flight_without_loss() {
        let mut now = Instant(0);
        let mut timer = Retransmit::new(&TIMERS, now);
        let mut waits = [0; 8];
        for wait in &mut waits {
            timer.flight_sent(now);
            *wait = timer.deadline().since(now).0 / 1_000_000;
            now = timer.deadline();
            assert_eq!(timer.poll(&TIMERS, now), Due::Repeat);
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        timer.flight_received(&TIMERS);
        timer.flight_sent(now);
        assert_eq!(timer.deadline(), now.after(Micros::from_secs(60)));
        timer.flight_received(&TIMERS);
        timer.flight_sent(now);
        assert_eq!(timer.deadline(), now.after(Micros::from_secs(1)));
    }

    #[test]
    fn gives_up_after_the_last_retransmission_or_at_the_limit() {
        let timers = Timers {
            retransmissions: 1,
            ..TIMERS
        };
        let mut timer = Retransmit::new(&timers, Instant(0));
        timer.flight_sent(Instant(0));
        assert_eq!(timer.poll(&timers, Instant(999_999)), Due::Nothing);
        assert_eq!(timer.poll(&timers, Instant(1_000_000)), Due::Repeat);
        timer.flight_sent(Instant(1_000_000));
        assert_eq!(timer.poll(&timers, Instant(3_000_000)), Due::GiveUp);
        let mut timer = Retransmit::new(&timers, Instant(0));
        assert_eq!(timer.deadline(), Instant(300_000_000));
        assert_eq!(timer.poll(&timers, Instant(300_000_000)), Due::GiveUp);
    }

    #[test]
    fn end_of_time() {
        let mut timer = Retransmit::new(&TIMERS, Instant(u64::MAX));
        timer.flight_sent(Instant(u64::MAX));
        assert_eq!(timer.deadline(), Instant(u64::MAX));
    }
}
