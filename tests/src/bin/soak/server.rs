//! The server, a process of its own.

use crate::MAX_IDLE;
use anyhow::{Context, ensure};
use dtls_std::Pin;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

pub(crate) struct Server {
    child: Child,
    messages: BufReader<ChildStderr>,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start(
        dtls: &Path,
        folder: &Path,
        client: Pin,
        clients: u32,
    ) -> anyhow::Result<Self> {
        let mut child = Command::new(dtls)
            .args(["server", "--listen", "127.0.0.1:0", "--echo", "--quiet"])
            .args(["--key", "server.key", "--client-pin", &client.to_string()])
            // Those who vanished take a place until they are evicted.
            .args(["--max-peers", &(4 * clients).to_string()])
            .args(["--max-idle", &MAX_IDLE.as_secs().to_string()])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {}", dtls.display()))?;
        let messages = BufReader::new(child.stderr.take().context("no standard error")?);
        let mut server = Self {
            child,
            messages,
            address: String::new(),
        };
        let line = server.line()?;
        let address = line.strip_prefix("listening at ");
        let address = address.and_then(|rest| rest.split(',').next());
        address
            .context(line.clone())?
            .clone_into(&mut server.address);
        Ok(server)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its counters.
    pub(crate) fn report(&mut self) -> anyhow::Result<String> {
        self.signal(Signal::USR1)?;
        self.line()
    }

    /// Ends it.
    pub(crate) fn stop(&mut self) -> anyhow::Result<()> {
        self.signal(Signal::TERM)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }

    fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        self.messages.read_line(&mut line)?;
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
