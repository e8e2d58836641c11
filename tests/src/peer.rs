//! An endpoint with one peer: a client, or a server such as a device that talks to one client at a time.

use crate::MEMORY;
use crate::endpoint::{Endpoint, Seen, address};
use crate::engine::Engine;
use crate::identity::{CLIENT, SERVER};
use crate::machine::Machine;
use crate::network::Network;
use core::net::SocketAddr;
use dtls_core::{
    Admission, Admitted, Association, Config, Connection, CookieGate, Datagram, Event, Fatal,
    Instant, PeerId, SendError, Workspace,
};

/// An endpoint with one [`Connection`].
pub struct Peer {
    address: SocketAddr,
    /// The peer's address.
    pub remote: SocketAddr,
    /// Cryptography and probes.
    pub machine: Machine,
    /// Who answers the questions.
    pub engine: Engine,
    /// The association, if there is one.
    pub association: Option<Association>,
    /// The handshake, if there is one.
    pub workspace: Box<Workspace<Machine>>,
    /// What it agrees to.
    pub config: Config<'static>,
    /// What it was told, in order.
    pub seen: Vec<Seen>,
    gate: Option<CookieGate>,
    is_server: bool,
    outbox: Vec<Vec<u8>>,
    /// What `poll_timeout` said last.
    pub timeout: Option<Instant>,
    now: Instant,
}

impl Peer {
    /// A client with the key of [`CLIENT`] that lets [`SERVER`] in. Its number makes its address and its random numbers.
    #[must_use]
    pub fn client(net: &Network, number: u16, config: Config<'static>) -> Self {
        let seed = net.seed_of(number);
        let mut engine = Engine::new(&CLIENT, !seed);
        engine.pins.push(SERVER.spki);
        Self {
            address: address(number),
            remote: address(0),
            machine: Machine::new(net.clock(), seed),
            engine,
            association: None,
            workspace: Box::new(Workspace::<Machine, [u8; MEMORY]>::new()),
            config,
            seen: Vec::new(),
            gate: None,
            is_server: false,
            outbox: Vec::new(),
            timeout: None,
            now: net.clock().time(),
        }
    }

    /// A server with the key of [`SERVER`] behind a cookie gate that lets [`CLIENT`] in, and anybody who shows nothing if
    /// it asks for nothing.
    #[must_use]
    pub fn server(net: &Network, number: u16, config: Config<'static>) -> Self {
        let seed = net.seed_of(number);
        let mut engine = Engine::new(&SERVER, !seed);
        engine.pins.push(CLIENT.spki);
        engine.anonymous = Some(PeerId(7));
        Self {
            engine,
            gate: Some(CookieGate::new([number.to_be_bytes()[1]; 32])),
            is_server: true,
            ..Self::client(net, number, config)
        }
    }

    /// Opens the gate: addresses cannot be forged on its link.
    #[must_use]
    pub fn without_gate(mut self) -> Self {
        self.gate = None;
        self
    }

    /// The same IP address, but another port.
    #[must_use]
    pub fn at_port(mut self, port: u16) -> Self {
        self.address.set_port(port);
        self
    }

    /// Starts a handshake.
    ///
    /// # Panics
    /// If the core refuses to.
    pub fn connect(&mut self, to: &impl Endpoint) {
        self.remote = to.address();
        let mut connection =
            Connection::new(&mut self.association, &mut self.workspace, &self.config);
        connection
            .connect(&mut self.machine, self.now)
            .expect("the handshake begins");
    }

    /// Puts one record of application data into the outbox.
    ///
    /// # Errors
    /// What the association says.
    pub fn send(&mut self, data: &[u8]) -> Result<(), SendError> {
        let mut out = [0; 1500];
        let association = self.association.as_mut().ok_or(SendError::Closed)?;
        let n = association.send(&mut self.machine, data, &mut out)?;
        self.outbox.push(out[..n].to_vec());
        Ok(())
    }

    /// Puts any bytes into the outbox.
    pub fn send_raw(&mut self, datagram: &[u8]) {
        self.outbox.push(datagram.to_vec());
    }

    /// Whom it is connected with, if `Connected` came and nothing ended the association since.
    #[must_use]
    pub fn connected(&self) -> Option<PeerId> {
        self.seen.iter().fold(None, |connected, seen| match seen {
            Seen::Connected(peer) => Some(*peer),
            Seen::Closed(_) => None,
            _ => connected,
        })
    }

    /// Why its handshake failed, if one did.
    #[must_use]
    pub fn failure(&self) -> Option<Fatal> {
        self.seen.iter().find_map(|seen| match seen {
            Seen::Failed(fatal) => Some(*fatal),
            _ => None,
        })
    }

    /// The data received so far.
    #[must_use]
    pub fn received(&self) -> Vec<&[u8]> {
        self.seen
            .iter()
            .filter_map(|seen| match seen {
                Seen::Data(data) => Some(&data[..]),
                _ => None,
            })
            .collect()
    }
}

impl Endpoint for Peer {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn receive(&mut self, now: Instant, from: SocketAddr, datagram: &mut [u8]) {
        self.now = now;
        let Self {
            machine,
            association,
            workspace,
            config,
            seen,
            gate,
            ..
        } = self;
        if !self.is_server && from != self.remote {
            return;
        }
        let mut datagram = Datagram::new(datagram);
        let mut connection = Connection::new(association, workspace, config);
        loop {
            let event = match connection.receive(machine, now, &mut datagram) {
                Ok(Some(event)) => event,
                Ok(None) => break,
                Err(fatal) => {
                    seen.push(Seen::Failed(fatal));
                    break;
                }
            };
            let Event::Stranger(hello) = event else {
                seen.push(Seen::from(event));
                continue;
            };
            if !self.is_server {
                continue;
            }
            let mut out = [0; 256];
            let admission = match gate {
                Some(gate) => gate.admit(machine, from, hello, &mut out),
                None => Admission::Accept(Admitted::without_cookie(hello)),
            };
            match admission {
                Admission::Drop => {}
                Admission::Reply(n) => {
                    self.remote = from;
                    self.outbox.push(out[..n].to_vec());
                }
                Admission::Accept(hello) => {
                    self.remote = from;
                    if let Err(fatal) = connection.accept(machine, now, hello) {
                        seen.push(Seen::Failed(fatal));
                    }
                }
            }
        }
    }

    fn poll(&mut self, now: Instant, send: &mut dyn FnMut(SocketAddr, &[u8])) {
        self.now = now;
        let mut out = [0; 1500];
        let mut connection =
            Connection::new(&mut self.association, &mut self.workspace, &self.config);
        for datagram in self.outbox.drain(..) {
            send(self.remote, &datagram);
        }
        loop {
            while let Some((job, question)) = connection.poll_question(&mut self.machine) {
                self.engine.ask(now, job, question);
            }
            if let Some((job, answer)) = self.engine.answer(now) {
                match connection.answer(&mut self.machine, now, job, answer) {
                    Ok(event) => self.seen.extend(event.map(Seen::from)),
                    Err(fatal) => self.seen.push(Seen::Failed(fatal)),
                }
                continue;
            }
            match connection.poll_transmit(&mut self.machine, now, &mut out) {
                Ok(Some(n)) => send(self.remote, &out[..n]),
                Ok(None) => break,
                Err(SendError::Fatal(fatal)) => self.seen.push(Seen::Failed(fatal)),
                Err(error) => panic!("nothing else can go wrong here: {error}"),
            }
        }
        self.timeout = connection.poll_timeout();
    }

    fn deadline(&self) -> Option<Instant> {
        self.engine.deadline().into_iter().chain(self.timeout).min()
    }
}
