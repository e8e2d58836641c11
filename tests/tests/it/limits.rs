//! How far one set of keys is used (RFC 9147 section 4.5.3, which RFC 6347 does not have), and what is new in each handshake.

use crate::{SERVER, altering, pair};
use dtls_core::crypto::rustcrypto::SoftSymmetric;
use dtls_core::{
    Association, Connection, Datagram, Event, Fatal, Instant, Limits, NoProbe, Parts, SendError,
    Workspace,
};
use dtls_tests::wire::{self, CLIENT_KEY_EXCHANGE, SERVER_KEY_EXCHANGE};
use dtls_tests::{Kind, Machine, Network, Peer, client_config};
use rand_core::{TryCryptoRng, TryRng};

const LIMITS: Limits = Limits {
    sealed: 8,
    forged: 8,
};

fn connected(net: &mut Network) -> (Peer, Peer) {
    let (mut client, mut server) = pair(net, Kind::Raw, Kind::Raw);
    client.config.limits = LIMITS;
    server.config.limits = LIMITS;
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    (client, server)
}

fn receive<'d>(
    association: &mut Association,
    machine: &mut Machine,
    bytes: &'d mut [u8],
) -> Option<Event<'d>> {
    association.receive(machine, Instant(0), &mut Datagram::new(bytes))
}

/// RFC 6347 section 4.2.7: who sends nothing but bad records is given up, after a warning at three quarters.
#[test]
fn too_many_forgeries_end_an_association() {
    let mut net = Network::new(1);
    let (mut client, mut server) = connected(&mut net);
    client.send(b"authentic").unwrap();
    let association = server.association.as_mut().unwrap();
    let forged = [23, 254, 253, 0, 1, 0, 0, 0, 0, 0, 99, 0, 16]
        .into_iter()
        .chain([7; 16]);
    let forged: Vec<_> = forged.collect();
    let mut receive = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        match receive(association, &mut server.machine, &mut bytes) {
            None => None,
            Some(Event::RehandshakeDue) => Some("warned"),
            Some(Event::TooManyForgeries) => Some("over"),
            Some(_) => Some("other"),
        }
    };
    for _ in 0..6 {
        assert_eq!(receive(&forged), None);
    }
    assert_eq!(receive(&forged), Some("warned"));
    for _ in 0..2 {
        assert_eq!(receive(&forged), None, "warned once, and not over yet");
    }
    assert_eq!(receive(&forged), Some("over"));
    assert_eq!(receive(&forged), None);
    assert!(association.is_over());
    let mut out = [0; 64];
    let refused = association.send(&mut server.machine, b"no more", &mut out);
    assert_eq!(refused, Err(SendError::Closed));
}

/// RFC 6347 section 4.1: before numbers wrap, and here long before that, a new handshake is due. Alerts still go.
#[test]
fn sealed_records_come_to_an_end() {
    let mut net = Network::new(1);
    let (mut client, mut server) = connected(&mut net);
    // Finished was the first record of each.
    for sent in 1..LIMITS.sealed {
        let due = client.association.as_ref().unwrap().needs_rehandshake();
        assert_eq!(due, sent >= 6, "{sent}");
        client.send(&[7]).unwrap();
    }
    assert_eq!(client.send(&[7]), Err(SendError::Exhausted));
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(server.received().len(), 7);
    client.association.as_mut().unwrap().close();
    net.run(&mut [&mut client, &mut server]);
    assert!(server.association.as_ref().is_none_or(Association::is_over));
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(client.send(&[7]), Ok(()));
}

/// RFC 7925 sections 9 and 12, RFC 5246 appendix F.1.1.3: randoms and ephemeral keys are new in each handshake, and no part
/// of a random tells the time.
#[test]
fn every_handshake_has_its_own_randoms_and_keys() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    for _ in 0..3 {
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
    }
    for (kind, part) in [
        (wire::CLIENT_HELLO, 2..6),
        (wire::SERVER_HELLO, 2..6),
        (wire::SERVER_HELLO, 6..34),
        (SERVER_KEY_EXCHANGE, 4..69),
        (CLIENT_KEY_EXCHANGE, 1..66),
    ] {
        let mut seen: Vec<_> = net
            .log
            .iter()
            .flat_map(|sent| {
                let messages = wire::messages(&sent.bytes).into_iter();
                let of_kind = messages.filter(|message| message.kind == kind);
                of_kind.map(|message| {
                    let body = message.range.start + wire::HANDSHAKE_HEADER;
                    sent.bytes[body..][part.clone()].to_vec()
                })
            })
            .collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 3, "{kind} {part:?}");
    }
}

/// A source of random numbers that is broken.
struct Broken;

impl TryRng for Broken {
    type Error = core::fmt::Error;

    fn try_next_u32(&mut self) -> Result<u32, core::fmt::Error> {
        Err(core::fmt::Error)
    }

    fn try_next_u64(&mut self) -> Result<u64, core::fmt::Error> {
        Err(core::fmt::Error)
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), core::fmt::Error> {
        Err(core::fmt::Error)
    }
}

impl TryCryptoRng for Broken {}

/// RFC 7925 section 12: without random numbers there is no handshake.
#[test]
fn without_random_numbers_there_is_no_handshake() {
    let mut platform = Parts {
        symmetric: SoftSymmetric,
        rng: Broken,
        probe: NoProbe,
    };
    let config = client_config(Kind::Raw, Kind::Raw);
    let mut association = None;
    let mut workspace = Box::new(Workspace::<Parts<_, _>, [u8; 512]>::new());
    let mut connection = Connection::new(&mut association, &mut *workspace, &config);
    assert_eq!(
        connection.connect(&mut platform, Instant(0)),
        Err(Fatal::Crypto)
    );
    assert!(workspace.is_vacant());
}

/// RFC 5246 section 7.4.8: what a client signs is all that was said before, also what says nothing.
#[test]
fn a_signature_covers_all_messages() {
    let mut net = Network::new(1);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    // An answer that may be missing: the client goes on, and signs another transcript.
    net.hook(altering(SERVER, wire::SERVER_HELLO, |_, body| {
        let mut hello = dtls_tests::Hello::of_server(body);
        hello.remove(11);
        *body = hello.emit();
    }));
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(server.failure(), Some(Fatal::BadSignature));
}
