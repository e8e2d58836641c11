//! Drives the OpenSSL command line, for measurements and tests: `s_server` and `s_client` as peers on loopback.
//!
//! ```no_run
//! use dtls_std::openssl::{Authentication, Credentials, OpenSsl, ServerOptions};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let credentials = Credentials::generate()?;
//! for openssl in OpenSsl::find()? {
//!     let server = openssl.serve(&ServerOptions::new(Authentication::RawPublicKey, &credentials.server))?;
//!     println!("{} listens at {}", openssl.name(), server.address());
//! }
//! # Ok(()) }
//! ```

mod client;
mod credentials;
mod find;
mod process;
mod server;

pub use client::{ClientOptions, OpenSslClient, ServerTrust};
pub use credentials::{Credentials, KeyFiles};
pub use process::Process;
pub use server::{ClientCheck, OpenSslServer, ServerOptions};

use crate::keys::KeyError;
use core::time::Duration;
use std::io;
use std::path::PathBuf;
use std::process::Command;

/// The one cipher suite that we speak, which OpenSSL allows at security level 0 only.
const CIPHERS: &str = "ECDHE-ECDSA-AES128-CCM8:@SECLEVEL=0";

/// How long OpenSSL may take for anything.
const PATIENCE: Duration = Duration::from_secs(10);

/// How the sides show their keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Authentication {
    /// Raw public keys (RFC 7250); see [`OpenSsl::has_raw_public_keys`].
    RawPublicKey,
    /// X.509 certificates.
    Certificate,
}

/// An OpenSSL that can be run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OpenSsl {
    program: PathBuf,
    /// What comes before the sub-command.
    arguments: &'static [&'static str],
    version: Version,
}

/// Major, minor and patch number.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Version(u32, u32, u32);

impl OpenSsl {
    /// Its name with its version, such as "OpenSSL 3.5.0".
    #[must_use]
    pub fn name(&self) -> String {
        format!("OpenSSL {}", self.version())
    }

    /// Its version, such as "3.5.0".
    #[must_use]
    pub fn version(&self) -> String {
        let Version(major, minor, patch) = self.version;
        format!("{major}.{minor}.{patch}")
    }

    /// How to run it, for a shell.
    #[must_use]
    pub fn command_line(&self) -> String {
        process::show(&self.command())
    }

    /// Whether it knows raw public keys (RFC 7250): since 3.2.
    #[must_use]
    pub fn has_raw_public_keys(&self) -> bool {
        self.version >= Version(3, 2, 0)
    }

    /// Whether it can authenticate in this way.
    #[must_use]
    pub fn knows(&self, authentication: Authentication) -> bool {
        authentication == Authentication::Certificate || self.has_raw_public_keys()
    }

    /// A command without arguments.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(self.arguments);
        command
    }
}

/// Why OpenSSL did not do what it should.
#[derive(Debug, thiserror::Error)]
pub enum OpenSslError {
    /// It cannot be run.
    #[error("cannot run `{command}`: {source}")]
    Start {
        /// What was to be run.
        command: String,
        /// What the system says.
        source: io::Error,
    },
    /// The program named in `DTLS_OPENSSL` is something else, or too old.
    #[error("{} is not OpenSSL 1.1.1 or newer but says \"{says}\"; correct DTLS_OPENSSL", program.display())]
    Other {
        /// What was run.
        program: PathBuf,
        /// Its answer.
        says: String,
    },
    /// It did not say what it should in time.
    #[error("waited {} s in vain for \"{awaited}\" from `{command}`; it said: {said}", PATIENCE.as_secs())]
    Silent {
        /// What was run.
        command: String,
        /// What it should have said.
        awaited: String,
        /// The end of what it said.
        said: String,
    },
    /// It ended before it said what it should.
    #[error("`{command}` ended before it said \"{awaited}\"; it said: {said}")]
    Ended {
        /// What was run.
        command: String,
        /// What it should have said.
        awaited: String,
        /// The end of what it said.
        said: String,
    },
    /// It did not end in time.
    #[error("`{command}` did not end within {} s; it said: {said}", PATIENCE.as_secs())]
    Endless {
        /// What was run.
        command: String,
        /// The end of what it said.
        said: String,
    },
    /// The pipe to it is broken.
    #[error("`{command}` takes no input: {source}")]
    Input {
        /// What was run.
        command: String,
        /// What the system says.
        source: io::Error,
    },
    /// No credentials could be made for it.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The folder for credentials could not be made.
    #[error("no folder for test credentials: {0}")]
    Folder(#[source] io::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The driver against itself: each OpenSSL of this machine as a client of itself, in each way it knows.
    #[test]
    fn openssl_talks_to_openssl() {
        let credentials = Credentials::generate().unwrap();
        let all = OpenSsl::find().unwrap();
        if all.is_empty() {
            eprintln!("SKIP: no OpenSSL found");
        }
        for openssl in all {
            for authentication in [Authentication::RawPublicKey, Authentication::Certificate] {
                if openssl.knows(authentication) {
                    talk(&openssl, authentication, &credentials).unwrap();
                }
            }
        }
    }

    fn talk(
        openssl: &OpenSsl,
        authentication: Authentication,
        credentials: &Credentials,
    ) -> Result<(), OpenSslError> {
        let mut server = openssl.serve(&ServerOptions {
            clients: ClientCheck::AnyKey,
            ..ServerOptions::new(authentication, &credentials.server)
        })?;
        // One server serves one client after the other.
        for greeting in ["first", "second"] {
            let mut client = openssl.connect(&ClientOptions {
                identity: Some(&credentials.client),
                trust: ServerTrust::Pin(credentials.server.pin),
                ..ClientOptions::new(authentication, server.address())
            })?;
            server.expect_connected()?;
            client.expect_connected()?;
            client.process.say(greeting)?;
            server.process.expect(greeting)?;
            server.process.say("answer")?;
            client.process.expect("answer")?;
            client.close()?;
            server.expect_closed()?;
        }
        let refused = openssl.connect(&ClientOptions {
            trust: ServerTrust::Pin(credentials.client.pin),
            ..ClientOptions::new(authentication, server.address())
        })?;
        assert!(!refused.close()?.success());
        Ok(())
    }
}
