//! Our flights (RFC 6347 figure 1): what is in them, and how they become datagrams. Nothing is stored of a flight; every
//! transmission makes it anew.

use super::material::Material;
use crate::config::{Config, Credential};
use crate::crypto::{Point, Signature};
use crate::error::SendError;
use crate::wire::handshake::{self, HandshakeType, Header};
use crate::wire::hello::{OwnClientHello, OwnServerHello, parse_hello_verify_request};
use crate::wire::record::{self, ContentType, RecordNumber};
use crate::wire::{Sink, Window, certificate, key_exchange, length, verify};

/// A handshake message that we send in the clear.
pub(super) enum Message<'a> {
    #[cfg(feature = "client")]
    ClientHello(OwnClientHello<'a>),
    #[cfg(feature = "server")]
    ServerHello(OwnServerHello<'a>),
    Certificate(Option<&'a Credential<'a>>),
    #[cfg(feature = "server")]
    ServerKeyExchange(&'a Point, &'a Signature),
    #[cfg(feature = "server")]
    CertificateRequest,
    #[cfg(feature = "server")]
    ServerHelloDone,
    #[cfg(feature = "client")]
    ClientKeyExchange(&'a Point),
    #[cfg(feature = "client")]
    CertificateVerify(&'a Signature),
}

impl Message<'_> {
    pub(super) const fn kind(&self) -> HandshakeType {
        match self {
            #[cfg(feature = "client")]
            Self::ClientHello(_) => HandshakeType::CLIENT_HELLO,
            #[cfg(feature = "server")]
            Self::ServerHello(_) => HandshakeType::SERVER_HELLO,
            Self::Certificate(_) => HandshakeType::CERTIFICATE,
            #[cfg(feature = "server")]
            Self::ServerKeyExchange(..) => HandshakeType::SERVER_KEY_EXCHANGE,
            #[cfg(feature = "server")]
            Self::CertificateRequest => HandshakeType::CERTIFICATE_REQUEST,
            #[cfg(feature = "server")]
            Self::ServerHelloDone => HandshakeType::SERVER_HELLO_DONE,
            #[cfg(feature = "client")]
            Self::ClientKeyExchange(_) => HandshakeType::CLIENT_KEY_EXCHANGE,
            #[cfg(feature = "client")]
            Self::CertificateVerify(_) => HandshakeType::CERTIFICATE_VERIFY,
        }
    }

    pub(super) fn emit(&self, sink: &mut dyn Sink) {
        match self {
            #[cfg(feature = "client")]
            Self::ClientHello(hello) => hello.emit(sink),
            #[cfg(feature = "server")]
            Self::ServerHello(hello) => hello.emit(sink),
            Self::Certificate(credential) => certificate::put(sink, *credential),
            #[cfg(feature = "server")]
            Self::ServerKeyExchange(point, signature) => {
                key_exchange::put_server_key_exchange(sink, point, signature);
            }
            #[cfg(feature = "server")]
            Self::CertificateRequest => certificate::put_request(sink),
            #[cfg(feature = "server")]
            Self::ServerHelloDone => {}
            #[cfg(feature = "client")]
            Self::ClientKeyExchange(point) => key_exchange::put_client_key_exchange(sink, point),
            #[cfg(feature = "client")]
            Self::CertificateVerify(signature) => verify::put_certificate_verify(sink, signature),
        }
    }

    pub(super) fn length(&self) -> usize {
        length(&|sink| self.emit(sink))
    }
}

/// A piece of a flight.
pub(super) enum Item<'a> {
    Message(Message<'a>),
    /// A record of its own; what follows is protected.
    ChangeCipherSpec,
    Finished,
}

/// The n-th item of a flight, by the flight's number in RFC 6347 figure 1; `None` after the last one. `kept` is the
/// HelloVerifyRequest that is answered, if there was one.
pub(super) fn item<'a>(
    flight: u8,
    index: u8,
    material: &'a Material,
    config: &'a Config<'a>,
    kept: &'a [u8],
) -> Option<Item<'a>> {
    match flight {
        #[cfg(feature = "client")]
        1 | 3 => (index == 0).then(|| Item::Message(client_hello(material, config, cookie(kept)))),
        #[cfg(feature = "server")]
        4 => server_messages(material, config)
            .map(Item::Message)
            .nth(index.into()),
        #[cfg(feature = "client")]
        5 => {
            let rest = [Item::ChangeCipherSpec, Item::Finished];
            client_messages(material, config)
                .map(Item::Message)
                .chain(rest)
                .nth(index.into())
        }
        _ => None,
    }
}

#[cfg(feature = "client")]
pub(super) fn client_hello<'a>(
    material: &'a Material,
    config: &Config<'_>,
    cookie: &'a [u8],
) -> Message<'a> {
    Message::ClientHello(OwnClientHello {
        random: &material.randoms[0],
        cookie,
        client_types: config.own_types(),
        server_types: config.accepted_types(),
    })
}

/// The cookie in the body of a HelloVerifyRequest, which is kept; none without one.
#[cfg(feature = "client")]
pub(super) fn cookie(hello_verify_request: &[u8]) -> &[u8] {
    parse_hello_verify_request(hello_verify_request).unwrap_or_default()
}

/// Flight 4.
#[cfg(feature = "server")]
pub(super) fn server_messages<'a>(
    material: &'a Material,
    config: &'a Config<'a>,
) -> impl Iterator<Item = Message<'a>> {
    let request = material
        .agreed
        .certificate_request
        .then_some(Message::CertificateRequest);
    let hello = OwnServerHello {
        random: &material.randoms[1],
        answers: material.agreed.answers,
    };
    [
        Some(Message::ServerHello(hello)),
        Some(Message::Certificate(material.credential(config, true))),
        Some(Message::ServerKeyExchange(
            &material.point,
            &material.signature,
        )),
        request,
        Some(Message::ServerHelloDone),
    ]
    .into_iter()
    .flatten()
}

/// Flight 5 up to CertificateVerify.
#[cfg(feature = "client")]
pub(super) fn client_messages<'a>(
    material: &'a Material,
    config: &'a Config<'a>,
) -> impl Iterator<Item = Message<'a>> {
    let agreed = &material.agreed;
    let credential = material
        .credential(config, false)
        .filter(|_| agreed.client_shows);
    [
        // RFC 5246 section 7.4.6: a client that is asked answers, if need be with an empty Certificate.
        agreed
            .certificate_request
            .then_some(Message::Certificate(credential)),
        Some(Message::ClientKeyExchange(&material.point)),
        agreed
            .client_shows
            .then_some(Message::CertificateVerify(&material.signature)),
    ]
    .into_iter()
    .flatten()
}

/// Which flight goes out, and how much of it has gone.
#[derive(Debug)]
pub(super) struct Outbox {
    /// Its number in RFC 6347 figure 1.
    pub(super) flight: u8,
    /// message_seq of its first message.
    pub(super) first_seq: u16,
    /// Transmissions before this one.
    pub(super) attempt: u8,
    /// The next item, and how much of it has gone.
    pub(super) item: u8,
    pub(super) offset: usize,
    active: bool,
}

impl Outbox {
    pub(super) const fn new() -> Self {
        Self {
            flight: 0,
            first_seq: 0,
            attempt: 0,
            item: 0,
            offset: 0,
            active: false,
        }
    }

    /// A new flight is ready to go.
    pub(super) const fn start(&mut self, flight: u8, first_seq: u16) {
        *self = Self {
            flight,
            first_seq,
            active: true,
            ..Self::new()
        };
    }

    /// A flight is being computed.
    pub(super) const fn prepare(&mut self, flight: u8, first_seq: u16) {
        *self = Self {
            flight,
            first_seq,
            ..Self::new()
        };
    }

    /// The flight goes out again: all of it (RFC 6347 section 4.2.4).
    pub(super) const fn restart(&mut self) {
        self.attempt = self.attempt.saturating_add(1);
        (self.item, self.offset, self.active) = (0, 0, true);
    }

    pub(super) const fn is_active(&self) -> bool {
        self.active
    }

    pub(super) const fn done(&mut self) {
        self.active = false;
    }

    pub(super) const fn next_item(&mut self) {
        (self.item, self.offset) = (self.item.saturating_add(1), 0);
    }
}

/// Packs messages tightly into one datagram: as many messages in a record, and as many records, as there is room for.
pub(super) struct Packer<'o> {
    out: &'o mut [u8],
    /// Bytes of closed records.
    used: usize,
    /// Bytes of messages in the open record, if there is one.
    open: Option<usize>,
}

impl<'o> Packer<'o> {
    pub(super) const fn new(out: &'o mut [u8]) -> Self {
        Self {
            out,
            used: 0,
            open: None,
        }
    }

    /// Puts as much of a message as there is room for, and moves the outbox on by that.
    pub(super) fn message(
        &mut self,
        message: &Message<'_>,
        out: &mut Outbox,
    ) -> Result<(), SendError> {
        let total = message.length();
        let left = total.saturating_sub(out.offset);
        let in_record = self.open.unwrap_or(0);
        let start = self
            .used
            .saturating_add(record::HEADER)
            .saturating_add(in_record);
        // A ClientHello is never fragmented: a server that keeps no state could not put it together.
        let least = if message.kind() == HandshakeType::CLIENT_HELLO {
            left
        } else {
            left.min(1)
        };
        let too_small = SendError::TooSmall(
            start
                .saturating_add(handshake::HEADER)
                .saturating_add(least),
        );
        let room = self
            .out
            .get_mut(start..)
            .and_then(<[u8]>::split_first_chunk_mut::<{ handshake::HEADER }>);
        let (head, body) = room.ok_or(too_small)?;
        let n = left.min(body.len());
        if n < least {
            return Err(too_small);
        }
        let as_u32 = |n: usize| u32::try_from(n).map_err(|_| too_small);
        *head = Header {
            kind: message.kind(),
            length: as_u32(total)?,
            message_seq: out.first_seq.saturating_add(out.item.into()),
            fragment_offset: as_u32(out.offset)?,
            fragment_length: as_u32(n)?,
        }
        .emit();
        message.emit(&mut Window::new(
            out.offset,
            body.get_mut(..n).unwrap_or_default(),
        ));
        self.open = Some(
            in_record
                .saturating_add(handshake::HEADER)
                .saturating_add(n),
        );
        if n == left {
            out.next_item();
        } else {
            out.offset = out.offset.saturating_add(n);
        }
        Ok(())
    }

    /// Puts a ChangeCipherSpec.
    pub(super) fn change_cipher_spec(&mut self, next: &mut u64) -> Result<(), SendError> {
        self.close(next)?;
        crate::record::begin(
            ContentType::CHANGE_CIPHER_SPEC,
            RecordNumber::new(0, *next),
            self.room(),
            1,
        )?
        .fill(1);
        *next = next.saturating_add(1);
        self.advance(record::HEADER.saturating_add(1));
        Ok(())
    }

    /// Ends the open record, if there is one, with this number.
    pub(super) fn close(&mut self, next: &mut u64) -> Result<(), SendError> {
        let Some(n) = self.open.take() else {
            return Ok(());
        };
        let out = self.out.get_mut(self.used..).unwrap_or_default();
        crate::record::begin(ContentType::HANDSHAKE, RecordNumber::new(0, *next), out, n)?;
        *next = next.saturating_add(1);
        self.used = self.used.saturating_add(record::HEADER).saturating_add(n);
        Ok(())
    }

    /// The room behind the closed records.
    pub(super) fn room(&mut self) -> &mut [u8] {
        self.out.get_mut(self.used..).unwrap_or_default()
    }

    /// A record was written into the room.
    pub(super) const fn advance(&mut self, n: usize) {
        self.used = self.used.saturating_add(n);
    }

    pub(super) const fn used(&self) -> usize {
        self.used
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.used == 0 && self.open.is_none()
    }
}
