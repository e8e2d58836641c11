//! Handshakes and associations on a network in virtual time.

mod accounts;
mod alerts;
mod backoff;
mod budget;
mod certificate_types;
mod change_cipher_spec;
mod damage;
mod deferred;
mod established;
mod fairness;
mod fragments;
mod gate;
mod grid;
mod handshake;
mod last_flight;
mod limits;
mod loss;
mod many;
mod mtu;
mod negotiation;
mod order;
mod records;
mod refusal;
mod requirements;
mod table;
mod timers;

use dtls_tests::{Fate, Kind, Network, Passing, Peer, address, client_config, server_config};

/// The number of every server, and of most clients: one on IPv6, one on IPv4.
const SERVER: u16 = 1;
const CLIENT: u16 = 2;

/// A client and a server that have not met yet.
fn pair(net: &Network, client: Kind, server: Kind) -> (Peer, Peer) {
    (
        Peer::client(net, CLIENT, client_config(client, server)),
        Peer::server(net, SERVER, server_config(server, client)),
    )
}

/// Both have the same keys, and data goes both ways, once.
fn assert_works(net: &mut Network, client: &mut Peer, server: &mut Peer) {
    assert!(client.connected().is_some(), "client: {:?}", client.seen);
    assert!(server.connected().is_some(), "server: {:?}", server.seen);
    assert_eq!(client.machine.secrets.last(), server.machine.secrets.last());
    let before = (client.received().len(), server.received().len());
    client.send(b"from the client").unwrap();
    server.send(b"from the server").unwrap();
    let link = net.link;
    net.link = dtls_tests::Link::PERFECT;
    net.run(&mut [client, server]);
    net.link = link;
    assert_eq!(client.received()[before.0..], [b"from the server"]);
    assert_eq!(server.received()[before.1..], [b"from the client"]);
    assert!(client.workspace.is_vacant() && server.workspace.is_vacant());
    assert_eq!(net.oversized, 0);
}

/// A hook that does this to the n-th datagram from one endpoint, counted from zero.
fn to_datagram(from: u16, nth: usize, fate: Fate) -> impl FnMut(&mut Passing<'_>) -> Fate {
    move |datagram| {
        if datagram.from == address(from) && datagram.nth == nth {
            fate
        } else {
            Fate::Pass
        }
    }
}

/// A hook that alters the type and the body of all whole plaintext messages of one type from one endpoint.
fn altering(
    from: u16,
    kind: u8,
    mut change: impl FnMut(&mut u8, &mut Vec<u8>) + 'static,
) -> impl FnMut(&mut Passing<'_>) -> Fate {
    move |datagram| {
        if datagram.from == address(from) {
            dtls_tests::wire::alter(datagram.bytes, kind, &mut change);
        }
        Fate::Pass
    }
}
