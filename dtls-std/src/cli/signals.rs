//! What the system tells the server to do.

use core::sync::atomic::{AtomicBool, Ordering};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct Signals {
    stop: Arc<AtomicBool>,
    report: Arc<AtomicBool>,
}

impl Signals {
    /// From now on, SIGINT and SIGTERM are requests to stop, and SIGUSR1 is one to report, where it exists.
    pub(crate) fn listen() -> io::Result<Self> {
        let signals = Self::default();
        for signal in [SIGINT, SIGTERM] {
            // The second time it ends the program at once.
            flag::register_conditional_shutdown(signal, 1, Arc::clone(&signals.stop))?;
            flag::register(signal, Arc::clone(&signals.stop))?;
        }
        #[cfg(unix)]
        flag::register(signal_hook::consts::SIGUSR1, Arc::clone(&signals.report))?;
        Ok(signals)
    }

    pub(crate) fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether a report was asked for since the last time.
    pub(crate) fn report(&self) -> bool {
        self.report.swap(false, Ordering::Relaxed)
    }
}
