//! A server for many peers on one socket.

use crate::clock;
use crate::config::ServerConfig;
use crate::error::SendFailed;
use crate::link::Link;
use crate::pin::Pin;
use crate::platform::StdPlatform;
use crate::seal::seal;
use crate::trust::Trust;
use crate::wire::Wire;
use core::mem;
use core::net::SocketAddr;
use core::time::Duration;
use dtls_core::crypto::rustcrypto::SoftEngine;
use dtls_core::{
    Admission, AlertDescription, Answer, ClientHelloRecord, Config, CookieGate, Datagram, Event,
    Instant, Job, Micros, NoProbe, PeerId, Peers, Platform, Probe, Question, Room, Seat, SendError,
};
use getrandom::SysRng;
use rand_core::TryRng;
use std::collections::VecDeque;
use std::io;
use std::net::UdpSocket;

/// A server that serves all peers of one socket from one thread. It lives inside [`Server::scope`].
///
/// A stranger costs it nothing: until a ClientHello comes back with a cookie, nothing is remembered (RFC 6347
/// section 4.2.1).
///
/// ```no_run
/// use dtls_std::{Identity, Pin, Server, ServerConfig, ServerEvent, StdPlatform, Trust};
/// use std::{net::UdpSocket, path::Path, time::Duration};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let identity = Identity::read(Path::new("server.key"), None)?;
/// let clients = Trust::pins([Pin::read(Path::new("client.pub"))?]);
/// let config = ServerConfig::new(identity, clients);
/// let socket = UdpSocket::bind("[::]:4433")?;
/// Server::scope(socket, &config, StdPlatform::new(), |server| {
///     loop {
///         if let Some(ServerEvent::Data { peer, data }) = server.poll(Duration::from_secs(60))? {
///             server.send(peer, &data)?;
///         }
///     }
/// })
/// # }
/// ```
pub struct Server<'c, B: Probe = NoProbe> {
    wire: Wire<B>,
    config: &'c Config<'c>,
    trust: &'c Trust,
    engine: SoftEngine<'c>,
    peers: Table<'c, B>,
    gate: CookieGate,
    /// When the gate gets its next secret, and how long that serves.
    rotation: Instant,
    cookie_lifetime: Micros,
    /// The clients that were accepted but have not finished their handshake, by the slot of their job.
    accepted: Vec<Option<Accepted>>,
    next_id: u32,
    events: VecDeque<ServerEvent>,
}

type Table<'c, B> = Peers<
    'c,
    StdPlatform<B>,
    { crate::WORKSPACE },
    Vec<Seat>,
    Vec<Room<'c, StdPlatform<B>, { crate::WORKSPACE }>>,
>;

struct Accepted {
    id: PeerId,
    pin: Option<Pin>,
}

/// Something happened to a peer.
#[derive(Debug, Eq, PartialEq)]
pub enum ServerEvent {
    /// A handshake is complete. If this address was connected before, this is the association that counts now (RFC 6347
    /// section 4.2.8).
    Connected {
        /// Who.
        peer: SocketAddr,
        /// A number of its own for each association.
        id: PeerId,
        /// The key that the client proved to hold; `None` for an anonymous one.
        pin: Option<Pin>,
    },
    /// One record of application data.
    Data {
        /// From whom.
        peer: SocketAddr,
        /// The data.
        data: Vec<u8>,
    },
    /// The peer ended the association, with `close_notify` or a fatal alert.
    Closed {
        /// Who.
        peer: SocketAddr,
        /// With which alert.
        alert: AlertDescription,
    },
    /// A handshake came to nothing. An association that this address had before is still there.
    HandshakeFailed {
        /// With whom.
        peer: SocketAddr,
        /// Why.
        why: SendError,
    },
    /// A client whose address is proven was turned away: all places are taken.
    Full {
        /// Who.
        peer: SocketAddr,
    },
}

impl<B: Probe> Server<'_, B> {
    /// Lends a server on `socket` to `serve`; when that returns, the server is gone.
    ///
    /// # Errors
    /// Those of `serve`; and the socket cannot be used, or the system has no random numbers.
    pub fn scope<T, E: From<io::Error>>(
        socket: UdpSocket,
        config: &ServerConfig,
        platform: StdPlatform<B>,
        serve: impl FnOnce(&mut Server<'_, B>) -> Result<T, E>,
    ) -> Result<T, E> {
        let wire = Wire::new(Link::new(socket)?, platform, config.mtu);
        let gate = CookieGate::new(secret()?);
        let seats = (0..config.seats).map(|_| Seat::EMPTY).collect();
        config.lend(|core| {
            let rooms = (0..config.rooms).map(|_| Room::new()).collect();
            let cookie_lifetime = clock::saturating(config.cookie_lifetime);
            serve(&mut Server {
                wire,
                config: core,
                trust: &config.trust,
                engine: config.identity.engine(),
                peers: Peers::new(seats, rooms),
                gate,
                rotation: clock::now().after(cookie_lifetime),
                cookie_lifetime,
                accepted: (0..config.rooms).map(|_| None).collect(),
                next_id: 0,
                events: VecDeque::new(),
            })
        })
    }

    /// Waits for the next event; `None` if `patience` is at its end. To be called in a loop: between calls, nothing is
    /// received, answered or sent again.
    ///
    /// # Errors
    /// Socket, key log, capture or random numbers failed. What a peer does is never an error.
    pub fn poll(&mut self, patience: Duration) -> io::Result<Option<ServerEvent>> {
        let end = clock::now().after(clock::saturating(patience));
        let mut time_is_over = false;
        loop {
            self.settle();
            self.wire.platform.check()?;
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            if time_is_over {
                return Ok(None);
            }
            self.rotate()?;
            self.receive(end)?;
            time_is_over = clock::now() >= end;
        }
    }

    /// Sends one record to a peer.
    ///
    /// # Errors
    /// The peer is not connected, the data is too long for one datagram, or the association is over.
    pub fn send(&mut self, peer: SocketAddr, data: &[u8]) -> Result<(), SendFailed> {
        let association = self
            .peers
            .association(peer)
            .ok_or(SendFailed::NotConnected(peer))?;
        let Wire {
            platform, outgoing, ..
        } = &mut self.wire;
        let n = seal(association, platform, data, outgoing)?;
        self.wire.send(peer, n);
        Ok(())
    }

    /// Tells a peer that this is the end (RFC 5246 section 7.2.1). Does nothing if it is not connected.
    pub fn close(&mut self, peer: SocketAddr) {
        if let Some(association) = self.peers.association(peer) {
            association.close();
            self.settle();
        }
    }

    /// Established peers, and handshakes under way.
    pub fn occupancy(&self) -> (usize, usize) {
        self.peers.occupancy()
    }

    /// The platform, with its counters and the caller's probe.
    pub const fn platform(&mut self) -> &mut StdPlatform<B> {
        &mut self.wire.platform
    }

    /// Waits for one datagram, at most until something else is due, and takes it.
    fn receive(&mut self, end: Instant) -> io::Result<()> {
        let due = self.peers.poll_timeout().into_iter();
        let end = due.chain([self.rotation]).fold(end, Instant::min);
        if let Some((n, peer)) = self.wire.receive(end)? {
            let mut incoming = mem::take(&mut self.wire.incoming);
            self.take(peer, Datagram::new(&mut incoming[..n]));
            self.wire.incoming = incoming;
        }
        Ok(())
    }

    fn take(&mut self, peer: SocketAddr, mut datagram: Datagram<'_>) {
        loop {
            let now = clock::now();
            let platform = &mut self.wire.platform;
            match self.peers.receive(platform, now, peer, &mut datagram) {
                Ok(None) => return,
                Ok(Some(Event::Stranger(hello))) => self.admit(peer, hello),
                Ok(Some(event)) => self.note(peer, event),
                Err(why) => return self.failed(peer, why.into()),
            }
        }
    }

    /// The gate in front of the server: nothing is remembered of a stranger before its cookie came back.
    fn admit(&mut self, peer: SocketAddr, hello: ClientHelloRecord<'_>) {
        let Wire {
            platform, outgoing, ..
        } = &mut self.wire;
        match self.gate.admit(platform, peer, hello, outgoing) {
            Admission::Drop => {}
            Admission::Reply(n) => self.wire.send(peer, n),
            Admission::Accept(hello) => {
                let now = clock::now();
                let Some(mut connection) = self.peers.enter(now, self.config, peer) else {
                    return self.events.push_back(ServerEvent::Full { peer });
                };
                if let Err(why) = connection.accept(platform, now, hello) {
                    self.failed(peer, why.into());
                }
            }
        }
    }

    /// Answers all questions and sends all that is due.
    fn settle(&mut self) {
        while let Some((_, job, question)) = self.peers.poll_question(&mut self.wire.platform) {
            let answer = match question {
                Question::PublicKey(request) => {
                    Answer::PublicKey(self.engine.answer(self.wire.platform.rng(), request))
                }
                Question::Peer(identity) => {
                    let accepted = self.trust.accepts(identity);
                    let pin = identity.spki().map(Pin::of);
                    Answer::Peer(accepted.then(|| self.expect(job, pin)))
                }
                // A question younger than this driver.
                _ => Answer::Peer(None),
            };
            let platform = &mut self.wire.platform;
            match self.peers.answer(platform, clock::now(), job, answer) {
                Some((peer, Ok(Some(event)))) => self.note(peer, event),
                Some((peer, Err(why))) => self.failed(peer, why.into()),
                Some((_, Ok(None))) | None => {}
            }
        }
        loop {
            let Wire {
                platform, outgoing, ..
            } = &mut self.wire;
            match self.peers.poll_transmit(platform, clock::now(), outgoing) {
                Ok(Some((peer, n))) => self.wire.send(peer, n),
                Ok(None) => return,
                Err((peer, why)) => self.failed(peer, why),
            }
        }
    }

    /// Remembers whom the handshake of this job is with, until it is complete. One that comes to nothing is forgotten
    /// when the next one takes its slot.
    fn expect(&mut self, job: Job, pin: Option<Pin>) -> PeerId {
        let id = PeerId(self.next_id);
        self.next_id = self.next_id.wrapping_add(1);
        if let Some(slot) = self.accepted.get_mut(usize::from(job.slot)) {
            *slot = Some(Accepted { id, pin });
        }
        id
    }

    fn note(&mut self, peer: SocketAddr, event: Event<'_>) {
        self.events.push_back(match event {
            Event::Connected(id) => {
                let accepted = self.accepted.iter().flatten().find(|one| one.id == id);
                let pin = accepted.and_then(|one| one.pin);
                ServerEvent::Connected { peer, id, pin }
            }
            Event::ApplicationData(data) => ServerEvent::Data {
                peer,
                data: data.to_vec(),
            },
            Event::Closed(alert) => ServerEvent::Closed { peer, alert },
            // A plaintext alert may be forged: the handshake decides itself what comes of it.
            _ => return,
        });
    }

    fn failed(&mut self, peer: SocketAddr, why: SendError) {
        self.events
            .push_back(ServerEvent::HandshakeFailed { peer, why });
    }

    fn rotate(&mut self) -> io::Result<()> {
        let now = clock::now();
        if now >= self.rotation {
            self.gate.rotate(secret()?);
            self.rotation = now.after(self.cookie_lifetime);
        }
        Ok(())
    }
}

fn secret() -> io::Result<[u8; 32]> {
    let mut secret = [0; 32];
    SysRng
        .try_fill_bytes(&mut secret)
        .map_err(io::Error::other)?;
    Ok(secret)
}
