//! The platform of one endpoint: software cryptography, seeded random numbers, a probe that remembers.

use core::cell::Cell;
use dtls_core::crypto::rustcrypto::SoftSymmetric;
use dtls_core::{Clock, Discard, Instant, Job, Mark, Meter, Platform, Probe};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use std::rc::Rc;

/// The time of a [`Network`](crate::Network), shared by all who live there.
#[derive(Clone, Debug, Default)]
pub struct VirtualClock(Rc<Cell<Instant>>);

impl VirtualClock {
    /// The time.
    #[must_use]
    pub fn time(&self) -> Instant {
        self.0.get()
    }

    pub(crate) fn set(&self, now: Instant) {
        self.0.set(now);
    }
}

impl Clock for VirtualClock {
    fn now(&mut self) -> Instant {
        self.time()
    }
}

/// A probe that remembers all it is told.
#[derive(Debug)]
pub struct Recorder {
    clock: VirtualClock,
    /// Every mark, and when.
    pub marks: Vec<(Instant, Job, Mark)>,
    /// Every dropped record.
    pub discards: Vec<Discard>,
}

impl Probe for Recorder {
    fn mark(&mut self, job: Job, mark: Mark) {
        self.marks.push((self.clock.time(), job, mark));
    }

    fn discarded(&mut self, why: Discard) {
        self.discards.push(why);
    }
}

/// The platform of one endpoint.
#[derive(Debug)]
pub struct Machine {
    symmetric: SoftSymmetric,
    rng: ChaCha8Rng,
    probes: (Recorder, Meter<VirtualClock>),
    /// The master secrets of its handshakes, in order.
    pub secrets: Vec<[u8; 48]>,
}

impl Machine {
    /// A machine of which all random numbers come from `seed`.
    #[must_use]
    pub fn new(clock: &VirtualClock, seed: u64) -> Self {
        let recorder = Recorder {
            clock: clock.clone(),
            marks: Vec::new(),
            discards: Vec::new(),
        };
        Self {
            symmetric: SoftSymmetric,
            rng: ChaCha8Rng::seed_from_u64(seed),
            probes: (recorder, Meter::new(clock.clone())),
            secrets: Vec::new(),
        }
    }

    /// What its probe was told.
    #[must_use]
    pub const fn recorder(&self) -> &Recorder {
        &self.probes.0
    }

    /// The account of its last handshake.
    #[must_use]
    pub const fn meter(&self) -> &Meter<VirtualClock> {
        &self.probes.1
    }

    /// How many records were dropped for this reason.
    #[must_use]
    pub fn discards(&self, why: Discard) -> usize {
        let discards = &self.recorder().discards;
        discards.iter().filter(|&&other| other == why).count()
    }

    /// The datagrams written in handshakes that were retransmissions.
    #[must_use]
    pub fn retransmissions(&self) -> usize {
        let marks = self.recorder().marks.iter();
        marks
            .filter(|(.., mark)| matches!(mark, Mark::Sent { attempt: 1.., .. }))
            .count()
    }
}

impl Platform for Machine {
    type Symmetric = SoftSymmetric;
    type Rng = ChaCha8Rng;
    type Probe = (Recorder, Meter<VirtualClock>);

    fn symmetric(&mut self) -> &mut SoftSymmetric {
        &mut self.symmetric
    }

    fn rng(&mut self) -> &mut ChaCha8Rng {
        &mut self.rng
    }

    fn probe(&mut self) -> &mut Self::Probe {
        &mut self.probes
    }

    fn key_log(&mut self, _: &[u8; 32], master_secret: &[u8; 48]) {
        self.secrets.push(*master_secret);
    }
}
