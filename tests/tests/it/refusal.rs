//! Who is not let in, and what they are told (RFC 7925 section 6, RFC 5246 section 7.2.2).

use crate::{CLIENT, SERVER, assert_works, pair};
use dtls_core::{AcceptedPeers, AlertDescription, ClientAuthentication, Fatal, Operation};
use dtls_tests::{Kind, Network, Peer, Seen, address, server_config, wire};

/// The one alert that an endpoint sent in plaintext.
fn alert_of(net: &Network, number: u16) -> AlertDescription {
    let sent = net.log.iter().filter(|sent| sent.from == address(number));
    let alerts: Vec<_> = sent.flat_map(|sent| wire::alerts(&sent.bytes)).collect();
    let [(2, description)] = alerts[..] else {
        panic!("one fatal alert: {alerts:?}")
    };
    AlertDescription(description)
}

/// Runs a handshake that `refuser` ends with `fatal`; the other one hears `alert`, once, and both memories are free.
fn assert_refused(
    net: &mut Network,
    client: &mut Peer,
    server: &mut Peer,
    refuser: u16,
    fatal: Fatal,
) {
    client.connect(server);
    net.run(&mut [client, server]);
    assert_eq!([client.connected(), server.connected()], [None; 2]);
    let (by, other) = if refuser == CLIENT {
        (&client, &server)
    } else {
        (&server, &client)
    };
    assert_eq!(by.seen, [Seen::Failed(fatal)]);
    let alert = fatal.alert().expect("the other is told");
    assert_eq!(alert_of(net, refuser), alert);
    assert_eq!(
        other.seen,
        [
            Seen::PlaintextAlert(alert),
            Seen::Failed(Fatal::AlertReceived(alert))
        ]
    );
    assert!(client.workspace.is_vacant() && server.workspace.is_vacant());
}

/// A raw public key that is not pinned: handshake_failure, never a certificate alert.
#[test]
fn a_raw_key_that_is_not_pinned_is_refused() {
    for refuser in [CLIENT, SERVER] {
        let mut net = Network::new(1);
        let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
        let by = if refuser == CLIENT {
            &mut client
        } else {
            &mut server
        };
        by.engine.pins = vec![dtls_tests::STRANGER.spki];
        assert_refused(
            &mut net,
            &mut client,
            &mut server,
            refuser,
            Fatal::PeerRefused,
        );
        assert_eq!(alert_of(&net, refuser), AlertDescription::HANDSHAKE_FAILURE);
    }
}

/// A certificate whose key is not pinned: the precise alert.
#[test]
fn a_certificate_that_is_not_pinned_is_refused() {
    for refuser in [CLIENT, SERVER] {
        let mut net = Network::new(1);
        let (mut client, mut server) = pair(&net, Kind::X509, Kind::X509);
        let by = if refuser == CLIENT {
            &mut client
        } else {
            &mut server
        };
        by.engine.pins = vec![dtls_tests::STRANGER.spki];
        assert_refused(
            &mut net,
            &mut client,
            &mut server,
            refuser,
            Fatal::CertificateRefused,
        );
        assert_eq!(
            alert_of(&net, refuser),
            AlertDescription::CERTIFICATE_UNKNOWN
        );
    }
}

/// A pin alone is not enough: whoever shows a key has to have it (RFC 5246 sections 7.4.3 and 7.4.8).
#[test]
fn a_key_that_is_shown_has_to_be_owned() {
    for impostor in [CLIENT, SERVER] {
        let mut net = Network::new(1);
        let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
        let by = if impostor == CLIENT {
            &mut client
        } else {
            &mut server
        };
        let pins = by.engine.pins.clone();
        by.engine = dtls_tests::Engine::new(&dtls_tests::STRANGER, 9);
        by.engine.pins = pins;
        let refuser = if impostor == CLIENT { SERVER } else { CLIENT };
        assert_refused(
            &mut net,
            &mut client,
            &mut server,
            refuser,
            Fatal::BadSignature,
        );
        assert_eq!(alert_of(&net, refuser), AlertDescription::DECRYPT_ERROR);
    }
}

/// RFC 5246 section 7.4.6: a client without a credential, where one is required.
#[test]
fn an_anonymous_client_is_refused_where_a_credential_is_required() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Nothing, Kind::Raw);
    server.config = server_config(Kind::Raw, Kind::Raw);
    assert_refused(
        &mut net,
        &mut client,
        &mut server,
        SERVER,
        Fatal::PeerAnonymous,
    );
    assert!(!server.engine.asked.contains(&Operation::Peer));
}

/// Accepting nobody in particular is as explicit as accepting a key.
#[test]
fn an_anonymous_client_is_refused_if_the_caller_says_so() {
    for ask in [ClientAuthentication::None, ClientAuthentication::Optional] {
        let mut net = Network::new(1);
        let (mut client, mut server) = pair(&net, Kind::Nothing, Kind::Raw);
        server.config = server_config(Kind::Raw, Kind::Raw);
        server.config.client_authentication = ask;
        server.engine.anonymous = None;
        assert_refused(
            &mut net,
            &mut client,
            &mut server,
            SERVER,
            Fatal::PeerRefused,
        );
    }
}

/// RFC 7250 section 4.2: no kind of credential in common is unsupported_certificate, if the client has sent a list of kinds. A
/// client that knows X.509 only sends none (section 4.1), and to that there is simply no suite.
#[test]
fn no_certificate_type_in_common() {
    for (server_kind, accept, fatal) in [
        (
            Kind::X509,
            AcceptedPeers::RAW_PUBLIC_KEY,
            Fatal::NoCommonCertificateType,
        ),
        (
            Kind::Raw,
            AcceptedPeers::CERTIFICATE,
            Fatal::NothingInCommon,
        ),
    ] {
        let mut net = Network::new(1);
        let (mut client, mut server) = pair(&net, Kind::Nothing, server_kind);
        client.config.accept = accept;
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        assert_eq!(server.failure(), Some(fatal));
        assert_eq!(Some(alert_of(&net, SERVER)), fatal.alert());
        assert_eq!(client.connected(), None);
    }
}

/// A server without a credential cannot serve (RFC 5246 section 7.2.2, internal_error).
#[test]
fn a_server_needs_a_credential() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    server.config.credentials = &[];
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(server.failure(), Some(Fatal::Credential));
    assert_eq!([client.connected(), server.connected()], [None; 2]);
}

/// An association outlives a second handshake that fails (RFC 6347 section 4.2.8).
#[test]
fn an_association_outlives_a_refused_handshake() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_works(&mut net, &mut client, &mut server);
    let pins = core::mem::take(&mut server.engine.pins);
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(server.failure(), Some(Fatal::PeerRefused));
    server.engine.pins = pins;
    client.send(b"still here").unwrap();
    server.send(b"here, too").unwrap();
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(server.received().last(), Some(&&b"still here"[..]));
    assert_eq!(client.received().last(), Some(&&b"here, too"[..]));
}
