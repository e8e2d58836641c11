//! Integer-only accounts per phase.

use crate::crypto::Job;
use crate::discard::Discard;
use crate::probe::{Mark, Operation, Phase, Probe};
use crate::time::{Instant, Micros};

/// A caller's clock, read at every mark.
pub trait Clock {
    /// The time now.
    fn now(&mut self) -> Instant;
}

impl<F: FnMut() -> Instant> Clock for F {
    fn now(&mut self) -> Instant {
        self()
    }
}

/// What one phase cost.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct PhaseFigures {
    /// Time from its begin to the begin of the next phase.
    pub time: Micros,
    /// The part of it in which a question was out, by operation (numbers of [`Operation`]).
    pub questions: [Micros; 5],
    /// UDP payload sent.
    pub bytes_sent: u32,
    /// UDP payload received.
    pub bytes_received: u32,
    /// Datagrams sent.
    pub datagrams_sent: u16,
    /// Datagrams received.
    pub datagrams_received: u16,
    /// Datagrams sent that were retransmissions.
    pub retransmissions: u16,
}

impl PhaseFigures {
    const NOTHING: Self = Self {
        time: Micros(0),
        questions: [Micros(0); 5],
        bytes_sent: 0,
        bytes_received: 0,
        datagrams_sent: 0,
        datagrams_received: 0,
        retransmissions: 0,
    };
}

/// A probe that accounts one handshake, phase by phase. The phases add up to the whole by construction: each mark ends
/// one interval and begins the next.
///
/// The account begins with the first phase of a handshake (a client's [`Phase::CookieExchange`], a server's
/// [`Phase::PrepareServerFlight`]) and stays until the next handshake begins, which restarts it. While a handshake runs,
/// marks of other workspaces' handshakes are ignored: to account for several at a time, give each a meter.
///
/// What is sent after `Connected`, such as a server's last flight, is booked to the last phase: bytes and datagrams, no
/// time.
#[derive(Clone, Debug)]
pub struct Meter<C> {
    clock: C,
    /// The handshake that is accounted.
    job: Option<Job>,
    phases: [PhaseFigures; 7],
    /// Bytes and datagrams sent in the flights 1 to 6.
    flights: [(u32, u16); 6],
    /// The phase that bytes are booked to.
    phase: Phase,
    /// Up to when time is booked; `None` when no phase runs.
    booked: Option<Instant>,
    /// The question that is out.
    asked: Option<Operation>,
    connected: bool,
    discarded: u32,
}

impl<C: Clock> Meter<C> {
    /// An empty account.
    pub const fn new(clock: C) -> Self {
        Self {
            clock,
            job: None,
            phases: [PhaseFigures::NOTHING; 7],
            flights: [(0, 0); 6],
            phase: Phase::CookieExchange,
            booked: None,
            asked: None,
            connected: false,
            discarded: 0,
        }
    }

    /// The figures of a phase; zeros for a phase that did not happen.
    pub fn phase(&self, phase: Phase) -> PhaseFigures {
        self.phases.get(phase as usize).copied().unwrap_or_default()
    }

    /// UDP payload in bytes, and datagrams, sent in a flight (1 to 6, RFC 6347 figure 1), retransmissions included; zeros
    /// for a flight that is the peer's.
    pub fn flight_sent(&self, flight: u8) -> (u32, u16) {
        flight_index(flight)
            .and_then(|index| self.flights.get(index))
            .copied()
            .unwrap_or_default()
    }

    /// Time of the whole handshake: the sum of its phases.
    pub fn total(&self) -> Micros {
        Micros(
            self.phases
                .iter()
                .fold(0, |sum, phase| sum.saturating_add(phase.time.0)),
        )
    }

    /// Whether the peer's Finished has verified.
    pub const fn is_connected(&self) -> bool {
        self.connected
    }

    /// Records dropped since the handshake began, those of other peers included: a record that is dropped may belong to
    /// anybody.
    pub const fn discarded(&self) -> u32 {
        self.discarded
    }
}

impl<C: Clock> Probe for Meter<C> {
    fn mark(&mut self, job: Job, mark: Mark) {
        if let Mark::Phase(Phase::CookieExchange | Phase::PrepareServerFlight) = mark {
            // A handshake that was abandoned leaves no mark; its successor in the same workspace tells.
            if self.booked.is_none() || self.job.is_some_and(|ours| ours.slot == job.slot) {
                self.restart(job);
            }
        }
        if self.job == Some(job) {
            self.book_time();
            self.book(mark);
        }
    }

    fn discarded(&mut self, _: Discard) {
        self.discarded = self.discarded.saturating_add(1);
    }
}

impl<C: Clock> Meter<C> {
    fn restart(&mut self, job: Job) {
        self.job = Some(job);
        self.phases = [PhaseFigures::NOTHING; 7];
        self.flights = [(0, 0); 6];
        self.booked = None;
        self.asked = None;
        self.connected = false;
        self.discarded = 0;
    }

    /// Books the time since the mark before this one to the phase that ran, and to the question that was out.
    fn book_time(&mut self) {
        let Some(booked) = self.booked else { return };
        let now = self.clock.now();
        let span = now.since(booked);
        self.booked = Some(now);
        let asked = self.asked;
        let phase = self.running();
        phase.time = sum(phase.time, span);
        if let Some(time) = asked.and_then(|asked| phase.questions.get_mut(asked as usize)) {
            *time = sum(*time, span);
        }
    }

    fn book(&mut self, mark: Mark) {
        match mark {
            Mark::Phase(phase) => {
                self.phase = phase;
                if self.booked.is_none() {
                    self.booked = Some(self.clock.now());
                }
            }
            Mark::NoCookie => {
                let [cookie_exchange, await_server_flight, ..] = &mut self.phases;
                *await_server_flight = core::mem::take(cookie_exchange);
                self.phase = Phase::AwaitServerFlight;
            }
            Mark::Connected => {
                self.connected = true;
                self.booked = None;
            }
            Mark::Failed(_) => self.booked = None,
            Mark::Asked(operation) => self.asked = Some(operation),
            Mark::Answered(_) => self.asked = None,
            Mark::Sent {
                flight,
                bytes,
                attempt,
            } => self.book_sent(flight, bytes, attempt),
            Mark::Received { bytes } => {
                let phase = self.running();
                phase.bytes_received = phase.bytes_received.saturating_add(bytes.into());
                phase.datagrams_received = phase.datagrams_received.saturating_add(1);
            }
        }
    }

    fn book_sent(&mut self, flight: u8, bytes: u16, attempt: u8) {
        let phase = self.running();
        phase.bytes_sent = phase.bytes_sent.saturating_add(bytes.into());
        phase.datagrams_sent = phase.datagrams_sent.saturating_add(1);
        phase.retransmissions = phase.retransmissions.saturating_add((attempt > 0).into());
        if let Some(sent) = flight_index(flight).and_then(|index| self.flights.get_mut(index)) {
            sent.0 = sent.0.saturating_add(bytes.into());
            sent.1 = sent.1.saturating_add(1);
        }
    }

    fn running(&mut self) -> &mut PhaseFigures {
        let [a, b, c, d, e, f, g] = &mut self.phases;
        match self.phase {
            Phase::CookieExchange => a,
            Phase::AwaitServerFlight => b,
            Phase::PrepareClientFlight => c,
            Phase::AwaitServerFinished => d,
            Phase::PrepareServerFlight => e,
            Phase::AwaitClientFlight => f,
            Phase::VerifyClientFlight => g,
        }
    }
}

/// Flight 1 is the first; 0 is an alert, and no flight.
fn flight_index(flight: u8) -> Option<usize> {
    flight.checked_sub(1).map(usize::from)
}

const fn sum(a: Micros, b: Micros) -> Micros {
    Micros(a.0.saturating_add(b.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Fatal;

    const OURS: Job = Job {
        slot: 0,
        generation: 1,
    };
    const NEIGHBOUR: Job = Job {
        slot: 1,
        generation: 1,
    };

    struct Hand(u64);

    impl Clock for Hand {
        fn now(&mut self) -> Instant {
            Instant(self.0)
        }
    }

    impl Meter<Hand> {
        fn at(&mut self, now: u64, job: Job, mark: Mark) {
            self.clock.0 = now;
            self.mark(job, mark);
        }
    }

    /// The account of our handshake after marks at these times.
    fn account(marks: &[(u64, Mark)]) -> Meter<Hand> {
        let mut meter = Meter::new(Hand(0));
        for &(now, mark) in marks {
            meter.at(now, OURS, mark);
        }
        meter
    }

    const fn sent(flight: u8, bytes: u16, attempt: u8) -> Mark {
        Mark::Sent {
            flight,
            bytes,
            attempt,
        }
    }

    fn times(meter: &Meter<Hand>) -> [u64; 7] {
        Phase::ALL.map(|phase| meter.phase(phase).time.0)
    }

    #[test]
    fn phases_add_up_to_the_whole() {
        let meter = account(&[
            (1_000, Mark::Phase(Phase::CookieExchange)),
            (1_010, Mark::Phase(Phase::AwaitServerFlight)),
            (1_100, Mark::Phase(Phase::PrepareClientFlight)),
            (1_150, Mark::Phase(Phase::AwaitServerFinished)),
            (1_159, Mark::Connected),
            (9_000, sent(0, 15, 0)),
        ]);
        assert_eq!(times(&meter), [10, 90, 50, 9, 0, 0, 0]);
        assert_eq!(meter.total(), Micros(159));
        assert!(meter.is_connected());
    }

    #[test]
    fn a_question_is_part_of_its_phase_even_across_a_boundary() {
        let meter = account(&[
            (0, Mark::Phase(Phase::PrepareServerFlight)),
            (5, Mark::Asked(Operation::Sign)),
            (25, Mark::Answered(Operation::Sign)),
            (30, Mark::Phase(Phase::AwaitClientFlight)),
            (40, Mark::Asked(Operation::Peer)),
            (47, Mark::Phase(Phase::VerifyClientFlight)),
            (60, Mark::Answered(Operation::Peer)),
            (61, Mark::Connected),
        ]);
        let asked =
            |phase, operation: Operation| meter.phase(phase).questions[operation as usize].0;
        assert_eq!(times(&meter)[4..], [30, 17, 14]);
        assert_eq!(asked(Phase::PrepareServerFlight, Operation::Sign), 20);
        assert_eq!(asked(Phase::AwaitClientFlight, Operation::Peer), 7);
        assert_eq!(asked(Phase::VerifyClientFlight, Operation::Peer), 13);
        assert_eq!(asked(Phase::AwaitClientFlight, Operation::Sign), 0);
    }

    #[test]
    fn datagrams_are_booked_to_their_phase_and_flight() {
        let meter = account(&[
            (0, sent(1, 999, 0)),
            (0, Mark::Phase(Phase::CookieExchange)),
            (0, sent(1, 100, 0)),
            (9, sent(1, 100, 1)),
            (9, Mark::Received { bytes: 60 }),
            (9, Mark::Phase(Phase::AwaitServerFlight)),
            (9, sent(3, 120, 0)),
            (9, sent(0, 15, 0)),
        ]);
        let cookie = meter.phase(Phase::CookieExchange);
        assert_eq!((cookie.bytes_sent, cookie.datagrams_sent), (200, 2));
        assert_eq!((cookie.bytes_received, cookie.datagrams_received), (60, 1));
        assert_eq!(cookie.retransmissions, 1);
        assert_eq!(meter.phase(Phase::AwaitServerFlight).bytes_sent, 135);
        assert_eq!(meter.flight_sent(1), (200, 2));
        assert_eq!(meter.flight_sent(3), (120, 1));
        assert_eq!(
            [0, 2, 7].map(|flight| meter.flight_sent(flight)),
            [(0, 0); 3]
        );
    }

    #[test]
    fn a_last_flight_after_connected_costs_bytes_but_no_time() {
        let meter = account(&[
            (0, Mark::Phase(Phase::PrepareServerFlight)),
            (1, Mark::Phase(Phase::VerifyClientFlight)),
            (3, Mark::Connected),
            (8, sent(6, 67, 0)),
        ]);
        assert_eq!(meter.phase(Phase::VerifyClientFlight).bytes_sent, 67);
        assert_eq!(meter.total(), Micros(3));
    }

    #[test]
    fn without_a_cookie_the_first_wait_was_for_the_server_flight() {
        let meter = account(&[
            (0, Mark::Phase(Phase::CookieExchange)),
            (0, sent(1, 100, 0)),
            (7, Mark::NoCookie),
            (9, Mark::Phase(Phase::PrepareClientFlight)),
            (9, Mark::Failed(Fatal::TimedOut)),
        ]);
        assert_eq!(meter.phase(Phase::CookieExchange), PhaseFigures::default());
        assert_eq!(times(&meter)[1], 9);
        assert_eq!(meter.phase(Phase::AwaitServerFlight).bytes_sent, 100);
        assert!(!meter.is_connected());
    }

    #[test]
    fn other_handshakes_are_ignored_while_one_runs() {
        let mut meter = account(&[(0, Mark::Phase(Phase::PrepareServerFlight))]);
        meter.at(5, NEIGHBOUR, Mark::Phase(Phase::PrepareServerFlight));
        meter.at(5, NEIGHBOUR, sent(4, 400, 0));
        meter.at(6, NEIGHBOUR, Mark::Connected);
        meter.at(8, OURS, Mark::Connected);
        assert_eq!(meter.phase(Phase::PrepareServerFlight).bytes_sent, 0);
        assert_eq!(meter.total(), Micros(8));
    }

    #[test]
    fn the_next_handshake_restarts_the_account() {
        let successor = Job {
            generation: 2,
            ..OURS
        };
        // One that was abandoned without a word, in the same workspace; then one elsewhere, after the end.
        let mut meter = account(&[
            (0, Mark::Phase(Phase::CookieExchange)),
            (0, sent(1, 100, 0)),
            (1, Mark::Asked(Operation::Generate)),
        ]);
        Probe::discarded(&mut meter, Discard::Malformed);
        meter.at(50, successor, Mark::Phase(Phase::CookieExchange));
        meter.at(53, successor, Mark::Connected);
        assert_eq!((meter.total(), meter.flight_sent(1)), (Micros(3), (0, 0)));
        assert_eq!(meter.discarded(), 0);
        meter.at(60, NEIGHBOUR, Mark::Phase(Phase::PrepareServerFlight));
        meter.at(64, NEIGHBOUR, Mark::Failed(Fatal::TimedOut));
        assert_eq!(times(&meter), [0, 0, 0, 0, 4, 0, 0]);
        assert!(!meter.is_connected());
    }
}
