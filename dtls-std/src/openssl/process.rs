//! A process that is talked to through pipes.

use super::{OpenSslError, PATIENCE};
use core::time::Duration;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

/// A running program: lines go in, lines come out. It ends with this value.
#[derive(Debug)]
pub struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: Arc<Output>,
    /// The lines before this one were looked at.
    read: usize,
    shown: String,
}

#[derive(Debug, Default)]
struct Output {
    collected: Mutex<Collected>,
    changed: Condvar,
}

/// What came out of both pipes, line by line.
#[derive(Debug, Default)]
struct Collected {
    lines: Vec<String>,
    ended_pipes: usize,
}

impl Process {
    /// Starts it.
    ///
    /// # Errors
    /// It cannot be run.
    pub fn start(mut command: Command) -> Result<Self, OpenSslError> {
        let shown = show(&command);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| OpenSslError::Start {
                command: shown.clone(),
                source,
            })?;
        let output = Arc::new(Output::default());
        if let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) {
            collect(stdout, &output);
            collect(stderr, &output);
        }
        Ok(Self {
            input: child.stdin.take(),
            child,
            output,
            read: 0,
            shown,
        })
    }

    /// Sends one line. OpenSSL takes some as commands to itself, such as a line that begins with `Q`.
    ///
    /// # Errors
    /// It is not there to read it.
    pub fn say(&mut self, line: &str) -> Result<(), OpenSslError> {
        let Some(input) = &mut self.input else {
            return Ok(());
        };
        // In one piece: OpenSSL makes a record of each piece that it reads.
        let line = format!("{line}\n");
        input
            .write_all(line.as_bytes())
            .map_err(|source| OpenSslError::Input {
                command: self.shown.clone(),
                source,
            })
    }

    /// Ends its input. `s_client` then closes the connection.
    pub fn end_input(&mut self) {
        self.input = None;
    }

    /// Waits for a line that contains `text`, behind the line that the last call found.
    ///
    /// # Errors
    /// The line did not come.
    pub fn expect(&mut self, text: &str) -> Result<String, OpenSslError> {
        let end = Instant::now() + PATIENCE;
        let mut collected = self.output.lock();
        loop {
            while let Some(line) = collected.lines.get(self.read) {
                self.read += 1;
                if line.contains(text) {
                    return Ok(line.clone());
                }
            }
            let (command, awaited) = (self.shown.clone(), text.to_owned());
            if collected.ended_pipes == 2 {
                return Err(OpenSslError::Ended {
                    command,
                    awaited,
                    said: collected.tail(),
                });
            }
            let patience = end.saturating_duration_since(Instant::now());
            if patience.is_zero() {
                return Err(OpenSslError::Silent {
                    command,
                    awaited,
                    said: collected.tail(),
                });
            }
            let wait = self.output.changed.wait_timeout(collected, patience);
            collected = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Whether a line with `text` came, ever.
    #[must_use]
    pub fn has_said(&self, text: &str) -> bool {
        self.output
            .lock()
            .lines
            .iter()
            .any(|line| line.contains(text))
    }

    /// The end of what it said, in one line.
    #[must_use]
    pub fn said(&self) -> String {
        self.output.lock().tail()
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until it ends by itself.
    ///
    /// # Errors
    /// It does not.
    pub fn wait(&mut self) -> Result<ExitStatus, OpenSslError> {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Ok(status);
            }
            if Instant::now() >= end {
                return Err(OpenSslError::Endless {
                    command: self.shown.clone(),
                    said: self.said(),
                });
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be gone already, and that is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Output {
    fn lock(&self) -> MutexGuard<'_, Collected> {
        self.collected
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Collected {
    /// Enough to see what went wrong.
    fn tail(&self) -> String {
        const LINES: usize = 6;
        let first = self.lines.len().saturating_sub(LINES);
        match self.lines.get(first..) {
            None | Some([]) => "(nothing)".into(),
            Some(lines) => lines.join(" | "),
        }
    }
}

/// Collects the lines of one pipe until it ends.
fn collect(pipe: impl Read + Send + 'static, output: &Arc<Output>) {
    let output = Arc::clone(output);
    thread::spawn(move || {
        let mut lines = BufReader::new(pipe).split(b'\n');
        while let Some(Ok(line)) = lines.next() {
            let line = String::from_utf8_lossy(&line).trim_end().to_owned();
            output.lock().lines.push(line);
            output.changed.notify_all();
        }
        output.lock().ended_pipes += 1;
        output.changed.notify_all();
    });
}

/// The command as a person would type it.
pub(super) fn show(command: &Command) -> String {
    let words = core::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Process::start(command).unwrap()
    }

    #[test]
    fn lines_go_in_and_come_out_in_order() {
        let mut cat = shell("exec cat");
        for line in ["one", "two", "one more"] {
            cat.say(line).unwrap();
        }
        assert_eq!(cat.expect("one").unwrap(), "one");
        assert_eq!(cat.expect("one").unwrap(), "one more");
        assert!(cat.has_said("two") && !cat.has_said("three"));
        assert!(!cat.has_ended());
        cat.end_input();
        assert!(cat.wait().unwrap().success());
    }

    #[test]
    fn an_end_is_told_with_the_last_words() {
        let mut failing = shell("echo the reason >&2; exit 3");
        let error = failing.expect("ACCEPT").unwrap_err().to_string();
        assert!(error.contains("ended before it said \"ACCEPT\""), "{error}");
        assert!(error.contains("the reason"), "{error}");
        assert_eq!(failing.wait().unwrap().code(), Some(3));
    }

    #[test]
    fn it_ends_with_its_value() {
        let mut sleeper = shell("echo $$; exec sleep 600");
        let id = sleeper.expect("").unwrap();
        drop(sleeper);
        let alive = Command::new("kill")
            .args(["-0", &id])
            .stderr(Stdio::null())
            .status();
        assert!(!alive.unwrap().success());
    }
}
