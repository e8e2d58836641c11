//! From handshakes to figures: everything that a report says, in the shape of the JSON file.

use super::statistics::Distribution;
use dtls_core::{Clock, Meter, Micros, Operation, Phase, PhaseFigures};
use serde::Serialize;

/// One handshake as one side saw it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    phases: [PhaseFigures; Phase::ALL.len()],
    /// Bytes and datagrams of the flights 1 to 6.
    flights: [(u32, u16); 6],
    total: u64,
    /// What a stopwatch shows that the phases do not.
    unaccounted: u64,
}

impl Sample {
    pub(super) fn new(meter: &Meter<impl Clock>, elapsed: Micros) -> Self {
        Self {
            phases: Phase::ALL.map(|phase| meter.phase(phase)),
            flights: [1, 2, 3, 4, 5, 6].map(|flight| meter.flight_sent(flight)),
            total: meter.total().0,
            unaccounted: meter.total().0.abs_diff(elapsed.0),
        }
    }
}

/// All handshakes as one side saw them.
#[derive(Debug, Serialize)]
pub(super) struct Side {
    pub(super) role: &'static str,
    /// From the first byte to the peer's Finished, verified: the sum of the phases, handshake by handshake.
    pub(super) total_us: Distribution,
    /// How far that is from what a stopwatch shows: readings of the clock, and nothing else.
    pub(super) unaccounted_us: Distribution,
    /// The part of it that was own work: cryptography, encoding and sending.
    pub(super) own_us: Distribution,
    /// The part of it spent waiting for the network and the peer.
    pub(super) waiting_us: Distribution,
    pub(super) phases: Vec<PhaseReport>,
    /// What this side sent, flight by flight (RFC 6347 figure 1).
    pub(super) flights: Vec<Flight>,
    pub(super) retransmissions: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct PhaseReport {
    pub(super) name: &'static str,
    /// Own work, or waiting for the network and the peer.
    pub(super) own_work: bool,
    pub(super) time_us: Distribution,
    /// The questions to the caller that were asked.
    pub(super) questions: Vec<Question>,
    pub(super) bytes_sent: Distribution,
    pub(super) datagrams_sent: Distribution,
    pub(super) bytes_received: Distribution,
    pub(super) datagrams_received: Distribution,
    /// Of all handshakes together.
    pub(super) retransmissions: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Question {
    pub(super) operation: &'static str,
    /// Time in which it was out.
    pub(super) time_us: Distribution,
}

#[derive(Debug, Serialize)]
pub(super) struct Flight {
    pub(super) number: usize,
    pub(super) bytes: Distribution,
    pub(super) datagrams: Distribution,
}

impl Side {
    pub(super) fn client(samples: &[Sample]) -> Self {
        Self::new("client", true, samples)
    }

    pub(super) fn server(samples: &[Sample]) -> Self {
        Self::new("server", false, samples)
    }

    fn new(role: &'static str, client: bool, samples: &[Sample]) -> Self {
        let phases = || {
            Phase::ALL
                .into_iter()
                .filter(|phase| phase.is_client() == client)
        };
        let time = |own: bool| {
            Distribution::of(samples.iter().map(|sample| {
                let phases = phases().filter(|phase| is_own_work(*phase) == own);
                phases
                    .map(|phase| sample.phases[phase as usize].time.0)
                    .sum()
            }))
        };
        Self {
            role,
            total_us: Distribution::of(samples.iter().map(|sample| sample.total)),
            unaccounted_us: Distribution::of(samples.iter().map(|sample| sample.unaccounted)),
            own_us: time(true),
            waiting_us: time(false),
            phases: phases()
                .map(|phase| PhaseReport::new(phase, samples))
                .collect(),
            flights: (1..=6)
                .filter_map(|number| Flight::new(number, samples))
                .collect(),
            retransmissions: phases().map(|phase| retransmissions(phase, samples)).sum(),
        }
    }
}

impl PhaseReport {
    fn new(phase: Phase, samples: &[Sample]) -> Self {
        let figures = || samples.iter().map(|sample| &sample.phases[phase as usize]);
        let question = |operation: Operation| {
            let times = figures().map(|figures| figures.questions[operation as usize].0);
            let time_us = Distribution::of(times);
            (time_us.max > 0).then_some(Question {
                operation: operation.name(),
                time_us,
            })
        };
        Self {
            name: phase.name(),
            own_work: is_own_work(phase),
            time_us: Distribution::of(figures().map(|figures| figures.time.0)),
            questions: Operation::ALL.into_iter().filter_map(question).collect(),
            bytes_sent: Distribution::of(figures().map(|figures| figures.bytes_sent.into())),
            datagrams_sent: Distribution::of(
                figures().map(|figures| figures.datagrams_sent.into()),
            ),
            bytes_received: Distribution::of(
                figures().map(|figures| figures.bytes_received.into()),
            ),
            datagrams_received: Distribution::of(
                figures().map(|figures| figures.datagrams_received.into()),
            ),
            retransmissions: retransmissions(phase, samples),
        }
    }
}

impl Flight {
    /// `None` if it is the peer's.
    fn new(number: usize, samples: &[Sample]) -> Option<Self> {
        let sent = || samples.iter().map(|sample| sample.flights[number - 1]);
        let datagrams = Distribution::of(sent().map(|(_, datagrams)| datagrams.into()));
        (datagrams.max > 0).then(|| Self {
            number,
            bytes: Distribution::of(sent().map(|(bytes, _)| bytes.into())),
            datagrams,
        })
    }
}

fn retransmissions(phase: Phase, samples: &[Sample]) -> u64 {
    let retransmissions = samples
        .iter()
        .map(|sample| sample.phases[phase as usize].retransmissions);
    retransmissions.map(u64::from).sum()
}

const fn is_own_work(phase: Phase) -> bool {
    match phase {
        Phase::PrepareClientFlight | Phase::PrepareServerFlight | Phase::VerifyClientFlight => true,
        Phase::CookieExchange
        | Phase::AwaitServerFlight
        | Phase::AwaitServerFinished
        | Phase::AwaitClientFlight => false,
    }
}
