//! What both roles need during a handshake.

use super::Context;
use super::flight::{Message, Outbox};
use super::material::{Agreed, Material};
use super::reassembly::Reassembly;
use super::retransmit::Retransmit;
use crate::alert::AlertDescription;
use crate::config::Config;
use crate::crypto::{Digest, Job, PkRequest, Point, Secret, Symmetric};
use crate::error::Fatal;
use crate::platform::{PeerIdentity, Platform};
use crate::probe::{Mark, Probe};
use crate::record::Record;
use crate::wire::extension::CertificateType;
use crate::wire::handshake::Header;
use crate::wire::hello::Answers;
use crate::wire::record::RecordNumber;
use crate::wire::{Sink, certificate, key_exchange};
use rand_core::TryRng as _;

/// Body of a protected Finished: explicit nonce, handshake header, verify_data, tag.
const FINISHED_RECORD: usize = 8 + 12 + 12 + 8;

pub(super) struct Common<P: Platform> {
    pub(super) job: Job,
    pub(super) is_server: bool,
    pub(super) material: Material,
    pub(super) transcript: Transcript<P>,
    pub(super) inbox: Reassembly,
    pub(super) out: Outbox,
    pub(super) retransmit: Retransmit,
    /// The next sequence number of epoch 0. A copy of a record never reuses one.
    pub(super) plain_next: u64,
    /// Our ephemeral private key, unless it stays in the engine.
    pub(super) secret: Option<Secret>,
    /// The peer's Finished, if it came before it could be opened.
    pub(super) early: Option<(RecordNumber, [u8; FINISHED_RECORD])>,
    /// The client's ChangeCipherSpec has come before our computation was done.
    pub(super) early_change_cipher_spec: Option<RecordNumber>,
    /// The last record of epoch 0 with handshake messages.
    pub(super) plain_number: RecordNumber,
    /// The record that made the client's messages in the clear complete.
    pub(super) plain_complete: RecordNumber,
    /// The open question is with the caller.
    pub(super) asked: bool,
    /// An alert that anybody may have sent.
    pub(super) plaintext_alert: Option<AlertDescription>,
    /// message_seq of the first message of the peer's flight that is awaited; what is below belongs to the one before.
    pub(super) peer_flight: u16,
}

impl<P: Platform> Common<P> {
    pub(super) fn new(cx: &mut Context<'_, P>, job: Job, is_server: bool) -> Result<Self, Fatal> {
        // RFC 7925 section 12: all 32 bytes are random, none tells the time.
        let mut randoms = [[0; 32]; 2];
        let [client, server] = &mut randoms;
        let ours = if is_server { server } else { client };
        cx.platform
            .rng()
            .try_fill_bytes(ours)
            .map_err(|_| Fatal::Crypto)?;
        Ok(Self {
            job,
            is_server,
            material: Material {
                randoms,
                agreed: Agreed {
                    answers: Answers::NONE,
                    certificate_request: false,
                    client_shows: false,
                },
                point: [0; 65],
                signature: [0; 64],
                digest: [0; 32],
            },
            transcript: Transcript(cx.platform.symmetric().hash()),
            inbox: Reassembly::new(),
            out: Outbox::new(),
            retransmit: Retransmit::new(&cx.config.timers, cx.now),
            plain_next: 0,
            secret: None,
            early: None,
            early_change_cipher_spec: None,
            plain_number: RecordNumber::default(),
            plain_complete: RecordNumber::default(),
            asked: false,
            plaintext_alert: None,
            peer_flight: 0,
        })
    }

    pub(super) fn mark(&self, platform: &mut P, mark: Mark) {
        platform.probe().mark(self.job, mark);
    }

    /// Hashes a message of the peer.
    pub(super) fn absorb(&mut self, platform: &mut P, header: Header, body: &[u8]) {
        let header = Header::whole(header.kind, header.length, header.message_seq);
        self.transcript.absorb(platform.symmetric(), header, body);
    }

    /// A ChangeCipherSpec has come that was sent after all messages in the clear.
    pub(super) fn change_cipher_spec_has_come(&self) -> bool {
        self.early_change_cipher_spec
            .is_some_and(|number| number > self.plain_complete)
    }

    /// The peer's whole flight is there.
    pub(super) fn flight_received(&mut self, config: &Config<'_>) {
        self.retransmit.flight_received(&config.timers);
        self.plaintext_alert = None;
    }

    /// SHA-256 over both randoms and `ServerECDHParams`: what ServerKeyExchange signs (RFC 8422 section 5.4).
    pub(super) fn params_digest(&self, platform: &mut P, point: &Point) -> Digest {
        let symmetric = platform.symmetric();
        let mut hash = symmetric.hash();
        let [client, server] = &self.material.randoms;
        let [params, point] = key_exchange::server_params(point);
        for part in [client, server, params, point] {
            symmetric.update(&mut hash, part);
        }
        symmetric.finish(hash)
    }

    /// The request for the secret shared with the peer's ephemeral key.
    pub(super) fn agree(&self, theirs: &Point) -> PkRequest {
        PkRequest::Agree(self.secret.as_ref().map(|secret| Secret(secret.0)), *theirs)
    }

    /// Keeps a record that can be the Finished; one, and the latest.
    pub(super) fn keep_early(&mut self, record: &Record<'_>) -> bool {
        let body = (&*record.body).try_into().ok();
        self.early = body.map(|body| (record.number, body)).or(self.early.take());
        body.is_some()
    }
}

/// A running hash over all handshake messages (RFC 6347 section 4.2.6).
pub(super) struct Transcript<P: Platform>(<P::Symmetric as Symmetric>::Hash);

impl<P: Platform> Transcript<P> {
    /// Hashes a message as if it had come unfragmented.
    pub(super) fn absorb(&mut self, symmetric: &mut P::Symmetric, header: Header, body: &[u8]) {
        symmetric.update(&mut self.0, &header.emit());
        symmetric.update(&mut self.0, body);
    }

    /// Hashes a message of our own.
    pub(super) fn absorb_own(
        &mut self,
        symmetric: &mut P::Symmetric,
        message: &Message<'_>,
        message_seq: u16,
    ) {
        let length = u32::try_from(message.length()).unwrap_or(u32::MAX);
        symmetric.update(
            &mut self.0,
            &Header::whole(message.kind(), length, message_seq).emit(),
        );
        message.emit(&mut Absorb {
            symmetric,
            hash: &mut self.0,
        });
    }

    /// The hash so far.
    pub(super) fn digest(&self, symmetric: &mut P::Symmetric) -> Digest {
        symmetric.finish(self.0.clone())
    }
}

struct Absorb<'a, S: Symmetric> {
    symmetric: &'a mut S,
    hash: &'a mut S::Hash,
}

impl<S: Symmetric> Sink for Absorb<'_, S> {
    fn put(&mut self, bytes: &[u8]) {
        self.symmetric.update(self.hash, bytes);
    }
}

/// Checks a Certificate message for its shape and for a key that can be used; `false` if the peer shows nothing.
pub(super) fn check_certificate(kind: CertificateType, body: &[u8]) -> Result<bool, Fatal> {
    let Some(identity) = identity_of(kind, body)? else {
        return Ok(false);
    };
    match (identity, point_of(&identity)) {
        (_, Ok(Some(_))) => Ok(true),
        // RFC 7925 section 6: no certificate alerts about raw public keys.
        (PeerIdentity::RawPublicKey(_), Ok(None)) => Err(Fatal::NothingInCommon),
        (PeerIdentity::RawPublicKey(_), Err(_)) => Err(Fatal::Decode),
        (_, Ok(None)) => Err(Fatal::UnsupportedCertificate),
        (_, Err(_)) => Err(Fatal::BadCertificate),
    }
}

/// What a Certificate message shows; `None` if nothing.
pub(super) fn identity_of(
    kind: CertificateType,
    body: &[u8],
) -> Result<Option<PeerIdentity<'_>>, Fatal> {
    Ok(match kind {
        CertificateType::RawPublicKey => {
            certificate::parse_raw(body)?.map(PeerIdentity::RawPublicKey)
        }
        CertificateType::X509 => match certificate::parse_x509(body)? {
            None => None,
            Some(leaf) => {
                let spki = certificate::spki_of(leaf).map_err(|_| Fatal::BadCertificate)?;
                Some(PeerIdentity::Certificate { leaf, spki })
            }
        },
    })
}

/// The public key in what the peer showed.
pub(super) fn point_of<'a>(identity: &PeerIdentity<'a>) -> Result<Option<&'a Point>, Fatal> {
    Ok(certificate::point_of(identity.spki().unwrap_or_default())?)
}

/// How a refusal of this kind of credential is reported (RFC 7925 section 6).
pub(super) const fn refusal(kind: CertificateType) -> Fatal {
    match kind {
        CertificateType::RawPublicKey => Fatal::PeerRefused,
        CertificateType::X509 => Fatal::CertificateRefused,
    }
}

impl From<crate::wire::Malformed> for Fatal {
    fn from(_: crate::wire::Malformed) -> Self {
        Self::Decode
    }
}
