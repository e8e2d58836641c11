//! Memory that is lent, and comes back.

use crate::SERVER;
use dtls_core::{Datagram, Event, Micros};
use dtls_tests::{
    Endpoint, Fate, Gateway, Kind, Network, Peer, address, client_config, server_config,
};

/// One workspace serves a thousand associations one after the other, on both sides; each outlives it and works.
#[test]
fn one_workspace_serves_a_thousand_associations() {
    const MANY: u16 = 1_000;
    let mut net = Network::new(1);
    let config = server_config(Kind::Raw, Kind::Nothing);
    let mut server = Gateway::new(&net, SERVER, config, MANY.into(), 1);
    server.echo = true;
    let mut workspace = None;
    let mut associations = Vec::new();
    for number in 2..2 + MANY {
        let config = client_config(Kind::Nothing, Kind::Raw);
        let mut client = Peer::client(&net, number, config);
        if let Some(workspace) = workspace.take() {
            client.workspace = workspace;
        }
        client.connect(&server);
        net.run(&mut [&mut client, &mut server]);
        let association = client.association.take().expect("an association");
        associations.push((client.address(), client.machine, association));
        assert!(client.workspace.is_vacant());
        workspace = Some(client.workspace);
    }
    drop(workspace);
    assert_eq!(server.table.occupancy(), (MANY.into(), 0));
    for (address, machine, association) in &mut associations {
        let mut out = [0; 64];
        let n = association.send(machine, b"hello", &mut out).unwrap();
        net.inject(*address, server.address(), &out[..n]);
        net.run(&mut [&mut server]);
        let mut echo = net.log.last().expect("an echo").bytes.clone();
        let mut datagram = Datagram::new(&mut echo);
        let event = association.receive(machine, net.clock().time(), &mut datagram);
        assert!(matches!(event, Some(Event::ApplicationData(data)) if data == b"hello"));
    }
}

/// RFC 6347 section 4.2.4: the last flight is sent again although its handshake's memory serves somebody else by now.
#[test]
fn a_last_flight_is_sent_again_while_its_memory_serves_another() {
    let mut net = Network::new(1);
    let config = server_config(Kind::Raw, Kind::Raw);
    let mut server = Gateway::new(&net, SERVER, config, 2, 1);
    server.echo = true;
    let mut clients =
        [2, 4].map(|number| Peer::client(&net, number, client_config(Kind::Raw, Kind::Raw)));
    let to = address(2);
    net.hook(move |datagram| {
        let last_flight = datagram.to == to && datagram.nth == 2;
        if last_flight { Fate::Drop } else { Fate::Pass }
    });
    let [first, second] = &mut clients;
    first.connect(&server);
    net.run_for(Micros::from_millis(500), &mut [first, &mut server]);
    assert_eq!(server.table.occupancy(), (1, 0));
    assert!(first.connected().is_none());
    // The second one gets as far as flight 4, in the same memory, and thinks about it.
    second.engine.delays = [Micros::from_secs(2); 5];
    second.connect(&server);
    net.run_for(Micros::from_millis(200), &mut [first, second, &mut server]);
    assert_eq!(server.table.occupancy(), (1, 1));
    net.run_for(Micros::from_millis(500), &mut [first, second, &mut server]);
    assert!(first.connected().is_some(), "asked after a second");
    assert_eq!(server.table.occupancy(), (1, 1));
    net.run(&mut [first, second, &mut server]);
    assert_eq!(server.table.occupancy(), (2, 0));
    for client in &mut clients {
        client.send(b"both").unwrap();
        net.run(&mut [client, &mut server]);
        assert_eq!(client.received(), [b"both"]);
    }
}
