//! What the figures were measured on.

use serde::Serialize;
use std::{env, fs, thread};

#[derive(Debug, Serialize)]
pub(super) struct Machine {
    pub(super) cpu: String,
    pub(super) cores: usize,
    pub(super) os: String,
    pub(super) architecture: &'static str,
}

impl Machine {
    /// As far as it can be found out without asking more than a file.
    pub(super) fn this() -> Self {
        let cpu = value_in("/proc/cpuinfo", "model name", ':');
        let os = value_in("/etc/os-release", "PRETTY_NAME", '=');
        Self {
            cpu: cpu.unwrap_or_else(|| "unknown CPU".into()),
            cores: thread::available_parallelism().map_or(1, usize::from),
            os: os.unwrap_or_else(|| env::consts::OS.into()),
            architecture: env::consts::ARCH,
        }
    }
}

fn value_in(file: &str, key: &str, separator: char) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(separator)?;
        (name.trim() == key).then(|| value.trim().trim_matches('"').to_owned())
    })
}
