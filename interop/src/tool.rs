//! The command-line tool, built and put in a folder beside the peers.

use anyhow::{Context, ensure};
use dtls_std::openssl::OpenSsl;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A folder to run commands in as a person would: the first `dtls` and the first `openssl` of the search path are ours
/// and the given one.
pub struct Desk {
    folder: TempDir,
    path: OsString,
}

impl Desk {
    /// Builds the tool if need be.
    ///
    /// # Errors
    /// It cannot be built, or the folder not be made.
    pub fn new(openssl: &OpenSsl) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let programs = folder.path().join("bin");
        fs::create_dir(&programs)?;
        let tool = build()?;
        fs::copy(&tool, programs.join("dtls")).with_context(|| tool.display().to_string())?;
        let launcher = programs.join("openssl");
        fs::write(
            &launcher,
            format!("#!/bin/sh\nexec {} \"$@\"\n", openssl.command_line()),
        )?;
        fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755))?;
        let others = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([programs].into_iter().chain(env::split_paths(&others)))?;
        Ok(Self { folder, path })
    }

    /// Where the commands run.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A command of the shell.
    #[must_use]
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", line])
            .current_dir(self.folder())
            .env("PATH", &self.path);
        command
    }

    /// Runs lines of the shell to their end: what they print on both outputs.
    ///
    /// # Errors
    /// They fail.
    pub fn run(&self, lines: &str) -> anyhow::Result<String> {
        let Output {
            status,
            stdout,
            stderr,
        } = self
            .command(&format!("set -e\n{lines}"))
            .stdin(Stdio::null())
            .output()?;
        let said = String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned();
        ensure!(status.success(), "`{lines}` failed and said: {said}");
        Ok(said)
    }
}

/// Builds `dtls` as the running test was built: into the same target folder.
fn build() -> anyhow::Result<PathBuf> {
    let test = env::current_exe()?;
    // target/debug/deps/openssl-…
    let profile = test.ancestors().nth(2).context("no target folder")?;
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--package", "dtls-std", "--bin", "dtls"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()?;
    let said = String::from_utf8_lossy(&built.stderr);
    ensure!(built.status.success(), "cannot build dtls: {said}");
    Ok(profile.join("dtls"))
}
