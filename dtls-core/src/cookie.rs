//! stub
use crate::*;
/// Stateless first contact (RFC 6347 section 4.2.1).
pub struct CookieGate([[u8; 32]; 2]);
/// What to do with an [`Event::Stranger`].
#[derive(Debug)]
pub enum Admission<'d> {
    /// Nothing.
    Drop,
    /// Send this many bytes of `out` back: a HelloVerifyRequest, never longer than the ClientHello.
    Reply(usize),
    /// The address is proven.
    Accept(Admitted<'d>),
}
/// A ClientHello whose cookie is right.
#[derive(Debug)]
pub struct Admitted<'d>(pub(crate) ClientHelloRecord<'d>);
impl<'d> Admitted<'d> {
    /// Skips the cookie exchange: for links on which addresses cannot be forged.
    pub const fn without_cookie(hello: ClientHelloRecord<'d>) -> Self {
        Self(hello)
    }
}
#[allow(unused)]
impl CookieGate {
    /// Starts with a secret.
    pub const fn new(secret: [u8; 32]) -> Self {
        Self([secret, secret])
    }
    /// Changes the secret; cookies made under the one before stay valid until the next call.
    pub const fn rotate(&mut self, secret: [u8; 32]) {}
    /// Judges one ClientHello.
    pub fn admit<'d, P: Platform>(
        &self,
        platform: &mut P,
        peer: core::net::SocketAddr,
        hello: ClientHelloRecord<'d>,
        out: &mut [u8],
    ) -> Admission<'d> {
        todo!()
    }
}
