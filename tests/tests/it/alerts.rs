//! Alerts: which error sends which, and what those that come in do (RFC 5246 section 7.2, RFC 7925 section 6).

use crate::{CLIENT, SERVER, altering, assert_works, pair, to_datagram};
use dtls_core::{AlertDescription, CryptoError, Fatal, Micros, Operation, SendError};
use dtls_tests::wire::{
    self, ALERT, APPLICATION_DATA, CERTIFICATE, CERTIFICATE_REQUEST, CERTIFICATE_VERIFY,
    CLIENT_HELLO, CLIENT_KEY_EXCHANGE, HANDSHAKE, HELLO_VERIFY_REQUEST, SERVER_HELLO,
    SERVER_HELLO_DONE, SERVER_KEY_EXCHANGE,
};
use dtls_tests::{Fate, Insider, Kind, Network, Peer, Seen, Side, address};

/// `by` has ended the handshake with `fatal` and sent its alert, once, in plaintext; the other one has heard of it, and
/// nobody has connected. RFC 7925 section 6: certificate alerts are for certificates, but for the one that RFC 7250
/// section 4.2 demands.
pub(crate) fn assert_refused(
    case: &str,
    net: &Network,
    [client, server]: [&Peer; 2],
    by: u16,
    fatal: Fatal,
) {
    assert_eq!(
        [client.connected(), server.connected()],
        [None; 2],
        "{case}"
    );
    let (refuser, other) = if by == CLIENT {
        (client, server)
    } else {
        (server, client)
    };
    assert_eq!(refuser.seen, [Seen::Failed(fatal)], "{case}");
    let alert = fatal.alert().expect("one that is sent");
    let from_refuser = net.log.iter().filter(|sent| sent.from == address(by));
    let alerts: Vec<_> = from_refuser
        .flat_map(|sent| wire::alerts(&sent.bytes))
        .collect();
    assert_eq!(alerts, [(2, alert.0)], "{case}");
    // Whoever had not asked anything yet at the other side hears nothing.
    let heard = [
        Seen::PlaintextAlert(alert),
        Seen::Failed(Fatal::AlertReceived(alert)),
    ];
    assert!(other.seen == heard, "{case}: {:?}", other.seen);
    assert!(
        client.workspace.is_vacant() && server.workspace.is_vacant(),
        "{case}"
    );
}

/// Runs a handshake of two with this kind of credential, in which one type of message is altered.
fn refuse(
    case: &str,
    kind: Kind,
    (from, message): (u16, u8),
    change: fn(&mut u8, &mut Vec<u8>),
    fatal: Fatal,
) {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, kind, kind);
    net.hook(altering(from, message, change));
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    let by = if from == CLIENT { SERVER } else { CLIENT };
    assert_refused(case, &net, [&client, &server], by, fatal);
}

/// The whole table.
#[test]
fn every_error_has_its_alert() {
    use dtls_core::AlertDescription as Alert;
    let table = [
        (Fatal::Decode, Some(Alert::DECODE_ERROR)),
        (Fatal::UnexpectedMessage, Some(Alert::UNEXPECTED_MESSAGE)),
        (Fatal::IllegalParameter, Some(Alert::ILLEGAL_PARAMETER)),
        (
            Fatal::UnsupportedExtension,
            Some(Alert::UNSUPPORTED_EXTENSION),
        ),
        (Fatal::ProtocolVersion, Some(Alert::PROTOCOL_VERSION)),
        (Fatal::NothingInCommon, Some(Alert::HANDSHAKE_FAILURE)),
        (
            Fatal::NoCommonCertificateType,
            Some(Alert::UNSUPPORTED_CERTIFICATE),
        ),
        (Fatal::BadCertificate, Some(Alert::BAD_CERTIFICATE)),
        (
            Fatal::UnsupportedCertificate,
            Some(Alert::UNSUPPORTED_CERTIFICATE),
        ),
        (Fatal::PeerAnonymous, Some(Alert::HANDSHAKE_FAILURE)),
        (Fatal::PeerRefused, Some(Alert::HANDSHAKE_FAILURE)),
        (Fatal::CertificateRefused, Some(Alert::CERTIFICATE_UNKNOWN)),
        (Fatal::BadSignature, Some(Alert::DECRYPT_ERROR)),
        (Fatal::BadFinished, Some(Alert::DECRYPT_ERROR)),
        (Fatal::Credential, Some(Alert::INTERNAL_ERROR)),
        (Fatal::Crypto, Some(Alert::INTERNAL_ERROR)),
        (Fatal::AlertReceived(Alert::CLOSE_NOTIFY), None),
        (Fatal::TimedOut, None),
        (Fatal::MessageTooLarge(1), None),
    ];
    for (fatal, alert) in table {
        assert_eq!(fatal.alert(), alert, "{fatal:?}");
    }
}

/// What a server can send instead of what it should, and what a client says to that.
#[test]
fn what_a_client_refuses() {
    use Fatal::{Decode, IllegalParameter, NothingInCommon, PeerAnonymous, UnexpectedMessage};
    type Case = (&'static str, u8, fn(&mut u8, &mut Vec<u8>), Fatal);
    let cases: [Case; 23] = [
        // RFC 5246 section 7.3: the order of messages
        (
            "a Certificate for a hello",
            SERVER_HELLO,
            |kind, _| *kind = CERTIFICATE,
            UnexpectedMessage,
        ),
        (
            "a ServerHelloDone for a hello",
            SERVER_HELLO,
            |kind, _| *kind = SERVER_HELLO_DONE,
            UnexpectedMessage,
        ),
        (
            "no Certificate",
            CERTIFICATE,
            |kind, _| *kind = SERVER_KEY_EXCHANGE,
            UnexpectedMessage,
        ),
        (
            "no ServerKeyExchange",
            SERVER_KEY_EXCHANGE,
            |kind, _| *kind = CERTIFICATE_REQUEST,
            UnexpectedMessage,
        ),
        (
            "a message nobody knows",
            SERVER_KEY_EXCHANGE,
            |kind, _| *kind = 99,
            UnexpectedMessage,
        ),
        (
            "a late HelloVerifyRequest",
            CERTIFICATE,
            |kind, _| *kind = HELLO_VERIFY_REQUEST,
            UnexpectedMessage,
        ),
        (
            "two requests",
            SERVER_HELLO_DONE,
            |kind, body| {
                *kind = CERTIFICATE_REQUEST;
                *body = vec![1, 64, 0, 2, 4, 3, 0, 0];
            },
            UnexpectedMessage,
        ),
        // RFC 5246 sections 7.4.2 to 7.4.5
        (
            "an empty Certificate",
            CERTIFICATE,
            |_, body| *body = vec![0; 3],
            PeerAnonymous,
        ),
        (
            "a Certificate with something behind",
            CERTIFICATE,
            |_, body| body.push(0),
            Decode,
        ),
        (
            "a raw key that is none (RFC 7925 6)",
            CERTIFICATE,
            |_, body| body[3] = 0x31,
            Decode,
        ),
        (
            "a raw key on another curve",
            CERTIFICATE,
            |_, body| body[25] ^= 1,
            NothingInCommon,
        ),
        (
            "a raw key that is compressed (RFC 7925 4.4)",
            CERTIFICATE,
            |_, body| body[29] = 2,
            NothingInCommon,
        ),
        (
            "explicit curves (RFC 8422 5.4)",
            SERVER_KEY_EXCHANGE,
            |_, body| body[0] = 1,
            IllegalParameter,
        ),
        (
            "another curve",
            SERVER_KEY_EXCHANGE,
            |_, body| body[2] = 24,
            IllegalParameter,
        ),
        (
            "a compressed point (RFC 8422 5.4.1)",
            SERVER_KEY_EXCHANGE,
            |_, body| body[4] = 3,
            IllegalParameter,
        ),
        (
            "a short point",
            SERVER_KEY_EXCHANGE,
            |_, body| {
                body.remove(5);
                body[3] = 64;
            },
            IllegalParameter,
        ),
        (
            "a signature that was not offered",
            SERVER_KEY_EXCHANGE,
            |_, body| body[69] = 5,
            IllegalParameter,
        ),
        (
            "a signature that is not DER",
            SERVER_KEY_EXCHANGE,
            |_, body| body[73] = 0x31,
            Decode,
        ),
        (
            "a signature with something behind",
            SERVER_KEY_EXCHANGE,
            |_, body| body.push(0),
            Decode,
        ),
        (
            "a wrong signature (RFC 8422 5.4)",
            SERVER_KEY_EXCHANGE,
            |_, body| body[30] ^= 1,
            Fatal::BadSignature,
        ),
        (
            "a request for nothing",
            CERTIFICATE_REQUEST,
            |_, body| *body = vec![0, 0, 2, 4, 3, 0, 0],
            Decode,
        ),
        (
            "a request with half an algorithm",
            CERTIFICATE_REQUEST,
            |_, body| {
                *body = vec![1, 64, 0, 3, 4, 3, 4, 0, 0];
            },
            Decode,
        ),
        (
            "a ServerHelloDone with a body",
            SERVER_HELLO_DONE,
            |_, body| body.push(0),
            Decode,
        ),
    ];
    for (case, message, change, fatal) in cases {
        refuse(case, Kind::Raw, (SERVER, message), change, fatal);
    }
}

/// RFC 6347 section 4.2.1: a HelloVerifyRequest that is malformed, and one too many. The gate has no handshake that could
/// hear of it.
#[test]
fn hello_verify_requests_that_are_refused() {
    type Change = fn(&mut Vec<u8>);
    let cases: [(&str, Change); 2] = [
        ("something behind", |body| body.push(0)),
        ("cut off", |body| body.truncate(body.len() - 1)),
    ];
    for (case, change) in cases {
        let mut net = Network::new(1);
        let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
        net.hook(altering(SERVER, HELLO_VERIFY_REQUEST, move |_, body| {
            change(body);
        }));
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        assert_eq!(client.seen, [Seen::Failed(Fatal::Decode)], "{case}");
        assert_eq!(wire::alerts(&net.log[2].bytes), [(2, 50)], "{case}");
    }
    // A cookie that never suits: the gate goes on asking, the client does not.
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    net.hook(altering(SERVER, HELLO_VERIFY_REQUEST, |_, body| {
        body[5] ^= 1;
    }));
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(client.seen, [Seen::Failed(Fatal::UnexpectedMessage)]);
    assert!(net.log.len() < 16, "{}", net.log.len());
}

/// What a client can send instead of what it should, and what a server says to that.
#[test]
fn what_a_server_refuses() {
    use Fatal::{Decode, IllegalParameter, NothingInCommon, PeerAnonymous, UnexpectedMessage};
    type Case = (&'static str, u8, fn(&mut u8, &mut Vec<u8>), Fatal);
    let cases: [Case; 15] = [
        (
            "no Certificate",
            CERTIFICATE,
            |kind, _| *kind = CLIENT_KEY_EXCHANGE,
            UnexpectedMessage,
        ),
        (
            "no ClientKeyExchange (RFC 5246 7.4.7)",
            CLIENT_KEY_EXCHANGE,
            |kind, _| *kind = CERTIFICATE_VERIFY,
            UnexpectedMessage,
        ),
        (
            "no CertificateVerify (RFC 5246 7.4.8)",
            CERTIFICATE_VERIFY,
            |kind, _| *kind = CERTIFICATE,
            UnexpectedMessage,
        ),
        (
            "a ServerHello from a client",
            CERTIFICATE,
            |kind, _| *kind = SERVER_HELLO,
            UnexpectedMessage,
        ),
        (
            "an empty Certificate (RFC 5246 7.4.6)",
            CERTIFICATE,
            |_, body| *body = vec![0; 3],
            PeerAnonymous,
        ),
        (
            "a Certificate that is cut off",
            CERTIFICATE,
            |_, body| body.truncate(body.len() - 1),
            Decode,
        ),
        (
            "a raw key that is none (RFC 7925 6)",
            CERTIFICATE,
            |_, body| body[3] = 0x31,
            Decode,
        ),
        (
            "a raw key on another curve",
            CERTIFICATE,
            |_, body| body[25] ^= 1,
            NothingInCommon,
        ),
        (
            "a key exchange with something behind",
            CLIENT_KEY_EXCHANGE,
            |_, body| body.push(0),
            Decode,
        ),
        (
            "a compressed point",
            CLIENT_KEY_EXCHANGE,
            |_, body| body[1] = 2,
            IllegalParameter,
        ),
        (
            "a hybrid point",
            CLIENT_KEY_EXCHANGE,
            |_, body| body[1] = 6,
            IllegalParameter,
        ),
        (
            "an empty point",
            CLIENT_KEY_EXCHANGE,
            |_, body| *body = vec![0],
            IllegalParameter,
        ),
        (
            "a signature that was not asked for",
            CERTIFICATE_VERIFY,
            |_, body| body[0] = 5,
            IllegalParameter,
        ),
        (
            "a signature that is not DER",
            CERTIFICATE_VERIFY,
            |_, body| body[4] = 0x31,
            Decode,
        ),
        (
            "a signature with something behind",
            CERTIFICATE_VERIFY,
            |_, body| body.push(0),
            Decode,
        ),
    ];
    for (case, message, change, fatal) in cases {
        refuse(case, Kind::Raw, (CLIENT, message), change, fatal);
    }
}

/// RFC 5246 section 7.2.2: certificates have alerts of their own.
#[test]
fn certificates_that_are_refused() {
    for from in [CLIENT, SERVER] {
        refuse(
            "no certificate",
            Kind::X509,
            (from, CERTIFICATE),
            |_, body| body[6] = 0x31,
            Fatal::BadCertificate,
        );
        refuse(
            "an empty certificate",
            Kind::X509,
            (from, CERTIFICATE),
            |_, body| *body = vec![0, 0, 3, 0, 0, 0],
            Fatal::Decode,
        );
        refuse(
            "something behind",
            Kind::X509,
            (from, CERTIFICATE),
            |_, body| body.push(0),
            Fatal::Decode,
        );
        refuse(
            "another curve",
            Kind::X509,
            (from, CERTIFICATE),
            |_, body| {
                let prime256v1 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
                let at = body
                    .windows(8)
                    .position(|bytes| bytes == prime256v1)
                    .expect("a key on P-256");
                body[at + 7] = 1;
            },
            Fatal::UnsupportedCertificate,
        );
    }
}

/// RFC 8422 section 5.11: a point that is not on the curve. The server's is signed, so that only its engine can make one; the
/// client's is not.
#[test]
fn points_off_the_curve_are_refused() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Nothing, Kind::Raw);
    net.hook(altering(CLIENT, CLIENT_KEY_EXCHANGE, |_, body| {
        body[65] ^= 1;
    }));
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_refused(
        "the client's",
        &net,
        [&client, &server],
        SERVER,
        Fatal::IllegalParameter,
    );

    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    client.engine.failing = Some((Operation::Agree, CryptoError::Invalid));
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_refused(
        "the server's",
        &net,
        [&client, &server],
        CLIENT,
        Fatal::IllegalParameter,
    );
}

/// RFC 5246 section 7.2.2, internal_error: our own engine fails, whatever it was asked.
#[test]
fn an_engine_that_fails_is_an_internal_error() {
    for by in [CLIENT, SERVER] {
        for operation in [
            Operation::Generate,
            Operation::Agree,
            Operation::Sign,
            Operation::Verify,
        ] {
            let mut net = Network::new(1);
            let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
            let engine = if by == CLIENT {
                &mut client.engine
            } else {
                &mut server.engine
            };
            engine.failing = Some((operation, CryptoError::Failed));
            client.connect(&server);
            net.run(&mut [&mut client, &mut server]);
            let case = format!("{by} {operation:?}");
            assert_refused(&case, &net, [&client, &server], by, Fatal::Crypto);
        }
    }
}

/// RFC 6347 section 4.2.7: an alert is not repeated by any timer; and section 4.1: its record has a number of its own.
#[test]
fn an_alert_is_sent_once_under_a_number_of_its_own() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    net.hook(altering(SERVER, SERVER_HELLO_DONE, |_, body| body.push(0)));
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    net.run_for(Micros::from_secs(600), &mut [&mut client, &mut server]);
    let sent = net.log.iter().filter(|sent| sent.from == address(CLIENT));
    let records: Vec<_> = sent
        .flat_map(|sent| {
            let records = wire::records(&sent.bytes).into_iter();
            records
                .map(|record| (record.kind, sent.bytes[record.range][3..11].to_vec()))
                .collect::<Vec<_>>()
        })
        .collect();
    let numbers: Vec<_> = records.iter().map(|(_, number)| number.clone()).collect();
    let expected: Vec<_> = (0..u8::try_from(numbers.len()).unwrap())
        .map(|n| vec![0, 0, 0, 0, 0, 0, 0, n])
        .collect();
    assert_eq!(numbers, expected);
    let kinds: Vec<_> = records.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds.iter().filter(|&&kind| kind == ALERT).count(), 1);
    assert_eq!(kinds.last(), Some(&ALERT));
}

/// Two who are connected, and somebody who knows their keys.
fn with_insider(net: &mut Network) -> (Peer, Peer, Insider) {
    let (mut client, mut server) = pair(net, Kind::Raw, Kind::Raw);
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_works(net, &mut client, &mut server);
    let insider = Insider::new(net, &client.machine.secrets[0]);
    (client, server, insider)
}

/// Sends a sealed record to one of the two; returns what was sent because of it: kinds of records and who sent them.
fn inject(
    net: &mut Network,
    [client, server]: [&mut Peer; 2],
    (side, record): (Side, &[u8]),
) -> Vec<(u8, u16)> {
    let [from, to] = match side {
        Side::Client => [CLIENT, SERVER],
        Side::Server => [SERVER, CLIENT],
    };
    let before = net.log.len();
    net.inject(address(from), address(to), record);
    net.run(&mut [client, server]);
    let records = net.log[before..]
        .iter()
        .flat_map(|sent| wire::records(&sent.bytes));
    records.map(|record| (record.kind, record.epoch)).collect()
}

/// RFC 5246 section 7.2.2: a fatal alert ends the association at once, whatever it says (RFC 7925 section 6 names three to be
/// prepared for); nothing is answered.
#[test]
fn a_fatal_alert_ends_an_association() {
    let alerts = [
        AlertDescription::PROTOCOL_VERSION,
        AlertDescription::INSUFFICIENT_SECURITY,
        AlertDescription::USER_CANCELED,
        AlertDescription::BAD_RECORD_MAC,
        AlertDescription(222),
    ];
    for alert in alerts {
        for side in [Side::Client, Side::Server] {
            let mut net = Network::new(1);
            let (mut client, mut server, insider) = with_insider(&mut net);
            let record = insider.seal(side, 40, ALERT, &[2, alert.0]);
            let answers = inject(&mut net, [&mut client, &mut server], (side, &record));
            assert_eq!(answers, [], "{alert}");
            let victim = if side == Side::Client {
                &mut server
            } else {
                &mut client
            };
            assert_eq!(victim.seen.last(), Some(&Seen::Closed(alert)));
            assert_eq!(victim.send(b"no more"), Err(SendError::Closed));
        }
    }
}

/// RFC 5246 section 7.2.2: warnings are ignored, known or not; so is what is no alert.
#[test]
fn warnings_are_ignored() {
    let mut net = Network::new(1);
    let (mut client, mut server, insider) = with_insider(&mut net);
    let (before, mut sequence) = ([client.seen.len(), server.seen.len()], 40);
    for body in [
        &[1, 90][..],
        &[1, 100],
        &[1, 112],
        &[1, 222],
        &[3, 40],
        &[0, 40],
        &[2],
        &[2, 40, 0],
        &[],
    ] {
        for side in [Side::Client, Side::Server] {
            let record = insider.seal(side, sequence, ALERT, body);
            let answers = inject(&mut net, [&mut client, &mut server], (side, &record));
            assert_eq!(answers, [], "{body:?}");
        }
        sequence += 1;
    }
    assert_eq!([client.seen.len(), server.seen.len()], before);
    assert_works(&mut net, &mut client, &mut server);
}

/// RFC 5246 section 7.2.1: close_notify is answered at whatever level it comes, and what comes after it is ignored.
#[test]
fn nothing_counts_after_close_notify() {
    for level in [1, 2] {
        for side in [Side::Client, Side::Server] {
            let mut net = Network::new(1);
            let (mut client, mut server, insider) = with_insider(&mut net);
            let record = insider.seal(side, 40, ALERT, &[level, 0]);
            let answers = inject(&mut net, [&mut client, &mut server], (side, &record));
            // The answer goes to the true peer, who has to answer in its turn.
            assert_eq!(answers, [(ALERT, 1); 2]);
            let record = insider.seal(side, 41, APPLICATION_DATA, b"too late");
            let before = [client.received().len(), server.received().len()];
            assert_eq!(
                inject(&mut net, [&mut client, &mut server], (side, &record)),
                []
            );
            assert_eq!([client.received().len(), server.received().len()], before);
            let closed = Some(&Seen::Closed(AlertDescription::CLOSE_NOTIFY));
            assert_eq!([client.seen.last(), server.seen.last()], [closed; 2]);
        }
    }
}

/// An authentic HelloRequest or ClientHello asks for a renegotiation, which does not exist (RFC 7925 section 17, RFC 5746
/// sections 4.2 and 4.5): it is refused with a warning, but not without end, and the association goes on.
#[test]
fn renegotiation_is_refused() {
    for (side, kind) in [(Side::Server, 0), (Side::Client, CLIENT_HELLO)] {
        let mut net = Network::new(1);
        let (mut client, mut server, insider) = with_insider(&mut net);
        let mut refusals = 0;
        for sequence in 40..60 {
            let message = [kind, 0, 0, 0, 0, sequence, 0, 0, 0, 0, 0, 0];
            let record = insider.seal(side, sequence, HANDSHAKE, &message);
            let answers = inject(&mut net, [&mut client, &mut server], (side, &record));
            assert!(
                [&[][..], &[(ALERT, 1)]].contains(&&answers[..]),
                "{answers:?}"
            );
            refusals += answers.len();
        }
        assert_eq!(refusals, 8);
        assert!(client.workspace.is_vacant() && server.workspace.is_vacant());
        assert_works(&mut net, &mut client, &mut server);
    }
}

/// … and in plaintext it is not even answered.
#[test]
fn a_plaintext_hello_request_is_ignored() {
    let mut net = Network::new(1);
    let (mut client, mut server, _) = with_insider(&mut net);
    for seq in 0..10u8 {
        let record = wire::forged(HANDSHAKE, 50, &[0, 0, 0, 0, 0, seq, 0, 0, 0, 0, 0, 0]);
        assert_eq!(
            inject(
                &mut net,
                [&mut client, &mut server],
                (Side::Server, &record)
            ),
            []
        );
    }
    assert_works(&mut net, &mut client, &mut server);
}

/// An authentic alert in the middle of a handshake, under the new keys: this one can be believed at once.
#[test]
fn an_alert_under_the_new_keys_ends_a_handshake() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    net.hook(to_datagram(SERVER, 2, Fate::Drop));
    client.connect(&server);
    net.run_for(Micros::from_millis(70), &mut [&mut client, &mut server]);
    assert_eq!(client.connected(), None);
    let insider = Insider::new(&net, &client.machine.secrets[0]);
    let record = insider.seal(Side::Server, 9, ALERT, &[1, 90]);
    net.inject(address(SERVER), address(CLIENT), &record);
    net.run_for(Micros::from_millis(20), &mut [&mut client, &mut server]);
    assert_eq!(client.seen, [], "a warning ends nothing");
    let record = insider.seal(Side::Server, 10, ALERT, &[2, 80]);
    net.inject(address(SERVER), address(CLIENT), &record);
    net.run_for(Micros::from_millis(20), &mut [&mut client, &mut server]);
    let fatal = Fatal::AlertReceived(AlertDescription::INTERNAL_ERROR);
    assert_eq!(client.seen, [Seen::Failed(fatal)]);
    assert!(client.workspace.is_vacant());
}

/// RFC 5246 section 7.4.9: a server's Finished that is wrong. The client's alert is protected, for its ChangeCipherSpec has
/// gone out.
#[test]
fn a_wrong_finished_is_refused_under_the_new_keys() {
    for (body, alert) in [
        (&[7; 12][..], AlertDescription::DECRYPT_ERROR),
        (&[7; 13], AlertDescription::DECODE_ERROR),
    ] {
        let mut net = Network::new(1);
        let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
        net.hook(to_datagram(SERVER, 2, Fate::Drop));
        client.connect(&server);
        net.run_for(Micros::from_millis(70), &mut [&mut client, &mut server]);
        let insider = Insider::new(&net, &client.machine.secrets[0]);
        let n = u8::try_from(body.len()).unwrap();
        let mut message = vec![20, 0, 0, n, 0, 6, 0, 0, 0, 0, 0, n];
        message.extend(body);
        net.inject(
            address(SERVER),
            address(CLIENT),
            &wire::forged(20, 60, &[1]),
        );
        net.inject(
            address(SERVER),
            address(CLIENT),
            &insider.seal(Side::Server, 9, HANDSHAKE, &message),
        );
        net.run_for(Micros::from_millis(20), &mut [&mut client, &mut server]);
        assert_eq!(client.connected(), None);
        assert_eq!(client.failure().and_then(Fatal::alert), Some(alert));
        let last = net.log.last().unwrap();
        assert_eq!(wire::records(&last.bytes)[0].epoch, 1);
        assert_eq!(server.seen.last(), Some(&Seen::Closed(alert)));
    }
}
