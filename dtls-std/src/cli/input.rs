//! Standard input beside a socket.

use core::time::Duration;
use std::io::{self, BufRead};
use std::sync::mpsc::{self, Receiver};
use std::thread;

/// The standard library cannot wait for a socket and standard input at once: the socket is waited for, and this often the
/// input is looked at.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// So many lines are sent between two looks at the socket.
pub(crate) const BURST: usize = 16;

/// The lines of standard input as they come, each with its line end. The channel closes at the end of the input.
pub(crate) fn lines() -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::sync_channel(BURST);
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let mut line = Vec::new();
            match input.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
