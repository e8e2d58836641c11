//! Happy paths.

use crate::{CLIENT, SERVER, assert_works, pair};
use dtls_core::{ClientAuthentication, Fatal, PeerId};
use dtls_tests::wire::{self, CLIENT_HELLO, SERVER_HELLO};
use dtls_tests::{Fate, Gateway, Kind, Network, Peer, Seen, address, client_config, server_config};

/// RFC 6347 figure 1, RFC 7250 and RFC 5246 section 7.4: each kind of server with each kind of client.
#[test]
fn every_combination_connects() {
    for server_kind in [Kind::Raw, Kind::X509] {
        for client_kind in [Kind::Nothing, Kind::Raw, Kind::X509] {
            for gate in [true, false] {
                let mut net = Network::new(1);
                let (mut client, mut server) = pair(&net, client_kind, server_kind);
                if !gate {
                    server = server.without_gate();
                }
                client.connect(&server);
                net.run(&mut [&mut client, &mut server]);
                let case = format!("{server_kind:?} {client_kind:?} {gate}");
                assert_eq!(client.seen, [Seen::Connected(PeerId(0))], "{case}");
                let expected = PeerId(if client_kind == Kind::Nothing { 7 } else { 0 });
                assert_eq!(server.seen, [Seen::Connected(expected)], "{case}");
                assert_eq!(net.log.len(), if gate { 6 } else { 4 }, "{case}");
                assert_works(&mut net, &mut client, &mut server);
            }
        }
    }
}

/// RFC 5246 section 7.4.6: a client without a certificate sends an empty list; the server's caller decides.
#[test]
fn an_optional_client_stays_anonymous() {
    let mut net = Network::new(2);
    let (mut client, mut server) = pair(&net, Kind::Nothing, Kind::Raw);
    server.config = server_config(Kind::Raw, Kind::Raw);
    server.config.client_authentication = ClientAuthentication::Optional;
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(server.seen, [Seen::Connected(PeerId(7))]);
    assert_works(&mut net, &mut client, &mut server);
}

/// RFC 7250 section 4.2: the server picks a kind that the client names.
#[test]
fn the_kind_that_both_know_is_taken() {
    for kind in [Kind::Raw, Kind::X509] {
        let mut net = Network::new(3);
        let (mut client, mut server) = pair(&net, Kind::Nothing, kind);
        let both = [
            dtls_tests::SERVER.credentials(Kind::Raw)[0],
            dtls_tests::SERVER.credentials(Kind::X509)[0],
        ];
        server.config.credentials = Box::leak(Box::new(both));
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        assert_works(&mut net, &mut client, &mut server);
    }
}

#[test]
fn a_table_of_peers_serves_many_at_once() {
    let mut net = Network::new(4);
    let config = server_config(Kind::Raw, Kind::Raw);
    let mut server = Gateway::new(&net, SERVER, config, 8, 8);
    let mut clients: Vec<_> = (2..10)
        .map(|number| Peer::client(&net, number, client_config(Kind::Raw, Kind::Raw)))
        .collect();
    let mut all: Vec<&mut dyn dtls_tests::Endpoint> = Vec::new();
    for client in &mut clients {
        client.connect(&server);
        client.send_raw(b"noise");
        all.push(client);
    }
    all.push(&mut server);
    net.run(&mut all);
    assert_eq!(server.table.occupancy(), (8, 0));
    for client in &mut clients {
        assert_eq!(client.connected(), Some(PeerId(0)));
        let own = client.machine.secrets[0];
        client.send(&own[..4]).unwrap();
        net.run(&mut [client, &mut server]);
    }
    for (number, client) in (2..).zip(&clients) {
        assert_eq!(
            server.received(address(number)),
            [&client.machine.secrets[0][..4]]
        );
    }
}

/// RFC 7627 section 5.3: a client that does not offer the extended master secret is refused unless the config allows it.
#[test]
fn a_client_without_extended_master_secret_is_refused() {
    let mut net = Network::new(5);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    net.hook(|datagram| rename_extended_master_secret(datagram.bytes, CLIENT_HELLO));
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(server.failure(), Some(Fatal::NothingInCommon));
    assert_eq!(client.connected(), None);
}

/// RFC 7627 section 5.2: a client that offered it refuses a server that does not echo it. What it gets instead here was
/// not asked for (RFC 5246 section 7.4.1.4).
#[test]
fn a_server_without_extended_master_secret_is_refused() {
    let mut net = Network::new(6);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    net.hook(|datagram| rename_extended_master_secret(datagram.bytes, SERVER_HELLO));
    client.connect(&server);
    net.run(&mut [&mut client, &mut server]);
    assert_eq!(client.failure(), Some(Fatal::UnsupportedExtension));
    assert_eq!(server.connected(), None);
}

fn rename_extended_master_secret(datagram: &mut [u8], kind: u8) -> Fate {
    for message in wire::messages(datagram) {
        let body = &mut datagram[message.range];
        let extension = body.windows(4).rposition(|bytes| bytes == [0, 0x17, 0, 0]);
        if let (true, Some(at)) = (message.kind == kind, extension) {
            body[at] = 0xee;
        }
    }
    Fate::Pass
}

/// Two who connect twice have two different sets of keys, and the old association makes room for the new one.
#[test]
fn a_second_handshake_replaces_the_association() {
    let mut net = Network::new(7);
    let (mut client, mut server) = pair(&net, Kind::Raw, Kind::Raw);
    for _ in 0..2 {
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        assert_works(&mut net, &mut client, &mut server);
    }
    let [first, second] = client.machine.secrets[..] else {
        panic!("two handshakes: {:?}", client.seen)
    };
    assert_ne!(first, second);
    assert_eq!(net.log[0].from, address(CLIENT));
}
