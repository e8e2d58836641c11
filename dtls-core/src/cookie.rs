//! The stateless gate in front of a server (RFC 6347 section 4.2.1).

use crate::crypto::Symmetric;
use crate::discard::Discard;
use crate::event::ClientHelloRecord;
use crate::platform::Platform;
use crate::probe::Probe;
use crate::record::begin;
use crate::wire::handshake::{Fragment, HEADER, HandshakeType, Header};
use crate::wire::hello::{ClientHello, put_hello_verify_request};
use crate::wire::record::{self, ContentType};
use crate::wire::{Reader, Window};
use core::fmt;
use core::net::{IpAddr, SocketAddr};
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

/// Length of a cookie.
const COOKIE: usize = 16;
/// Body of a HelloVerifyRequest: version, length, cookie.
const BODY: usize = 3 + COOKIE;

/// Stateless first contact: two secrets, nothing per client, no clock. The driver calls [`rotate`](Self::rotate) every few
/// minutes.
pub struct CookieGate {
    /// The secret now, and the one before.
    secrets: [[u8; 32]; 2],
}

/// What to do with an [`Event::Stranger`](crate::Event::Stranger).
#[derive(Debug)]
pub enum Admission<'d> {
    /// Nothing: it is not a ClientHello that could be answered.
    Drop,
    /// Send this many bytes of `out` back: a HelloVerifyRequest, never longer than the ClientHello.
    Reply(usize),
    /// The address is proven: [`Connection::accept`](crate::Connection::accept).
    Accept(Admitted<'d>),
}

/// A ClientHello that may begin a handshake. It *is* the ClientHello, so that no other can be slipped in.
#[derive(Debug)]
pub struct Admitted<'d>(pub(crate) ClientHelloRecord<'d>);

impl<'d> Admitted<'d> {
    /// Leaves the cookie exchange out: only for links on which addresses cannot be forged.
    #[must_use]
    pub const fn without_cookie(hello: ClientHelloRecord<'d>) -> Self {
        Self(hello)
    }
}

impl CookieGate {
    /// Begins with a secret, 32 random bytes.
    #[must_use]
    pub const fn new(secret: [u8; 32]) -> Self {
        Self {
            secrets: [secret, secret],
        }
    }

    /// Changes the secret. Cookies made under the one before stay valid until the next call.
    pub const fn rotate(&mut self, secret: [u8; 32]) {
        self.secrets = [secret, self.secrets[0]];
    }

    /// Judges one ClientHello from `peer`.
    ///
    /// All of it must be in this one record: a server cannot put pieces together for an address that has proved nothing.
    pub fn admit<'d, P: Platform>(
        &self,
        platform: &mut P,
        peer: SocketAddr,
        hello: ClientHelloRecord<'d>,
        out: &mut [u8],
    ) -> Admission<'d> {
        let Some((header, parsed)) = parse(&hello) else {
            platform.probe().discarded(Discard::Malformed);
            return Admission::Drop;
        };
        let cookies = self
            .secrets
            .each_ref()
            .map(|secret| cookie(platform, secret, peer, &parsed));
        if cookies
            .iter()
            .any(|cookie| bool::from(cookie.ct_eq(parsed.cookie)))
        {
            return Admission::Accept(Admitted(hello));
        }
        if !parsed.cookie.is_empty() {
            platform.probe().discarded(Discard::BadCookie);
        }
        match hello_verify_request(&hello, header, &cookies[0], out) {
            Some(n) => Admission::Reply(n),
            None => Admission::Drop,
        }
    }
}

/// The ClientHello, if it is whole.
fn parse<'r>(hello: &'r ClientHelloRecord<'_>) -> Option<(Header, ClientHello<'r>)> {
    let fragment = Fragment::parse(&mut Reader::new(hello.0.body))
        .ok()
        .filter(Fragment::is_whole)?;
    Some((fragment.header, ClientHello::parse(fragment.body).ok()?))
}

/// A cookie binds the parameters that the second ClientHello has to repeat (RFC 6347 section 4.2.1) to the address.
fn cookie<P: Platform>(
    platform: &mut P,
    secret: &[u8; 32],
    peer: SocketAddr,
    hello: &ClientHello<'_>,
) -> [u8; COOKIE] {
    // Fixed widths or lengths in front, so that no two inputs look the same.
    let ip = match peer.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    let lengths = [
        hello.session_id.len(),
        hello.cipher_suites.len(),
        hello.compression_methods.len(),
    ];
    let [sid, suites, compression] =
        lengths.map(|n| u16::try_from(n).unwrap_or(u16::MAX).to_be_bytes());
    let mac = platform.symmetric().hmac(
        secret,
        &[
            &ip.octets(),
            &peer.port().to_be_bytes(),
            &hello.version,
            hello.random,
            &sid,
            hello.session_id,
            &suites,
            hello.cipher_suites,
            &compression,
            hello.compression_methods,
        ],
    );
    let [cookie @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = mac;
    cookie
}

/// Writes a HelloVerifyRequest. Its numbers are those of the ClientHello, since the server keeps none (RFC 6347 section
/// 4.2.1). `None` if it would be longer than the ClientHello: nobody is made to receive more than was sent in its name.
fn hello_verify_request(
    hello: &ClientHelloRecord<'_>,
    header: Header,
    cookie: &[u8; COOKIE],
    out: &mut [u8],
) -> Option<usize> {
    let record = &hello.0;
    let length = HEADER.saturating_add(BODY);
    if length > record.body.len() {
        return None;
    }
    let body = begin(ContentType::HANDSHAKE, record.number, out, length).ok()?;
    let (head, body) = body.split_first_chunk_mut::<HEADER>()?;
    let kind = HandshakeType::HELLO_VERIFY_REQUEST;
    *head = Header::whole(kind, u32::try_from(BODY).ok()?, header.message_seq).emit();
    put_hello_verify_request(&mut Window::new(0, body), cookie);
    Some(record::HEADER.saturating_add(length))
}

impl Drop for CookieGate {
    fn drop(&mut self) {
        self.secrets.as_flattened_mut().zeroize();
    }
}

impl fmt::Debug for CookieGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CookieGate(..)")
    }
}
