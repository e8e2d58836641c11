//! `openssl s_server`.

use super::{Authentication, CIPHERS, KeyFiles, OpenSsl, OpenSslError, Process};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

/// How to run a server.
#[derive(Clone, Copy, Debug)]
pub struct ServerOptions<'a> {
    /// Where to listen; the system chooses the port.
    pub address: IpAddr,
    /// How the sides show their keys.
    pub authentication: Authentication,
    /// The server's key.
    pub identity: &'a KeyFiles,
    /// Which clients are accepted.
    pub clients: ClientCheck<'a>,
    /// The largest datagram to send. Without it, OpenSSL sends its flights in datagrams of 228 bytes on loopback.
    pub mtu: Option<u16>,
}

/// Which clients are accepted. The command line cannot pin a client's raw public key.
#[derive(Clone, Copy, Debug)]
pub enum ClientCheck<'a> {
    /// Clients are not asked for a credential.
    NotAsked,
    /// Clients have to show a key, any.
    AnyKey,
    /// Clients have to show a certificate that one of those in this file has issued, or that is one of them.
    Issuer(&'a Path),
}

impl<'a> ServerOptions<'a> {
    /// On IPv4 loopback, without a question to clients, in small datagrams.
    #[must_use]
    pub const fn new(authentication: Authentication, identity: &'a KeyFiles) -> Self {
        Self {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            authentication,
            identity,
            clients: ClientCheck::NotAsked,
            mtu: None,
        }
    }
}

/// A server that listens. It asks for cookies, and serves one client after the other.
#[derive(Debug)]
pub struct OpenSslServer {
    /// The process, to talk to.
    pub process: Process,
    address: SocketAddr,
}

impl OpenSsl {
    /// Starts a server, and waits until it listens.
    ///
    /// # Errors
    /// It does not.
    pub fn serve(&self, options: &ServerOptions<'_>) -> Result<OpenSslServer, OpenSslError> {
        let mut command = self.command();
        command.args(["s_server", "-dtls1_2", "-accept"]);
        command.arg(SocketAddr::new(options.address, 0).to_string());
        command.arg("-cert").arg(&options.identity.certificate);
        command.arg("-key").arg(&options.identity.key);
        command.args(["-cipher", CIPHERS]);
        if options.authentication == Authentication::RawPublicKey {
            command.arg("-enable_server_rpk");
        }
        match (options.clients, options.authentication) {
            (ClientCheck::NotAsked, _) => {}
            (ClientCheck::AnyKey, Authentication::Certificate) => {
                command.args(["-Verify", "1"]);
            }
            (ClientCheck::AnyKey, Authentication::RawPublicKey) => {
                command.args(["-enable_client_rpk", "-Verify", "1"]);
            }
            (ClientCheck::Issuer(file), _) => {
                command
                    .args(["-Verify", "1", "-verify_return_error", "-CAfile"])
                    .arg(file);
            }
        }
        if let Some(mtu) = options.mtu {
            command.args(["-mtu", &mtu.to_string()]);
        }
        let mut process = Process::start(command)?;
        // Said once the socket is bound, with the port because we let the system choose it.
        let said = process.expect("ACCEPT ")?;
        let address = said.trim_start_matches("ACCEPT ").parse();
        let address = address.map_err(|_| OpenSslError::Ended {
            command: self.name(),
            awaited: "ACCEPT address:port".into(),
            said,
        })?;
        Ok(OpenSslServer { process, address })
    }
}

impl OpenSslServer {
    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for the end of the next handshake.
    ///
    /// # Errors
    /// There was none.
    pub fn expect_connected(&mut self) -> Result<(), OpenSslError> {
        self.process
            .expect("CIPHER is ECDHE-ECDSA-AES128-CCM8")
            .map(drop)
    }

    /// Waits for the end of the connection.
    ///
    /// # Errors
    /// It does not end.
    pub fn expect_closed(&mut self) -> Result<(), OpenSslError> {
        self.process.expect("DONE").map(drop)
    }
}
