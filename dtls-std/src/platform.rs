//! What the state machine needs on a host.

use crate::capture::Capture;
use crate::counters::Counters;
use crate::keylog::KeyLog;
use crate::trace::{Direction, Trace};
use core::mem;
use core::net::SocketAddr;
use dtls_core::crypto::rustcrypto::SoftSymmetric;
use dtls_core::{AlertDescription, Discard, Job, Mark, NoProbe, Platform, Probe};
use getrandom::SysRng;
use std::io;

/// The [`Platform`] of a host: cryptography in software, randomness from the operating system, and whatever watches: a
/// [`KeyLog`], a [`Capture`], a [`Trace`], and a [`Probe`] of the caller's.
#[derive(Default)]
pub struct StdPlatform<B = NoProbe> {
    symmetric: SoftSymmetric,
    rng: SysRng,
    watch: Watch<B>,
    key_log: Option<KeyLog>,
    capture: Option<Capture>,
    failure: Option<io::Error>,
}

impl StdPlatform {
    /// Nothing watches but the [`Counters`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl<B> StdPlatform<B> {
    /// Tells `probe` too. A `&mut` of a probe is one as well.
    pub fn with_probe<C: Probe>(self, probe: C) -> StdPlatform<C> {
        StdPlatform {
            symmetric: self.symmetric,
            rng: self.rng,
            watch: Watch {
                trace: self.watch.trace,
                counters: self.watch.counters,
                peer: self.watch.peer,
                probe,
            },
            key_log: self.key_log,
            capture: self.capture,
            failure: self.failure,
        }
    }

    /// Writes the master secrets to a file. Whoever reads it can read the traffic.
    #[must_use]
    pub fn with_key_log(mut self, key_log: KeyLog) -> Self {
        self.key_log = Some(key_log);
        self
    }

    /// Writes all datagrams to a file.
    #[must_use]
    pub fn with_capture(mut self, capture: Capture) -> Self {
        self.capture = Some(capture);
        self
    }

    /// Prints records, phases and drops.
    #[must_use]
    pub fn with_trace(mut self, trace: Trace) -> Self {
        self.watch.trace = Some(trace);
        self
    }

    /// The caller's probe.
    pub const fn probe_mut(&mut self) -> &mut B {
        &mut self.watch.probe
    }

    /// What was dropped so far, and the alerts.
    pub const fn counters(&self) -> &Counters {
        &self.watch.counters
    }

    /// Counts in `counters`, too, what happens during a call.
    pub(crate) fn count_for<T>(
        &mut self,
        counters: &mut Counters,
        call: impl FnOnce(&mut Self) -> T,
    ) -> T {
        mem::swap(&mut self.watch.peer, counters);
        let result = call(self);
        mem::swap(&mut self.watch.peer, counters);
        result
    }

    /// A datagram goes out or came in, still sealed.
    pub(crate) fn datagram(
        &mut self,
        direction: Direction,
        local: SocketAddr,
        peer: SocketAddr,
        datagram: &[u8],
    ) {
        if let Some(trace) = &mut self.watch.trace {
            trace.datagram(direction, peer, datagram);
        }
        if let Some(capture) = &mut self.capture {
            let written = capture.write(direction, local, peer, datagram);
            self.failure = self.failure.take().or(written.err());
        }
    }

    /// A key log or capture that could not be written is reported once, here.
    pub(crate) fn check(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }
}

impl<B: Probe> Platform for StdPlatform<B> {
    type Symmetric = SoftSymmetric;
    type Rng = SysRng;
    type Probe = Watch<B>;

    fn symmetric(&mut self) -> &mut SoftSymmetric {
        &mut self.symmetric
    }

    fn rng(&mut self) -> &mut SysRng {
        &mut self.rng
    }

    fn probe(&mut self) -> &mut Watch<B> {
        &mut self.watch
    }

    fn key_log(&mut self, client_random: &[u8; 32], master_secret: &[u8; 48]) {
        if let Some(key_log) = &mut self.key_log {
            let written = key_log.write(client_random, master_secret);
            self.failure = self.failure.take().or(written.err());
        }
    }
}

/// Tells all who watch.
#[derive(Default)]
pub struct Watch<B> {
    trace: Option<Trace>,
    counters: Counters,
    /// Those of the peer that is dealt with.
    peer: Counters,
    probe: B,
}

impl<B: Probe> Probe for Watch<B> {
    fn mark(&mut self, job: Job, mark: Mark) {
        if let Some(trace) = &mut self.trace {
            trace.mark(job, mark);
        }
        self.probe.mark(job, mark);
    }

    fn discarded(&mut self, why: Discard) {
        if let Some(trace) = &mut self.trace {
            trace.discarded(why);
        }
        self.counters.discarded(why);
        self.peer.discarded(why);
        self.probe.discarded(why);
    }

    fn alert_sent(&mut self, alert: AlertDescription) {
        if let Some(trace) = &mut self.trace {
            trace.alert_sent(alert);
        }
        self.counters.alert_sent(alert);
        self.peer.alert_sent(alert);
        self.probe.alert_sent(alert);
    }

    fn alert_received(&mut self, alert: AlertDescription) {
        if let Some(trace) = &mut self.trace {
            trace.alert_received(alert);
        }
        self.counters.alert_received(alert);
        self.peer.alert_received(alert);
        self.probe.alert_received(alert);
    }
}
