//! Which kind of credential each side shows: all combinations of what the two have and accept (RFC 7250 section 4).

use crate::{CLIENT, SERVER};
use dtls_core::{AcceptedPeers, ClientAuthentication, Config, Credential, Fatal, PeerId};
use dtls_tests::wire::{
    self, CERTIFICATE, CERTIFICATE_REQUEST, CERTIFICATE_VERIFY, CLIENT_HELLO, HANDSHAKE_HEADER,
    SERVER_HELLO,
};
use dtls_tests::{Hello, Identity, Kind, Network, Peer, address};

const X509: u8 = 0;
const RAW_PUBLIC_KEY: u8 = 2;
const CLIENT_CERTIFICATE_TYPE: u16 = 19;
const SERVER_CERTIFICATE_TYPE: u16 = 20;

/// What a side can show, in the order of preference.
const NOTHING: &[u8] = &[];
const SHOWN: [&[u8]; 4] = [
    &[RAW_PUBLIC_KEY],
    &[X509],
    &[RAW_PUBLIC_KEY, X509],
    &[X509, RAW_PUBLIC_KEY],
];
/// What a side accepts; raw public keys are preferred.
const ACCEPTED: [(AcceptedPeers, &[u8]); 3] = [
    (AcceptedPeers::RAW_PUBLIC_KEY, &[RAW_PUBLIC_KEY]),
    (AcceptedPeers::CERTIFICATE, &[X509]),
    (AcceptedPeers::ANY, &[RAW_PUBLIC_KEY, X509]),
];

struct Case {
    client_shows: &'static [u8],
    client_accepts: (AcceptedPeers, &'static [u8]),
    server_shows: &'static [u8],
    server_accepts: (AcceptedPeers, &'static [u8]),
    authentication: ClientAuthentication,
}

/// What has to come of it.
struct Expected {
    /// The list that the ClientHello carries, if it carries one.
    client_list: Option<Vec<u8>>,
    server_list: Option<Vec<u8>>,
    /// The type that the server shows.
    server: Result<u8, Fatal>,
    /// The type that the server asks for.
    asked: Result<Option<u8>, Fatal>,
    /// The client shows something of this type.
    client: Option<u8>,
    end: Result<PeerId, Fatal>,
}

/// RFC 7250 sections 4.1 and 4.2, written down once more and differently.
fn expected(case: &Case) -> Expected {
    // 4.1: a list that says only X.509, and one that says nothing, is left out.
    let list = |types: &[u8]| match types {
        [] | [X509] => None,
        types => Some(types.to_vec()),
    };
    let first =
        |ours: &[u8], theirs: &[u8]| ours.iter().copied().find(|kind| theirs.contains(kind));
    let (client_list, server_list) = (list(case.client_shows), list(case.client_accepts.1));
    // 4.2, outcome 2, or, without a list, simply nothing in common.
    let server = first(case.server_shows, case.client_accepts.1).ok_or(match server_list {
        Some(_) => Fatal::NoCommonCertificateType,
        None => Fatal::NothingInCommon,
    });
    let client_can = client_list.as_deref().unwrap_or(&[X509]);
    let common = first(case.server_accepts.1, client_can);
    let asked = match (case.authentication, common, &client_list) {
        (ClientAuthentication::None, ..) => Ok(None),
        (_, Some(kind), _) => Ok(Some(kind)),
        (ClientAuthentication::Optional, None, _) => Ok(None),
        (ClientAuthentication::Required, None, Some(_)) => Err(Fatal::NoCommonCertificateType),
        (ClientAuthentication::Required, None, None) => Err(Fatal::PeerAnonymous),
    };
    let client = asked
        .unwrap_or(None)
        .filter(|kind| case.client_shows.contains(kind));
    let end = server.and(asked).and(match (client, case.authentication) {
        (Some(_), _) => Ok(PeerId(0)),
        (None, ClientAuthentication::Required) => Err(Fatal::PeerAnonymous),
        (None, _) => Ok(PeerId(7)),
    });
    Expected {
        client_list,
        server_list,
        server,
        asked,
        client,
        end,
    }
}

fn credentials(identity: &'static Identity, types: &[u8]) -> &'static [Credential<'static>] {
    let one = |kind: &u8| match *kind {
        RAW_PUBLIC_KEY => identity.credentials(Kind::Raw)[0],
        _ => identity.credentials(Kind::X509)[0],
    };
    Vec::leak(types.iter().map(one).collect())
}

/// The first body of a type that somebody sent.
fn first(net: &Network, from: u16, kind: u8) -> Option<Vec<u8>> {
    let sent = net.log.iter().filter(|sent| sent.from == address(from));
    let mut bodies = sent.flat_map(|sent| {
        let messages = wire::messages(&sent.bytes)
            .into_iter()
            .filter(|message| message.kind == kind);
        messages.map(|message| {
            sent.bytes[message.range.start + HANDSHAKE_HEADER..message.range.end].to_vec()
        })
    });
    bodies.next()
}

/// RFC 7250 section 3: a raw public key stands alone, a certificate in a list (RFC 5246 section 7.4.2).
fn type_shown(certificate: &[u8], spki: &[u8]) -> u8 {
    if certificate[3..] == *spki {
        RAW_PUBLIC_KEY
    } else {
        X509
    }
}

fn check(case: &Case) -> Result<PeerId, Fatal> {
    let expected = expected(case);
    let mut net = Network::new(1);
    let client_config = Config {
        credentials: credentials(&dtls_tests::CLIENT, case.client_shows),
        ..Config::new(case.client_accepts.0)
    };
    let server_config = Config {
        credentials: credentials(&dtls_tests::SERVER, case.server_shows),
        client_authentication: case.authentication,
        ..Config::new(case.server_accepts.0)
    };
    let mut client = Peer::client(&net, CLIENT, client_config);
    let mut server = Peer::server(&net, SERVER, server_config).without_gate();
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    let name = format!(
        "client {:?} for {:?}, server {:?} for {:?}, {:?}",
        case.client_shows,
        case.client_accepts.1,
        case.server_shows,
        case.server_accepts.1,
        case.authentication
    );

    let hello = Hello::of_client(&first(&net, CLIENT, CLIENT_HELLO).expect("a client begins"));
    let list = |kind| hello.extension(kind).map(|content| content[1..].to_vec());
    assert_eq!(
        list(CLIENT_CERTIFICATE_TYPE),
        expected.client_list,
        "{name}"
    );
    assert_eq!(
        list(SERVER_CERTIFICATE_TYPE),
        expected.server_list,
        "{name}"
    );

    if let (Ok(shown), Ok(asked)) = (expected.server, expected.asked) {
        let answer = Hello::of_server(&first(&net, SERVER, SERVER_HELLO).expect("an answer"));
        let said = |kind| answer.extension(kind).map(|content| content.to_vec());
        assert_eq!(
            said(SERVER_CERTIFICATE_TYPE),
            expected.server_list.map(|_| vec![shown]),
            "{name}"
        );
        let in_hello = asked.filter(|_| expected.client_list.is_some());
        assert_eq!(
            said(CLIENT_CERTIFICATE_TYPE),
            in_hello.map(|kind| vec![kind]),
            "{name}"
        );
        let certificate = first(&net, SERVER, CERTIFICATE).expect("a server shows something");
        assert_eq!(
            type_shown(&certificate, &dtls_tests::SERVER.spki),
            shown,
            "{name}"
        );
        let request = first(&net, SERVER, CERTIFICATE_REQUEST);
        assert_eq!(request.is_some(), asked.is_some(), "{name}");
        let certificate = first(&net, CLIENT, CERTIFICATE);
        assert_eq!(certificate.is_some(), asked.is_some(), "{name}");
        let certificate = certificate.filter(|body| body.len() > 3);
        let type_shown = certificate.map(|body| type_shown(&body, &dtls_tests::CLIENT.spki));
        assert_eq!(type_shown, expected.client, "{name}");
        let verify = first(&net, CLIENT, CERTIFICATE_VERIFY);
        assert_eq!(verify.is_some(), expected.client.is_some(), "{name}");
    } else {
        assert_eq!(first(&net, SERVER, SERVER_HELLO), None, "{name}");
    }
    let end = server
        .connected()
        .ok_or_else(|| server.failure().expect("an end"));
    assert_eq!(end, expected.end, "{name}");
    assert_eq!(client.connected().is_some(), end.is_ok(), "{name}");
    end
}

/// RFC 7250 sections 4.1 to 4.4.
#[test]
fn every_combination_of_types() {
    let (mut connected, mut refused) = (0, 0);
    for client_shows in SHOWN.into_iter().chain([NOTHING]) {
        for client_accepts in ACCEPTED {
            for server_shows in SHOWN {
                for server_accepts in ACCEPTED {
                    for authentication in [
                        ClientAuthentication::None,
                        ClientAuthentication::Optional,
                        ClientAuthentication::Required,
                    ] {
                        let case = Case {
                            client_shows,
                            client_accepts,
                            server_shows,
                            server_accepts,
                            authentication,
                        };
                        match check(&case) {
                            Ok(_) => connected += 1,
                            Err(_) => refused += 1,
                        }
                    }
                }
            }
        }
    }
    println!("certificate types: {connected} combinations connect, {refused} are refused");
    assert_eq!(connected + refused, 540);
}
