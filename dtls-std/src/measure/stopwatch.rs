//! The end-to-end time, measured apart from the phases.

use crate::clock;
use dtls_core::{Instant, Job, Mark, Micros, Phase, Probe};

/// Runs from the begin of a handshake to `Connected`, whatever comes between: the phases of a meter have to add up to
/// what it shows.
#[derive(Default)]
pub(super) struct Stopwatch {
    begin: Instant,
    pub(super) elapsed: Micros,
}

impl Probe for Stopwatch {
    fn mark(&mut self, _: Job, mark: Mark) {
        match mark {
            Mark::Phase(Phase::CookieExchange | Phase::PrepareServerFlight) => {
                self.begin = clock::now();
            }
            Mark::Connected => self.elapsed = clock::now().since(self.begin),
            _ => {}
        }
    }
}
