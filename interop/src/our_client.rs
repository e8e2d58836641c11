//! Our client with `openssl s_server`.

use crate::{Credentials, Ip, PATIENCE, TIMERS};
use anyhow::{bail, ensure};
use dtls_core::{AlertDescription, Instant, Meter, Phase};
use dtls_std::openssl::{self, ClientCheck, OpenSsl, OpenSslServer, ServerOptions};
use dtls_std::{Client, ClientConfig, ConnectError, Pin, Received, StdPlatform, Trust, clock};

/// One handshake.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Who shows what.
    pub credentials: Credentials,
    /// On which network.
    pub ip: Ip,
    /// The server's largest datagram. `None`: it sends its flight in pieces of 228 bytes.
    pub server_mtu: Option<u16>,
    /// Our largest datagram.
    pub our_mtu: u16,
}

/// A handshake, data both ways, and our `close_notify`, which ends the connection at the server too.
///
/// The server's would be the other way to end, but `s_server` closes its socket before it writes one.
///
/// # Errors
/// Something went wrong.
pub fn converse(openssl: &OpenSsl, case: Case) -> anyhow::Result<()> {
    let keys = openssl::Credentials::generate()?;
    let mut server = serve(openssl, case, &keys)?;
    let config = config(case, &keys, keys.server.pin)?;
    let meter = Meter::new(clock::now as fn() -> Instant);
    let platform = StdPlatform::new().with_probe(meter);
    let mut client = Client::connect_with(server.address(), &config, platform)?;
    server.expect_connected()?;
    let flight_4 = client
        .platform()
        .probe_mut()
        .phase(Phase::AwaitServerFlight);
    let in_pieces = flight_4.datagrams_received > 1;
    ensure!(
        in_pieces == case.server_mtu.is_none(),
        "not the flight that was to be tested"
    );
    client.send(b"from the client\n")?;
    server.process.expect("from the client")?;
    server.process.say("from the server")?;
    match client.recv(PATIENCE)? {
        Some(Received::Data(data)) if data == b"from the server\n" => {}
        other => bail!("heard {other:?}"),
    }
    client.close()?;
    server.expect_closed()?;
    Ok(())
}

/// We refuse a server whose key is not the pinned one, and tell it why.
///
/// # Errors
/// We do not.
pub fn refuse(openssl: &OpenSsl, case: Case) -> anyhow::Result<()> {
    let keys = openssl::Credentials::generate()?;
    let mut server = serve(openssl, case, &keys)?;
    let config = config(case, &keys, keys.client.pin)?;
    match Client::connect(server.address(), &config) {
        Err(ConnectError::Refused { pin, .. }) => ensure!(pin == keys.server.pin),
        Err(other) => bail!("failed otherwise: {other}"),
        Ok(_) => bail!("accepted a key that is not pinned"),
    }
    // RFC 7925 section 6: no certificate alert answers a raw public key.
    let alert = match case.credentials.authentication {
        openssl::Authentication::RawPublicKey => AlertDescription::HANDSHAKE_FAILURE,
        openssl::Authentication::Certificate => AlertDescription::CERTIFICATE_UNKNOWN,
    };
    server
        .process
        .expect(&format!("SSL alert number {}", alert.0))?;
    Ok(())
}

fn serve(
    openssl: &OpenSsl,
    case: Case,
    keys: &openssl::Credentials,
) -> anyhow::Result<OpenSslServer> {
    let clients = match (case.credentials.mutual, case.credentials.authentication) {
        (false, _) => ClientCheck::NotAsked,
        (true, openssl::Authentication::RawPublicKey) => ClientCheck::AnyKey,
        (true, openssl::Authentication::Certificate) => {
            ClientCheck::Issuer(&keys.client.certificate)
        }
    };
    Ok(openssl.serve(&ServerOptions {
        address: case.ip.loopback(),
        clients,
        mtu: case.server_mtu,
        ..ServerOptions::new(case.credentials.authentication, &keys.server)
    })?)
}

fn config(case: Case, keys: &openssl::Credentials, pin: Pin) -> anyhow::Result<ClientConfig> {
    let Credentials {
        authentication,
        mutual,
    } = case.credentials;
    let identity = keys.client.identity(authentication)?;
    Ok(ClientConfig {
        identity: mutual.then_some(identity),
        accept: case.credentials.accepted(),
        timers: TIMERS,
        mtu: case.our_mtu,
        trust_icmp_errors: true,
        ..ClientConfig::new(Trust::pins([pin]))
    })
}
