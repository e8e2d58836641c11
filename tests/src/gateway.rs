//! A server with many peers behind one socket.

use crate::MEMORY;
use crate::endpoint::{Endpoint, Seen, address};
use crate::engine::Engine;
use crate::identity::{CLIENT, SERVER};
use crate::machine::Machine;
use crate::network::Network;
use core::net::SocketAddr;
use dtls_core::{
    Admission, ClientHelloRecord, Config, CookieGate, Datagram, Event, Instant, PeerId, Peers,
    Room, Seat, SendError,
};

/// A table of peers on the heap.
pub type Table = Peers<'static, Machine, MEMORY, Vec<Seat>, Vec<Room<'static, Machine, MEMORY>>>;

/// A server with a cookie gate and a table of peers.
pub struct Gateway {
    address: SocketAddr,
    /// Cryptography and probes.
    pub machine: Machine,
    /// Who answers the questions.
    pub engine: Engine,
    /// The peers.
    pub table: Table,
    /// The gate.
    pub gate: CookieGate,
    /// What it was told, and about whom, in order.
    pub seen: Vec<(SocketAddr, Seen)>,
    /// Whether it sends back all data that it gets.
    pub echo: bool,
    config: &'static Config<'static>,
    outbox: Vec<(SocketAddr, Vec<u8>)>,
    timeout: Option<Instant>,
}

impl Gateway {
    /// A server for so many associations and so many handshakes at a time, with the key and the policy of
    /// [`Peer::server`](crate::Peer::server).
    #[must_use]
    pub fn new(
        net: &Network,
        number: u16,
        config: Config<'static>,
        seats: usize,
        rooms: usize,
    ) -> Self {
        let seed = net.seed_of(number);
        let mut engine = Engine::new(&SERVER, !seed);
        engine.pins.push(CLIENT.spki);
        engine.anonymous = Some(PeerId(7));
        Self {
            address: address(number),
            machine: Machine::new(net.clock(), seed),
            engine,
            table: Peers::new(
                (0..seats).map(|_| Seat::EMPTY).collect(),
                (0..rooms).map(|_| Room::new()).collect(),
            ),
            gate: CookieGate::new([number.to_be_bytes()[1]; 32]),
            seen: Vec::new(),
            echo: false,
            // The table borrows it for its whole life; a test is short.
            config: Box::leak(Box::new(config)),
            outbox: Vec::new(),
            timeout: None,
        }
    }

    /// Puts one record of application data for this peer into the outbox.
    ///
    /// # Errors
    /// What the association says.
    pub fn send(&mut self, to: SocketAddr, data: &[u8]) -> Result<(), SendError> {
        let mut out = [0; 1500];
        let association = self.table.association(to).ok_or(SendError::Closed)?;
        let n = association.send(&mut self.machine, data, &mut out)?;
        self.outbox.push((to, out[..n].to_vec()));
        Ok(())
    }

    /// The data received from this peer so far.
    #[must_use]
    pub fn received(&self, from: SocketAddr) -> Vec<&[u8]> {
        self.seen
            .iter()
            .filter_map(|(peer, seen)| match seen {
                Seen::Data(data) if *peer == from => Some(&data[..]),
                _ => None,
            })
            .collect()
    }

    fn event(&mut self, from: SocketAddr, event: Event<'_>) {
        let seen = Seen::from(event);
        if let (Seen::Data(data), true) = (&seen, self.echo) {
            let data = data.clone();
            self.send(from, &data).expect("an echo goes back");
        }
        self.seen.push((from, seen));
    }

    fn stranger(&mut self, now: Instant, from: SocketAddr, hello: ClientHelloRecord<'_>) {
        let mut out = [0; 256];
        match self.gate.admit(&mut self.machine, from, hello, &mut out) {
            Admission::Drop => {}
            Admission::Reply(n) => self.outbox.push((from, out[..n].to_vec())),
            Admission::Accept(hello) => {
                let Some(mut connection) = self.table.enter(now, self.config, from) else {
                    return; // no room: the client asks again
                };
                if let Err(fatal) = connection.accept(&mut self.machine, now, hello) {
                    self.seen.push((from, Seen::Failed(fatal)));
                }
            }
        }
    }
}

impl Endpoint for Gateway {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn receive(&mut self, now: Instant, from: SocketAddr, datagram: &mut [u8]) {
        let mut datagram = Datagram::new(datagram);
        loop {
            match self
                .table
                .receive(&mut self.machine, now, from, &mut datagram)
            {
                Ok(None) => break,
                Ok(Some(Event::Stranger(hello))) => self.stranger(now, from, hello),
                Ok(Some(event)) => self.event(from, event),
                Err(fatal) => {
                    self.seen.push((from, Seen::Failed(fatal)));
                    break;
                }
            }
        }
    }

    fn poll(&mut self, now: Instant, send: &mut dyn FnMut(SocketAddr, &[u8])) {
        let mut out = [0; 1500];
        for (to, datagram) in self.outbox.drain(..) {
            send(to, &datagram);
        }
        loop {
            while let Some((_, job, question)) = self.table.poll_question(&mut self.machine) {
                self.engine.ask(now, job, question);
            }
            if let Some((job, answer)) = self.engine.answer(now) {
                match self.table.answer(&mut self.machine, now, job, answer) {
                    Some((from, Ok(Some(event)))) => self.event(from, event),
                    Some((from, Err(fatal))) => self.seen.push((from, Seen::Failed(fatal))),
                    Some((_, Ok(None))) | None => {}
                }
                continue;
            }
            match self.table.poll_transmit(&mut self.machine, now, &mut out) {
                Ok(Some((to, n))) => send(to, &out[..n]),
                Ok(None) => break,
                Err((from, SendError::Fatal(fatal))) => {
                    self.seen.push((from, Seen::Failed(fatal)));
                }
                Err((_, error)) => panic!("nothing else can go wrong here: {error}"),
            }
        }
        self.timeout = self.table.poll_timeout();
    }

    fn deadline(&self) -> Option<Instant> {
        self.engine.deadline().into_iter().chain(self.timeout).min()
    }
}
