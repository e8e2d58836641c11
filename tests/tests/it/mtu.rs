//! Datagram sizes (RFC 6347 section 4.1.1).

use crate::{CLIENT, assert_works, pair};
use dtls_core::{Connection, Micros, SendError};
use dtls_tests::{Endpoint, Kind, Network, Peer, address, wire};

const KINDS: [(Kind, Kind); 4] = [
    (Kind::Nothing, Kind::Raw),
    (Kind::Raw, Kind::Raw),
    (Kind::Nothing, Kind::X509),
    (Kind::X509, Kind::X509),
];

/// RFC 6347 section 4.1.1.1: nobody sends more than fits, and it connects without a single retransmission.
#[test]
fn no_datagram_exceeds_the_mtu() {
    for mtu in [128, 256, 576, 1280] {
        for (client, server) in KINDS {
            let mut net = Network::new(1);
            let (mut client, mut server) = pair(&net, client, server);
            (client.config.mtu, server.config.mtu) = (mtu, mtu);
            client.connect(&server);
            net.run(&mut [&mut client, &mut server]);
            assert_works(&mut net, &mut client, &mut server);
            let largest = net.log.iter().map(|sent| sent.bytes.len()).max();
            assert!(largest <= Some(mtu.into()), "{largest:?} at MTU {mtu}");
            assert_eq!(
                client.machine.retransmissions() + server.machine.retransmissions(),
                0
            );
        }
    }
}

/// Datagrams of 64 bytes, on a link without cookie exchange. We never fragment a ClientHello, so that one is let through.
#[test]
fn sixty_four_bytes_for_all_but_the_client_hello() {
    for (client, server) in KINDS {
        let mut net = Network::new(1);
        let (mut client, server) = pair(&net, client, server);
        let mut server = server.without_gate();
        server.config.mtu = 64;
        client.connect(&server);
        net.run_for(Micros(0), &mut [&mut client, &mut server]);
        client.config.mtu = 64;
        net.run(&mut [&mut client, &mut server]);
        assert_works(&mut net, &mut client, &mut server);
        let others = net.log.iter().filter(|sent| {
            wire::messages(&sent.bytes)
                .iter()
                .all(|message| message.kind != wire::CLIENT_HELLO)
        });
        let sizes: Vec<_> = others.map(|sent| sent.bytes.len()).collect();
        assert!(sizes.iter().all(|size| *size <= 64), "{sizes:?}");
        assert!(sizes.len() > 8);
    }
}

/// A size that is too small for the ClientHello is an error of the configuration, which names the size needed.
#[test]
fn a_client_hello_is_never_fragmented() {
    let net = Network::new(1);
    let (mut client, server) = pair(&net, Kind::Raw, Kind::Raw);
    client.config.mtu = 64;
    client.connect(&server);
    let Peer {
        association,
        workspace,
        config,
        machine,
        ..
    } = &mut client;
    let mut connection = Connection::new(association, workspace, config);
    let refused = connection.poll_transmit(machine, net.clock().time(), &mut [0; 1500]);
    assert_eq!(refused, Err(SendError::TooSmall(109)));
    // Nothing is lost by that.
    client.config.mtu = 109;
    let mut sent = Vec::new();
    client.poll(net.clock().time(), &mut |_, bytes| sent.push(bytes.len()));
    assert_eq!(sent, [109]);
    assert_eq!(client.address(), address(CLIENT));
}

/// RFC 6347 section 4.1.1.1: if nothing comes back again and again, the datagrams become smaller; a path that swallows the
/// large ones without a word is passed at last.
#[test]
fn a_black_hole_for_large_datagrams_is_passed() {
    for (client, server) in KINDS {
        let mut net = Network::new(1);
        let (mut client, mut server) = pair(&net, client, server);
        net.hook(|datagram| {
            if datagram.bytes.len() > 300 {
                dtls_tests::Fate::Drop
            } else {
                dtls_tests::Fate::Pass
            }
        });
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        assert_works(&mut net, &mut client, &mut server);
    }
}
