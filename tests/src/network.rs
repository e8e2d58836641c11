//! The network.

use crate::endpoint::Endpoint;
use crate::machine::VirtualClock;
use core::fmt;
use core::net::SocketAddr;
use dtls_core::{Instant, Micros};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::collections::{BTreeMap, HashMap};

/// How good the links are, all of them alike. Chances are in percent, for each datagram.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// From sending to arrival.
    pub latency: Micros,
    /// Up to this much more, at random: what is larger than the gap between two datagrams reorders them.
    pub jitter: Micros,
    /// Lost, independently of others.
    pub loss: u32,
    /// A burst begins; it swallows all datagrams of one direction …
    pub burst_begins: u32,
    /// … until it ends.
    pub burst_ends: u32,
    /// Delivered twice.
    pub duplicated: u32,
    /// Delivered with one wrong bit.
    pub flipped: u32,
    /// Larger ones are dropped and counted in [`Network::oversized`]; UDP payload in bytes.
    pub mtu: usize,
}

impl Link {
    /// 10 ms and no mishaps; an MTU that no handshake of the tests reaches.
    pub const PERFECT: Self = Self {
        latency: Micros::from_millis(10),
        jitter: Micros(0),
        loss: 0,
        burst_begins: 0,
        burst_ends: 100,
        duplicated: 0,
        flipped: 0,
        mtu: 1232,
    };
}

/// A datagram on its way, as a hook sees it.
#[derive(Debug)]
pub struct Passing<'a> {
    /// The sender.
    pub from: SocketAddr,
    /// The receiver.
    pub to: SocketAddr,
    /// How many datagrams went this way before.
    pub nth: usize,
    /// The UDP payload, to be looked at or altered.
    pub bytes: &'a mut Vec<u8>,
    /// Datagrams that are to follow it, and share its fate; none unless put here.
    pub followers: &'a mut Vec<Vec<u8>>,
}

/// What a hook does with a datagram.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// Goes on.
    Pass,
    /// Is lost.
    Drop,
    /// Arrives this much later.
    Late(Micros),
    /// Arrives, and once more this much later.
    Twice(Micros),
}

/// A datagram that was sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Logged {
    /// When it was sent.
    pub at: Instant,
    /// The sender.
    pub from: SocketAddr,
    /// The receiver.
    pub to: SocketAddr,
    /// The UDP payload, as it was sent.
    pub bytes: Vec<u8>,
}

type Hook = Box<dyn FnMut(&mut Passing<'_>) -> Fate>;

/// A network in virtual time.
pub struct Network {
    clock: VirtualClock,
    seed: u64,
    rng: ChaCha8Rng,
    /// How good its links are.
    pub link: Link,
    /// Every datagram sent, also those that were lost.
    pub log: Vec<Logged>,
    /// Datagrams that were larger than the MTU.
    pub oversized: usize,
    hook: Hook,
    /// By the time of arrival, and then in the order of sending.
    in_flight: BTreeMap<(Instant, u64), Logged>,
    ways: HashMap<(SocketAddr, SocketAddr), Way>,
    sent: u64,
}

/// The state of one direction.
#[derive(Debug, Default)]
struct Way {
    datagrams: usize,
    in_burst: bool,
}

impl Network {
    /// A perfect network; all chance on it, and among those who live there, comes from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let clock = VirtualClock::default();
        clock.set(Instant(1_000_000_000));
        Self {
            clock,
            seed,
            rng: ChaCha8Rng::seed_from_u64(seed),
            link: Link::PERFECT,
            log: Vec::new(),
            oversized: 0,
            hook: Box::new(|_| Fate::Pass),
            in_flight: BTreeMap::new(),
            ways: HashMap::new(),
            sent: 0,
        }
    }

    /// The same, but its time begins here.
    #[must_use]
    pub fn beginning_at(self, begin: Instant) -> Self {
        self.clock.set(begin);
        self
    }

    /// Its time.
    #[must_use]
    pub const fn clock(&self) -> &VirtualClock {
        &self.clock
    }

    /// The seed of the inhabitant with this number.
    #[must_use]
    pub const fn seed_of(&self, number: u16) -> u64 {
        self.seed.wrapping_mul(1 << 16).wrapping_add(number as u64)
    }

    /// Looks at every datagram from now on, before chance does.
    pub fn hook(&mut self, hook: impl FnMut(&mut Passing<'_>) -> Fate + 'static) {
        self.hook = Box::new(hook);
    }

    /// Looks at no datagram any more.
    pub fn unhook(&mut self) {
        self.hook(|_| Fate::Pass);
    }

    /// Lets time pass until nothing is in flight and nobody has a deadline, or for two hours; returns the time it took.
    pub fn run(&mut self, endpoints: &mut [&mut dyn Endpoint]) -> Micros {
        self.run_for(Micros::from_secs(7200), endpoints)
    }

    /// Like [`run`](Self::run), but for a time of the caller's choice.
    ///
    /// # Panics
    /// If an endpoint does not come to rest: that breaks its contract.
    pub fn run_for(&mut self, span: Micros, endpoints: &mut [&mut dyn Endpoint]) -> Micros {
        let begin = self.clock.time();
        let end = begin.after(span);
        for endpoint in endpoints.iter_mut() {
            self.poll(*endpoint);
        }
        for _ in 0..100_000 {
            let arrival = self.in_flight.keys().next().map(|&(at, _)| at);
            let deadlines = endpoints.iter().filter_map(|endpoint| endpoint.deadline());
            let Some(next) = arrival.into_iter().chain(deadlines).min() else {
                return self.clock.time().since(begin);
            };
            if next > end {
                self.clock.set(end);
                return span;
            }
            let now = next.max(self.clock.time());
            self.clock.set(now);
            if arrival == Some(next) {
                self.deliver(now, endpoints);
            } else {
                let due = |endpoint: &&mut &mut dyn Endpoint| endpoint.deadline() == Some(next);
                self.poll(*endpoints.iter_mut().find(due).expect("somebody's deadline"));
            }
        }
        panic!("an endpoint does not come to rest");
    }

    /// Puts a datagram that nobody here sent on its way to somebody.
    pub fn inject(&mut self, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        self.launch(from, to, bytes.to_vec(), Micros(0));
    }

    fn deliver(&mut self, now: Instant, endpoints: &mut [&mut dyn Endpoint]) {
        let Some((_, mut datagram)) = self.in_flight.pop_first() else {
            return;
        };
        let receiver = endpoints
            .iter_mut()
            .find(|endpoint| endpoint.address() == datagram.to);
        if let Some(receiver) = receiver {
            receiver.receive(now, datagram.from, &mut datagram.bytes);
            self.poll(*receiver);
        }
    }

    fn poll(&mut self, endpoint: &mut dyn Endpoint) {
        let from = endpoint.address();
        endpoint.poll(self.clock.time(), &mut |to, bytes| {
            self.send(from, to, bytes);
        });
    }

    fn send(&mut self, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        let mut bytes = bytes.to_vec();
        self.log.push(Logged {
            at: self.clock.time(),
            from,
            to,
            bytes: bytes.clone(),
        });
        if bytes.len() > self.link.mtu {
            self.oversized += 1;
            return;
        }
        let way = self.ways.entry((from, to)).or_default();
        let nth = way.datagrams;
        way.datagrams += 1;
        let mut followers = Vec::new();
        let fate = (self.hook)(&mut Passing {
            from,
            to,
            nth,
            bytes: &mut bytes,
            followers: &mut followers,
        });
        self.pass(from, to, bytes, fate);
        for bytes in followers {
            self.pass(from, to, bytes, fate);
        }
    }

    fn pass(&mut self, from: SocketAddr, to: SocketAddr, mut bytes: Vec<u8>, fate: Fate) {
        if fate == Fate::Drop || self.is_lost(from, to) {
            return;
        }
        if self.happens(self.link.flipped) && !bytes.is_empty() {
            let bit = self.rng.next_u32() as usize % (8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        if let Fate::Twice(later) = fate {
            self.launch(from, to, bytes.clone(), later);
        }
        if self.happens(self.link.duplicated) {
            let later = self.jitter();
            self.launch(from, to, bytes.clone(), later);
        }
        let mut late = self.jitter();
        if let Fate::Late(later) = fate {
            late.0 += later.0;
        }
        self.launch(from, to, bytes, late);
    }

    fn is_lost(&mut self, from: SocketAddr, to: SocketAddr) -> bool {
        let was_in_burst = self.ways.entry((from, to)).or_default().in_burst;
        let in_burst = if was_in_burst {
            !self.happens(self.link.burst_ends)
        } else {
            self.happens(self.link.burst_begins)
        };
        self.ways.entry((from, to)).or_default().in_burst = in_burst;
        in_burst || self.happens(self.link.loss)
    }

    fn launch(&mut self, from: SocketAddr, to: SocketAddr, bytes: Vec<u8>, late: Micros) {
        let at = self.clock.time();
        self.sent += 1;
        let arrival = at.after(self.link.latency).after(late);
        let datagram = Logged {
            at,
            from,
            to,
            bytes,
        };
        self.in_flight.insert((arrival, self.sent), datagram);
    }

    fn jitter(&mut self) -> Micros {
        let most = self.link.jitter.0;
        Micros(self.rng.next_u64().checked_rem(most).unwrap_or(0))
    }

    fn happens(&mut self, percent: u32) -> bool {
        percent > 0 && self.rng.next_u32() % 100 < percent
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("time", &self.clock.time())
            .field("in_flight", &self.in_flight.len())
            .finish_non_exhaustive()
    }
}
