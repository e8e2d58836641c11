//! What hellos may say, and what is answered (RFC 5246 section 7.4.1, RFC 8422 section 5, RFC 7627 section 5, RFC 5746,
//! RFC 7925 section 18).

use crate::alerts::assert_refused;
use crate::{CLIENT, SERVER, altering, pair};
use dtls_core::{ClientAuthentication, Fatal};
use dtls_tests::wire::{
    self, CERTIFICATE, CERTIFICATE_REQUEST, CERTIFICATE_VERIFY, CLIENT_HELLO, CLIENT_KEY_EXCHANGE,
    HANDSHAKE_HEADER, SERVER_HELLO,
};
use dtls_tests::{Hello, Kind, Network, Peer, address};

const SERVER_NAME: u16 = 0;
const SUPPORTED_GROUPS: u16 = 10;
const EC_POINT_FORMATS: u16 = 11;
const SIGNATURE_ALGORITHMS: u16 = 13;
const CLIENT_CERTIFICATE_TYPE: u16 = 19;
const SERVER_CERTIFICATE_TYPE: u16 = 20;
const EXTENDED_MASTER_SECRET: u16 = 23;
const SESSION_TICKET: u16 = 35;
const RENEGOTIATION_INFO: u16 = 0xff01;

const ECDHE_ECDSA_WITH_AES_128_CCM_8: u16 = 0xc0ae;
const EMPTY_RENEGOTIATION_INFO_SCSV: u16 = 0x00ff;

type Change = fn(&mut Hello);
type Adapt = fn(&mut Peer);

/// All bodies of one type that an endpoint sent, as it sent them.
fn sent(net: &Network, from: u16, kind: u8) -> Vec<Vec<u8>> {
    let datagrams = net.log.iter().filter(|sent| sent.from == address(from));
    let bodies = datagrams.flat_map(|sent| {
        let messages = wire::messages(&sent.bytes).into_iter();
        messages
            .filter(|message| message.kind == kind)
            .map(|message| {
                sent.bytes[message.range.start + HANDSHAKE_HEADER..message.range.end].to_vec()
            })
            .collect::<Vec<_>>()
    });
    bodies.collect()
}

/// A client's hello, altered on its way, meets a server without a gate, which would drop what is malformed.
fn with_client_hello(change: Change) -> (Network, Peer, Peer) {
    let mut net = Network::new(1);
    let (mut client, server) = pair(&net, Kind::Raw, Kind::Raw);
    let mut server = server.without_gate();
    net.hook(altering(CLIENT, CLIENT_HELLO, move |_, body| {
        let mut hello = Hello::of_client(body);
        change(&mut hello);
        *body = hello.emit();
    }));
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    (net, client, server)
}

/// A server's hello, altered on its way.
fn with_server_hello(change: Change) -> (Network, Peer, Peer) {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    net.hook(altering(SERVER, SERVER_HELLO, move |_, body| {
        let mut hello = Hello::of_server(body);
        change(&mut hello);
        *body = hello.emit();
    }));
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    (net, client, server)
}

/// RFC 5246 section 7.4.1.2 and those of the extensions: what a server refuses, and with which error.
#[test]
fn client_hellos_that_are_refused() {
    let cases: [(&str, Change, Fatal); 23] = [
        (
            "DTLS 1.0 (RFC 7925 18)",
            |hello| hello.version = [254, 255],
            Fatal::ProtocolVersion,
        ),
        (
            "DTLS 1.1, which never was",
            |hello| hello.version = [254, 254],
            Fatal::ProtocolVersion,
        ),
        (
            "TLS 1.2",
            |hello| hello.version = [3, 3],
            Fatal::ProtocolVersion,
        ),
        (
            "no null compression",
            |hello| hello.compression = vec![1],
            Fatal::IllegalParameter,
        ),
        (
            "other suites",
            |hello| hello.suites = vec![0xc02b, 0x1301],
            Fatal::NothingInCommon,
        ),
        (
            "other groups",
            |hello| hello.set(SUPPORTED_GROUPS, &[0, 4, 0, 24, 0, 29]),
            Fatal::NothingInCommon,
        ),
        (
            "other point formats (RFC 8422 5.1.2)",
            |hello| hello.set(EC_POINT_FORMATS, &[1, 1]),
            Fatal::IllegalParameter,
        ),
        (
            "no signature algorithms, so SHA-1",
            |hello| hello.remove(SIGNATURE_ALGORITHMS),
            Fatal::NothingInCommon,
        ),
        (
            "other signature algorithms",
            |hello| hello.set(SIGNATURE_ALGORITHMS, &[0, 4, 4, 1, 5, 3]),
            Fatal::NothingInCommon,
        ),
        (
            "no extended master secret",
            |hello| hello.remove(EXTENDED_MASTER_SECRET),
            Fatal::NothingInCommon,
        ),
        (
            "a handshake before (RFC 5746 3.6)",
            |hello| hello.set(RENEGOTIATION_INFO, &[1, 7]),
            Fatal::NothingInCommon,
        ),
        (
            "no extensions",
            |hello| hello.extensions.clear(),
            Fatal::NothingInCommon,
        ),
        (
            "one twice",
            |hello| hello.extensions.push((SUPPORTED_GROUPS, vec![0, 2, 0, 23])),
            Fatal::Decode,
        ),
        (
            "the empty one twice",
            |hello| hello.extensions.push((EXTENDED_MASTER_SECRET, vec![])),
            Fatal::Decode,
        ),
        (
            "the empty one is not empty",
            |hello| hello.set(EXTENDED_MASTER_SECRET, &[0]),
            Fatal::Decode,
        ),
        (
            "groups of half a number",
            |hello| hello.set(SUPPORTED_GROUPS, &[0, 3, 0, 23, 0]),
            Fatal::Decode,
        ),
        (
            "groups with something behind",
            |hello| hello.set(SUPPORTED_GROUPS, &[0, 2, 0, 23, 0]),
            Fatal::Decode,
        ),
        (
            "no group",
            |hello| hello.set(SUPPORTED_GROUPS, &[0, 0]),
            Fatal::Decode,
        ),
        (
            "algorithms of half a number",
            |hello| hello.set(SIGNATURE_ALGORITHMS, &[0, 3, 4, 3, 4]),
            Fatal::Decode,
        ),
        (
            "formats that are cut off",
            |hello| hello.set(EC_POINT_FORMATS, &[2, 0]),
            Fatal::Decode,
        ),
        (
            "no certificate type",
            |hello| hello.set(SERVER_CERTIFICATE_TYPE, &[0]),
            Fatal::Decode,
        ),
        (
            "server types nobody knows",
            |hello| hello.set(SERVER_CERTIFICATE_TYPE, &[2, 1, 3]),
            Fatal::NoCommonCertificateType,
        ),
        (
            "client types nobody knows",
            |hello| hello.set(CLIENT_CERTIFICATE_TYPE, &[1, 1]),
            Fatal::NoCommonCertificateType,
        ),
    ];
    for (case, change, fatal) in cases {
        let (net, client, server) = with_client_hello(change);
        assert_refused(case, &net, [&client, &server], SERVER, fatal);
        assert!(sent(&net, SERVER, SERVER_HELLO).is_empty(), "{case}");
    }
}

/// RFC 5246 section 7.4.1.2: the length has to match exactly one of the formats. Such a ClientHello gets no cookie, and
/// where there is no gate, decode_error.
#[test]
fn client_hellos_with_a_length_of_their_own() {
    type Change = fn(&mut Vec<u8>);
    let cases: [(&str, Change); 6] = [
        ("something behind", |body| body.push(0)),
        ("an end too early", |body| body.truncate(body.len() - 1)),
        ("suites of half a number", |body| {
            body.insert(37, 0);
            body[36] += 1;
        }),
        ("no suite", |body| {
            body.drain(37..41);
            body[36] = 0;
        }),
        ("no compression method", |body| {
            body.remove(42);
            body[41] = 0;
        }),
        ("a session_id of 33 bytes", |body| {
            body.splice(34..35, [33; 34]);
        }),
    ];
    for (case, change) in cases {
        for gate in [true, false] {
            let mut net = Network::new(1);
            let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
            if !gate {
                server = server.without_gate();
            }
            net.hook(altering(CLIENT, CLIENT_HELLO, move |_, body| change(body)));
            client.connect(&server);
            net.run(&mut [&mut client, &mut server]);
            if gate {
                assert_eq!(client.failure(), Some(Fatal::TimedOut), "{case}");
                assert!(server.seen.is_empty(), "{case}");
            } else {
                assert_refused(case, &net, [&client, &server], SERVER, Fatal::Decode);
            }
        }
    }
}

/// What a server has to overlook or may do without; it answers only what was asked (RFC 5246 section 7.4.1.4). None of these
/// handshakes can come to an end, because the two sides saw different hellos.
#[test]
fn client_hellos_that_are_answered() {
    const ALL: [u16; 5] = [
        EXTENDED_MASTER_SECRET,
        RENEGOTIATION_INFO,
        EC_POINT_FORMATS,
        CLIENT_CERTIFICATE_TYPE,
        SERVER_CERTIFICATE_TYPE,
    ];
    let cases: [(&str, Change, &[u16]); 11] = [
        (
            "DTLS 1.3 (RFC 5246 E.1)",
            |hello| hello.version = [254, 252],
            &ALL,
        ),
        (
            "unknown extensions",
            |hello| {
                for kind in [SERVER_NAME, 1, 22, 43, 62, 63, 64, 0x0a0a, 0xffff] {
                    hello.extensions.insert(0, (kind, vec![1, 2, 3]));
                }
            },
            &ALL,
        ),
        (
            "renegotiation_info as an extension",
            |hello| {
                hello.suites.pop();
                hello.set(RENEGOTIATION_INFO, &[0]);
            },
            &ALL,
        ),
        (
            "renegotiation_info twofold",
            |hello| hello.set(RENEGOTIATION_INFO, &[0]),
            &ALL,
        ),
        (
            "no renegotiation_info at all",
            |hello| hello.suites.truncate(1),
            &[
                EXTENDED_MASTER_SECRET,
                EC_POINT_FORMATS,
                CLIENT_CERTIFICATE_TYPE,
                SERVER_CERTIFICATE_TYPE,
            ],
        ),
        (
            "unknown suites",
            |hello| {
                hello
                    .suites
                    .splice(0..0, [0x0a0a, 0x1301, 0x5600])
                    .for_each(drop);
            },
            &ALL,
        ),
        (
            "other compression methods",
            |hello| hello.compression = vec![1, 64, 0],
            &ALL,
        ),
        (
            "a session to resume",
            |hello| hello.session_id = vec![7; 32],
            &ALL,
        ),
        (
            "no groups (RFC 8422 4)",
            |hello| hello.remove(SUPPORTED_GROUPS),
            &ALL,
        ),
        (
            "no point formats (RFC 8422 5.1.2)",
            |hello| hello.remove(EC_POINT_FORMATS),
            &[
                EXTENDED_MASTER_SECRET,
                RENEGOTIATION_INFO,
                CLIENT_CERTIFICATE_TYPE,
                SERVER_CERTIFICATE_TYPE,
            ],
        ),
        (
            "many of everything",
            |hello| {
                hello.set(SUPPORTED_GROUPS, &[0, 6, 0x0a, 0x0a, 0, 29, 0, 23]);
                hello.set(EC_POINT_FORMATS, &[3, 2, 1, 0]);
                hello.set(SIGNATURE_ALGORITHMS, &[0, 6, 8, 4, 4, 1, 4, 3]);
                hello.set(SERVER_CERTIFICATE_TYPE, &[3, 3, 1, 2]);
            },
            &ALL,
        ),
    ];
    for (case, change, expected) in cases {
        let (net, _, server) = with_client_hello(change);
        let answers = sent(&net, SERVER, SERVER_HELLO);
        let answer = answers
            .first()
            .unwrap_or_else(|| panic!("{case}: {:?}", server.seen));
        let answer = Hello::of_server(answer);
        assert_eq!(answer.version, [254, 253], "{case}");
        assert_eq!(answer.suites, [ECDHE_ECDSA_WITH_AES_128_CCM_8], "{case}");
        assert_eq!(
            (&answer.session_id[..], &answer.compression[..]),
            (&[][..], &[0][..]),
            "{case}"
        );
        let kinds: Vec<_> = answer.extensions.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, expected, "{case}");
        assert_eq!(
            answer.extension(EXTENDED_MASTER_SECRET),
            Some(&[][..]),
            "{case}"
        );
        if expected.contains(&RENEGOTIATION_INFO) {
            assert_eq!(
                answer.extension(RENEGOTIATION_INFO),
                Some(&[0][..]),
                "{case}"
            );
        }
        if expected.contains(&EC_POINT_FORMATS) {
            assert_eq!(
                answer.extension(EC_POINT_FORMATS),
                Some(&[1, 0][..]),
                "{case}"
            );
        }
    }
}

/// RFC 5246 section 7.4.1.3 and those of the extensions: what a client refuses, and with which error.
#[test]
fn server_hellos_that_are_refused() {
    let cases: [(&str, Change, Fatal); 21] = [
        (
            "DTLS 1.0 (RFC 5246 E.1)",
            |hello| hello.version = [254, 255],
            Fatal::ProtocolVersion,
        ),
        (
            "DTLS 1.3",
            |hello| hello.version = [254, 252],
            Fatal::ProtocolVersion,
        ),
        (
            "another suite",
            |hello| hello.suites = vec![0xc0ac],
            Fatal::IllegalParameter,
        ),
        (
            "the suite that is none",
            |hello| hello.suites = vec![EMPTY_RENEGOTIATION_INFO_SCSV],
            Fatal::IllegalParameter,
        ),
        (
            "compression (RFC 7925 8)",
            |hello| hello.compression = vec![1],
            Fatal::IllegalParameter,
        ),
        (
            "a session_id of 33 bytes",
            |hello| hello.session_id = vec![0; 33],
            Fatal::Decode,
        ),
        (
            "server_name, unasked",
            |hello| hello.set(SERVER_NAME, &[]),
            Fatal::UnsupportedExtension,
        ),
        (
            "a ticket, unasked",
            |hello| hello.set(SESSION_TICKET, &[]),
            Fatal::UnsupportedExtension,
        ),
        (
            "an unknown extension, unasked",
            |hello| hello.set(0x0a0a, &[]),
            Fatal::UnsupportedExtension,
        ),
        (
            "signature algorithms, which only clients send",
            |hello| {
                hello.set(SIGNATURE_ALGORITHMS, &[0, 2, 4, 3]);
            },
            Fatal::UnsupportedExtension,
        ),
        (
            "one twice",
            |hello| hello.extensions.push((EC_POINT_FORMATS, vec![1, 0])),
            Fatal::Decode,
        ),
        (
            "no extended master secret (RFC 7627 5.2)",
            |hello| hello.remove(EXTENDED_MASTER_SECRET),
            Fatal::NothingInCommon,
        ),
        (
            "the empty one is not empty",
            |hello| hello.set(EXTENDED_MASTER_SECRET, &[0]),
            Fatal::Decode,
        ),
        (
            "a handshake before (RFC 5746 3.4)",
            |hello| hello.set(RENEGOTIATION_INFO, &[1, 7]),
            Fatal::NothingInCommon,
        ),
        (
            "renegotiation_info that is cut off",
            |hello| hello.set(RENEGOTIATION_INFO, &[]),
            Fatal::Decode,
        ),
        (
            "compressed points only (RFC 8422 5.2)",
            |hello| hello.set(EC_POINT_FORMATS, &[2, 1, 2]),
            Fatal::IllegalParameter,
        ),
        (
            "X.509 instead of raw keys",
            |hello| hello.set(SERVER_CERTIFICATE_TYPE, &[0]),
            Fatal::IllegalParameter,
        ),
        (
            "OpenPGP instead of raw keys",
            |hello| hello.set(SERVER_CERTIFICATE_TYPE, &[1]),
            Fatal::IllegalParameter,
        ),
        (
            "X.509 without saying so",
            |hello| hello.remove(SERVER_CERTIFICATE_TYPE),
            Fatal::NoCommonCertificateType,
        ),
        (
            "asks for X.509 instead of raw keys",
            |hello| hello.set(CLIENT_CERTIFICATE_TYPE, &[0]),
            Fatal::IllegalParameter,
        ),
        (
            "two types",
            |hello| hello.set(SERVER_CERTIFICATE_TYPE, &[2, 2]),
            Fatal::Decode,
        ),
    ];
    for (case, change, fatal) in cases {
        let (net, client, server) = with_server_hello(change);
        assert_refused(case, &net, [&client, &server], CLIENT, fatal);
    }
}

/// RFC 7250 section 4.2: an answer to a list that was not sent, because the client has no credential, or because its list
/// would have said what its absence says.
#[test]
fn certificate_types_that_were_not_asked_for_are_refused() {
    let cases: [(&str, Change, Adapt); 2] = [
        (
            "a client without credentials",
            |hello| hello.set(CLIENT_CERTIFICATE_TYPE, &[2]),
            |client| {
                client.config.credentials = &[];
            },
        ),
        (
            "a client with X.509",
            |hello| hello.set(CLIENT_CERTIFICATE_TYPE, &[0]),
            |client| {
                client.config.credentials = dtls_tests::CLIENT.credentials(Kind::X509);
            },
        ),
    ];
    for (case, change, adapt) in cases {
        let mut net = Network::new(1);
        let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
        server.config.client_authentication = ClientAuthentication::None;
        adapt(&mut client);
        net.hook(altering(SERVER, SERVER_HELLO, move |_, body| {
            let mut hello = Hello::of_server(body);
            change(&mut hello);
            *body = hello.emit();
        }));
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        let hello = Hello::of_client(&sent(&net, CLIENT, CLIENT_HELLO)[0]);
        assert_eq!(hello.extension(CLIENT_CERTIFICATE_TYPE), None);
        assert_refused(
            case,
            &net,
            [&client, &server],
            CLIENT,
            Fatal::UnsupportedExtension,
        );
    }
}

/// RFC 5246 section 7.4.1.3: what a client overlooks. A session_id means nothing to it, renegotiation_info and the point
/// formats may be missing.
#[test]
fn server_hellos_that_are_taken() {
    let cases: [(&str, Change); 4] = [
        ("a session that could be resumed", |hello| {
            hello.session_id = vec![7; 32];
        }),
        ("no renegotiation_info (RFC 5746 3.4)", |hello| {
            hello.remove(RENEGOTIATION_INFO);
        }),
        ("no point formats (RFC 8422 5.2)", |hello| {
            hello.remove(EC_POINT_FORMATS);
        }),
        ("all point formats", |hello| {
            hello.set(EC_POINT_FORMATS, &[3, 2, 1, 0]);
        }),
    ];
    for (case, change) in cases {
        let (net, client, _) = with_server_hello(change);
        let answer = sent(&net, CLIENT, CLIENT_KEY_EXCHANGE);
        assert!(!answer.is_empty(), "{case}: {:?}", client.seen);
    }
}

/// RFC 7627 section 5.2: with a config that allows it, either side goes on without the extension, and a server does not
/// answer what was not asked. But an attacker who takes it away is found out: the keys agree, so that the server can open the
/// client's Finished, and Finished covers what was said.
#[test]
fn taking_the_extended_master_secret_away_is_found_out() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Nothing, Kind::Raw);
    for peer in [&mut client, &mut server] {
        peer.config.allow_legacy_master_secret = true;
    }
    net.hook(altering(CLIENT, CLIENT_HELLO, |_, body| {
        let mut hello = Hello::of_client(body);
        hello.remove(EXTENDED_MASTER_SECRET);
        *body = hello.emit();
    }));
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    let answer = Hello::of_server(&sent(&net, SERVER, SERVER_HELLO)[0]);
    assert_eq!(answer.extension(EXTENDED_MASTER_SECRET), None);
    assert_eq!(client.machine.secrets, server.machine.secrets);
    assert_refused(
        "legacy",
        &net,
        [&client, &server],
        SERVER,
        Fatal::BadFinished,
    );
}

/// Everything that a ClientHello of ours says: version 1.2 and nothing below (RFC 7925 section 18), no session, null
/// compression (section 8), no truncated_hmac or encrypt-then-MAC (section 13), signature algorithms (section 5), the octets
/// of RFC 8422 section 5.1.2, and the extended master secret (RFC 7627 section 5.2).
#[test]
fn what_a_client_hello_says() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    let hellos = sent(&net, CLIENT, CLIENT_HELLO);
    assert_eq!(hellos.len(), 2);
    let [first, mut second] = [0, 1].map(|n| Hello::of_client(&hellos[n]));
    assert_eq!(first.version, [254, 253]);
    assert_eq!(first.session_id, []);
    assert_eq!(first.cookie, Some(vec![]));
    assert_eq!(
        first.suites,
        [
            ECDHE_ECDSA_WITH_AES_128_CCM_8,
            EMPTY_RENEGOTIATION_INFO_SCSV
        ]
    );
    assert_eq!(first.compression, [0]);
    let expected: [(u16, &[u8]); 6] = [
        (EXTENDED_MASTER_SECRET, &[]),
        (SUPPORTED_GROUPS, &[0, 2, 0, 23]),
        (EC_POINT_FORMATS, &[1, 0]),
        (SIGNATURE_ALGORITHMS, &[0, 2, 4, 3]),
        (CLIENT_CERTIFICATE_TYPE, &[1, 2]),
        (SERVER_CERTIFICATE_TYPE, &[1, 2]),
    ];
    assert_eq!(
        first.extensions,
        expected.map(|(kind, content)| (kind, content.to_vec()))
    );
    // RFC 6347 section 4.2.1: the second differs in the cookie, and in nothing else.
    assert_eq!(
        second.cookie.replace(vec![]).map(|cookie| cookie.len()),
        Some(16)
    );
    assert_eq!(second, first);
}

/// RFC 5246 section 7.4.4, RFC 8422 section 5.5: ECDSA with SHA-256, and any authority.
#[test]
fn what_a_certificate_request_says() {
    for kind in [Kind::Raw, Kind::X509] {
        let mut net = Network::new(1);
        let (mut client, mut server) = pair(&net, kind, kind);
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        let requests = sent(&net, SERVER, CERTIFICATE_REQUEST);
        assert_eq!(requests, [[1, 64, 0, 2, 4, 3, 0, 0]]);
    }
}

/// RFC 8422 section 3, RFC 5246 section 7.4.6: a client that cannot do what the request wants shows nothing, and then signs
/// nothing. It still sends its ClientKeyExchange.
#[test]
fn a_request_that_does_not_suit_is_answered_with_nothing() {
    let requests: [(&str, &'static [u8]); 3] = [
        ("RSA keys", &[1, 1, 0, 2, 4, 3, 0, 0]),
        ("SHA-384", &[1, 64, 0, 2, 5, 3, 0, 0]),
        ("SHA-1", &[2, 1, 64, 0, 4, 2, 1, 2, 3, 0, 0]),
    ];
    for (case, request) in requests {
        let mut net = Network::new(1);
        let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
        net.hook(altering(SERVER, CERTIFICATE_REQUEST, move |_, body| {
            *body = request.to_vec();
        }));
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        assert_eq!(sent(&net, CLIENT, CERTIFICATE)[0], [0; 3], "{case}");
        assert_eq!(
            sent(&net, CLIENT, CLIENT_KEY_EXCHANGE)[0].len(),
            66,
            "{case}"
        );
        assert!(sent(&net, CLIENT, CERTIFICATE_VERIFY).is_empty(), "{case}");
        assert_refused(case, &net, [&client, &server], SERVER, Fatal::PeerAnonymous);
    }
}
/// … and one that wants more than enough, from authorities that it names, is answered.
#[test]
fn a_request_with_choices_is_answered() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    net.hook(altering(SERVER, CERTIFICATE_REQUEST, |_, body| {
        *body = vec![
            3, 1, 2, 64, 0, 4, 8, 4, 4, 3, 0, 8, 0, 2, 0x30, 0, 0, 2, 0x30, 0,
        ];
    }));
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(
        sent(&net, CLIENT, CERTIFICATE)[0][3..],
        dtls_tests::CLIENT.spki
    );
    // The two saw different requests: what the client signs is not what the server verifies.
    assert_refused(
        "choices",
        &net,
        [&client, &server],
        SERVER,
        Fatal::BadSignature,
    );
}
