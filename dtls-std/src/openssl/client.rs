//! `openssl s_client`.

use super::{Authentication, CIPHERS, KeyFiles, OpenSsl, OpenSslError, Process};
use crate::pin::Pin;
use core::net::SocketAddr;
use std::path::Path;
use std::process::ExitStatus;

/// How to run a client.
#[derive(Clone, Copy, Debug)]
pub struct ClientOptions<'a> {
    /// Where to connect to.
    pub server: SocketAddr,
    /// How the sides show their keys.
    pub authentication: Authentication,
    /// Which servers are accepted.
    pub trust: ServerTrust<'a>,
    /// The client's key, if it has one.
    pub identity: Option<&'a KeyFiles>,
    /// The largest datagram to send.
    pub mtu: Option<u16>,
}

/// Which servers are accepted.
#[derive(Clone, Copy, Debug)]
pub enum ServerTrust<'a> {
    /// Any.
    Anyone,
    /// Whose certificate one of those in this file has issued, or is one of them.
    Issuer(&'a Path),
    /// The holder of this key, raw or in a certificate (as by a TLSA record "3 1 1").
    Pin(Pin),
}

impl<'a> ClientOptions<'a> {
    /// Accepts any server, and has no key of its own.
    #[must_use]
    pub const fn new(authentication: Authentication, server: SocketAddr) -> Self {
        Self {
            server,
            authentication,
            trust: ServerTrust::Anyone,
            identity: None,
            mtu: None,
        }
    }
}

/// A client on its way.
#[derive(Debug)]
pub struct OpenSslClient {
    /// The process, to talk to.
    pub process: Process,
}

impl OpenSsl {
    /// Starts a client.
    ///
    /// # Errors
    /// It cannot be run. Whether it connects is told by [`OpenSslClient::expect_connected`].
    pub fn connect(&self, options: &ClientOptions<'_>) -> Result<OpenSslClient, OpenSslError> {
        let mut command = self.command();
        command.args([
            "s_client",
            "-dtls1_2",
            "-connect",
            &options.server.to_string(),
        ]);
        command.args(["-cipher", CIPHERS]);
        match options.trust {
            ServerTrust::Anyone => {}
            ServerTrust::Issuer(file) => {
                command.arg("-verify_return_error").arg("-CAfile").arg(file);
            }
            ServerTrust::Pin(pin) => {
                command.args(["-verify_return_error", "-dane_tlsa_domain", "localhost"]);
                command.args(["-dane_tlsa_rrdata", &format!("3 1 1 {pin}")]);
            }
        }
        if options.authentication == Authentication::RawPublicKey {
            command.arg("-enable_server_rpk");
            if options.identity.is_some() {
                command.arg("-enable_client_rpk");
            }
        }
        if let Some(identity) = options.identity {
            command.arg("-cert").arg(&identity.certificate);
            command.arg("-key").arg(&identity.key);
        }
        if let Some(mtu) = options.mtu {
            command.args(["-mtu", &mtu.to_string()]);
        }
        let process = Process::start(command)?;
        Ok(OpenSslClient { process })
    }
}

impl OpenSslClient {
    /// Waits for the end of the handshake.
    ///
    /// # Errors
    /// It failed.
    pub fn expect_connected(&mut self) -> Result<(), OpenSslError> {
        self.process
            .expect("Cipher is ECDHE-ECDSA-AES128-CCM8")
            .map(drop)
    }

    /// Ends the connection with a `close_notify`, and waits until the process ends by itself.
    ///
    /// # Errors
    /// It does not end.
    pub fn close(mut self) -> Result<ExitStatus, OpenSslError> {
        self.process.end_input();
        self.process.wait()
    }
}
