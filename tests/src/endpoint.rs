//! What a network knows of those who live on it.

use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use dtls_core::{AlertDescription, Event, Fatal, Instant, PeerId};

/// An endpoint that a [`Network`](crate::Network) drives, by the contract of [`dtls_core`] and nothing else.
pub trait Endpoint {
    /// Where it lives.
    fn address(&self) -> SocketAddr;

    /// Takes one datagram.
    fn receive(&mut self, now: Instant, from: SocketAddr, datagram: &mut [u8]);

    /// Deals with questions, answers and transmissions until there are none, and hands each datagram to `send`.
    fn poll(&mut self, now: Instant, send: &mut dyn FnMut(SocketAddr, &[u8]));

    /// When to poll although nothing arrived.
    fn deadline(&self) -> Option<Instant>;
}

/// An event, owned.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Seen {
    /// Both Finished have verified.
    Connected(PeerId),
    /// Data came.
    Data(Vec<u8>),
    /// The peer ended the association.
    Closed(AlertDescription),
    /// An alert came that anybody can have sent.
    PlaintextAlert(AlertDescription),
    /// A handshake is over.
    Failed(Fatal),
}

/// The address of an endpoint by its number: IPv6 for odd numbers, IPv4 for even ones.
#[must_use]
pub fn address(number: u16) -> SocketAddr {
    let [high, low] = number.to_be_bytes();
    if number % 2 == 1 {
        let ip = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, number);
        SocketAddr::from((ip, 5684))
    } else {
        SocketAddr::from((Ipv4Addr::new(192, 0, high, low), 5684))
    }
}

impl From<Event<'_>> for Seen {
    fn from(event: Event<'_>) -> Self {
        match event {
            Event::Connected(peer) => Self::Connected(peer),
            Event::ApplicationData(data) => Self::Data(data.to_vec()),
            Event::Closed(alert) => Self::Closed(alert),
            Event::PlaintextAlert(alert) => Self::PlaintextAlert(alert),
            other => unreachable!("its endpoint deals with {other:?}"),
        }
    }
}
