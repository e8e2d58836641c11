//! A trace for people: one line per record, phase, question and drop.

mod record;

use crate::clock;
use core::net::SocketAddr;
use dtls_core::{AlertDescription, Discard, Instant, Job, Mark, Probe};
use std::io::{self, Write};

/// Which way a datagram goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Direction {
    /// From us.
    Sent,
    /// To us.
    Received,
}

/// Prints what happens. Only headers are looked at, and nothing that a peer sends makes it fail.
pub struct Trace {
    to: Box<dyn Write + Send>,
    start: Instant,
}

impl Trace {
    /// To the standard error output, timed from now.
    #[must_use]
    pub fn stderr() -> Self {
        Self::new(Box::new(io::stderr()))
    }

    /// To something else.
    #[must_use]
    pub fn new(to: Box<dyn Write + Send>) -> Self {
        Self {
            to,
            start: clock::now(),
        }
    }

    pub(crate) fn datagram(&mut self, direction: Direction, peer: SocketAddr, datagram: &[u8]) {
        let arrow = match direction {
            Direction::Sent => "->",
            Direction::Received => "<-",
        };
        for record in record::lines(datagram) {
            self.line(&format!("{arrow} {peer} {record}"));
        }
    }

    /// A trace that cannot be written is no reason to stop.
    fn line(&mut self, text: &str) {
        let time = clock::now().since(self.start).0;
        let (seconds, micros) = (time / 1_000_000, time % 1_000_000);
        let _ = writeln!(self.to, "{seconds:4}.{micros:06} {text}");
    }
}

impl Probe for Trace {
    fn mark(&mut self, job: Job, mark: Mark) {
        let text = match mark {
            Mark::Phase(phase) => format!("phase: {}", phase.name()),
            Mark::NoCookie => "no cookie was asked for".into(),
            Mark::Connected => "connected".into(),
            Mark::Failed(why) => format!("failed: {why}"),
            Mark::Asked(operation) => format!("asked: {}", operation.name()),
            Mark::Answered(operation) => format!("answered: {}", operation.name()),
            Mark::Sent {
                flight,
                bytes,
                attempt,
            } => format!("sent flight {flight}, {bytes} bytes, attempt {attempt}"),
            Mark::Received { bytes } => format!("took {bytes} bytes"),
            _ => return,
        };
        self.line(&format!(
            "## handshake {}.{}: {text}",
            job.slot, job.generation
        ));
    }

    fn discarded(&mut self, why: Discard) {
        self.line(&format!("## dropped: {}", why.name()));
    }

    fn alert_sent(&mut self, alert: AlertDescription) {
        self.line(&format!("## alert sent: {alert}"));
    }

    fn alert_received(&mut self, alert: AlertDescription) {
        self.line(&format!("## alert received: {alert}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn one_line_each() {
        let text = Shared::default();
        let mut trace = Trace::new(Box::new(text.clone()));
        let peer = "[::1]:4433".parse().unwrap();
        let alert = b"\x15\xfe\xfd\0\0\0\0\0\0\0\x07\0\x02\x01\0";
        trace.datagram(Direction::Sent, peer, alert);
        trace.datagram(Direction::Received, peer, alert);
        trace.mark(Job::default(), Mark::Connected);
        trace.discarded(Discard::BadMac);
        trace.alert_sent(AlertDescription::CLOSE_NOTIFY);
        trace.alert_received(AlertDescription::HANDSHAKE_FAILURE);
        let text = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<&str> = text.lines().filter_map(|line| line.get(12..)).collect();
        assert_eq!(
            lines,
            [
                "-> [::1]:4433 epoch 0 seq 7 alert, 2 bytes: warning close_notify",
                "<- [::1]:4433 epoch 0 seq 7 alert, 2 bytes: warning close_notify",
                "## handshake 0.0: connected",
                "## dropped: bad MAC",
                "## alert sent: close_notify",
                "## alert received: handshake_failure",
            ]
        );
    }
}
