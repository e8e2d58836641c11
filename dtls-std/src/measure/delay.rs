//! Delays put in on purpose, to see that they show up where they belong.

use core::str::FromStr;
use core::time::Duration;
use dtls_core::{Discard, Job, Mark, Operation, Probe};
use std::thread;

/// What is delayed on one side. Probes are called at exactly the boundaries that are measured, so a probe that sleeps is
/// a public-key operation, or a way to the wire, that takes longer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delays {
    pub(super) operation: Option<OperationDelay>,
    pub(super) flight: Option<FlightDelay>,
}

/// `OPERATION=MILLISECONDS`: each such operation takes so much longer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OperationDelay(Operation, Duration);

/// `FLIGHT=MILLISECONDS`: the first datagram of the flight goes so much later.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FlightDelay(u8, Duration);

/// Tells `probe`, and delays.
pub(super) struct Delayed<B> {
    pub(super) probe: B,
    delays: Delays,
    /// The flight that was delayed last: it is delayed once, however many datagrams it has.
    delayed: u8,
}

impl<B> Delayed<B> {
    pub(super) const fn new(probe: B, delays: Delays) -> Self {
        Self {
            probe,
            delays,
            delayed: 0,
        }
    }
}

impl<B: Probe> Probe for Delayed<B> {
    fn mark(&mut self, job: Job, mark: Mark) {
        // Before the mark: the time belongs to the phase in which the flight is still to be sent.
        if let (Mark::Sent { flight, .. }, Some(delay)) = (mark, self.delays.flight) {
            if flight == delay.0 && self.delayed != flight {
                thread::sleep(delay.1);
            }
            self.delayed = flight;
        }
        self.probe.mark(job, mark);
        // Behind the mark: the time belongs to the operation.
        if let (Mark::Asked(operation), Some(delay)) = (mark, self.delays.operation) {
            if operation == delay.0 {
                thread::sleep(delay.1);
            }
        }
    }

    fn discarded(&mut self, why: Discard) {
        self.probe.discarded(why);
    }
}

impl FromStr for OperationDelay {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const USAGE: &str =
            "write OPERATION=MILLISECONDS with generate, agree, sign, verify or peer";
        let (name, delay) = split(text).ok_or(USAGE)?;
        let operation = Operation::ALL.into_iter().find(|one| one.name() == name);
        Ok(Self(operation.ok_or(USAGE)?, delay))
    }
}

impl FromStr for FlightDelay {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Flight 2 is sent by a server that remembers nothing (RFC 6347 section 4.2.1), so no handshake tells of it.
        const USAGE: &str = "write FLIGHT=MILLISECONDS with flight 1, 3, 4, 5 or 6";
        let (number, delay) = split(text).ok_or(USAGE)?;
        match number.parse() {
            Ok(flight @ (1 | 3..=6)) => Ok(Self(flight, delay)),
            _ => Err(USAGE),
        }
    }
}

fn split(text: &str) -> Option<(&str, Duration)> {
    let (what, milliseconds) = text.split_once('=')?;
    Some((what, Duration::from_millis(milliseconds.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_as_people_write_them() {
        let delay = Duration::from_millis(50);
        assert_eq!(
            "sign=50".parse(),
            Ok(OperationDelay(Operation::Sign, delay))
        );
        assert_eq!("4=50".parse(), Ok(FlightDelay(4, delay)));
        for wrong in ["sign", "sign=", "sing=50", "=50", "sign=-1"] {
            assert!(wrong.parse::<OperationDelay>().is_err(), "{wrong}");
        }
        for wrong in ["4", "0=50", "2=50", "7=50", "sign=50"] {
            assert!(wrong.parse::<FlightDelay>().is_err(), "{wrong}");
        }
    }
}
