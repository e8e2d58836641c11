//! `openssl s_client` with our server.

use crate::{Credentials, Ip, PATIENCE, TIMERS};
use anyhow::{bail, ensure};
use core::net::SocketAddr;
use dtls_core::{AlertDescription, ClientAuthentication, Fatal, SendError};
use dtls_std::openssl::{self, Authentication, ClientOptions, OpenSsl, OpenSslClient, ServerTrust};
use dtls_std::{Pin, Server, ServerConfig, ServerEvent, StdPlatform, Trust};
use std::net::UdpSocket;

/// One handshake.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Who shows what.
    pub credentials: Credentials,
    /// On which network.
    pub ip: Ip,
    /// Our largest datagram.
    pub our_mtu: u16,
    /// Who closes.
    pub closed_by: Side,
}

/// Of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// A handshake, data both ways, and a `close_notify`, which ends the connection on both sides.
///
/// # Errors
/// Something went wrong.
pub fn converse(openssl: &OpenSsl, case: Case) -> anyhow::Result<()> {
    let keys = openssl::Credentials::generate()?;
    let trust = ServerTrust::Pin(keys.server.pin);
    serve(case, &keys, keys.client.pin, |server, address| {
        let mut client = connect(openssl, case, &keys, address, trust)?;
        let peer = match next_event(server, &client)? {
            ServerEvent::Connected { peer, pin, .. } => {
                ensure!(pin == case.credentials.mutual.then_some(keys.client.pin));
                peer
            }
            other => bail!("instead of a connection: {other:?}"),
        };
        client.expect_connected()?;
        client.process.say("from the client")?;
        let data = b"from the client\n".to_vec();
        ensure!(next_event(server, &client)? == ServerEvent::Data { peer, data });
        server.send(peer, b"from the server\n")?;
        client.process.expect("from the server")?;
        match case.closed_by {
            Side::Server => {
                server.close(peer)?;
                client.process.expect("closed")?;
            }
            Side::Client => {
                client.process.end_input();
                let alert = AlertDescription::CLOSE_NOTIFY;
                ensure!(next_event(server, &client)? == ServerEvent::Closed { peer, alert });
            }
        }
        ensure!(client.close()?.success());
        ensure!(
            server.occupancy() == (0, 0),
            "the server remembers a client that is gone"
        );
        Ok(())
    })
}

/// We refuse a client whose key is not the pinned one, and tell it why.
///
/// # Errors
/// We do not.
pub fn refuse(openssl: &OpenSsl, case: Case) -> anyhow::Result<()> {
    let keys = openssl::Credentials::generate()?;
    serve(case, &keys, keys.server.pin, |server, address| {
        let mut client = connect(openssl, case, &keys, address, ServerTrust::Anyone)?;
        // RFC 7925 section 6: no certificate alert answers a raw public key.
        let (why, alert) = match case.credentials.authentication {
            Authentication::RawPublicKey => {
                (Fatal::PeerRefused, AlertDescription::HANDSHAKE_FAILURE)
            }
            Authentication::Certificate => (
                Fatal::CertificateRefused,
                AlertDescription::CERTIFICATE_UNKNOWN,
            ),
        };
        expect_failure(server, &client, why)?;
        client
            .process
            .expect(&format!("SSL alert number {}", alert.0))?;
        ensure!(!client.close()?.success());
        Ok(())
    })
}

/// OpenSSL refuses us if our key is not the one it has pinned, and we hear why.
///
/// # Errors
/// It does not.
pub fn be_refused(openssl: &OpenSsl, case: Case) -> anyhow::Result<()> {
    let keys = openssl::Credentials::generate()?;
    let trust = ServerTrust::Pin(keys.client.pin);
    serve(case, &keys, keys.client.pin, |server, address| {
        let client = connect(openssl, case, &keys, address, trust)?;
        match next_event(server, &client)? {
            ServerEvent::HandshakeFailed {
                why: SendError::Fatal(Fatal::AlertReceived(_)),
                ..
            } => {}
            other => bail!("instead of an alert: {other:?}"),
        }
        ensure!(!client.close()?.success());
        Ok(())
    })
}

/// We refuse a client that shows no key although it has to.
///
/// # Errors
/// We do not.
pub fn refuse_anonymous(openssl: &OpenSsl, case: Case) -> anyhow::Result<()> {
    let keys = openssl::Credentials::generate()?;
    serve(case, &keys, keys.client.pin, |server, address| {
        let authentication = case.credentials.authentication;
        let client = openssl.connect(&ClientOptions::new(authentication, address))?;
        expect_failure(server, &client, Fatal::PeerAnonymous)?;
        ensure!(!client.close()?.success());
        Ok(())
    })
}

fn serve(
    case: Case,
    keys: &openssl::Credentials,
    client: Pin,
    talk: impl FnOnce(&mut Server, SocketAddr) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let socket = UdpSocket::bind((case.ip.loopback(), 0))?;
    let address = socket.local_addr()?;
    let (client_authentication, trust) = match case.credentials.mutual {
        true => (ClientAuthentication::Required, Trust::pins([client])),
        false => (ClientAuthentication::None, Trust::pins([]).and_anonymous()),
    };
    let identity = keys.server.identity(case.credentials.authentication)?;
    let config = ServerConfig {
        accept: case.credentials.accepted(),
        client_authentication,
        timers: TIMERS,
        mtu: case.our_mtu,
        ..ServerConfig::new(identity, trust)
    };
    talk(
        &mut Server::new(socket, config, StdPlatform::new())?,
        address,
    )
}

fn connect(
    openssl: &OpenSsl,
    case: Case,
    keys: &openssl::Credentials,
    server: SocketAddr,
    trust: ServerTrust<'_>,
) -> anyhow::Result<OpenSslClient> {
    Ok(openssl.connect(&ClientOptions {
        trust,
        identity: case.credentials.mutual.then_some(&keys.client),
        ..ClientOptions::new(case.credentials.authentication, server)
    })?)
}

fn next_event(server: &mut Server, client: &OpenSslClient) -> anyhow::Result<ServerEvent> {
    match server.poll(PATIENCE)? {
        Some(event) => Ok(event),
        None => bail!(
            "nothing came from s_client, which said: {}",
            client.process.said()
        ),
    }
}

fn expect_failure(
    server: &mut Server,
    client: &OpenSslClient,
    expected: Fatal,
) -> anyhow::Result<()> {
    match next_event(server, client)? {
        ServerEvent::HandshakeFailed {
            why: SendError::Fatal(why),
            ..
        } if why == expected => Ok(()),
        other => bail!("instead of the failure {expected:?}: {other:?}"),
    }
}
