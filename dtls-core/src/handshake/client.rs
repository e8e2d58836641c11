//! The client's side (RFC 6347 figure 1, RFC 5246 section 7.3):
//!
//! 1. ClientHello →
//! 2. ← HelloVerifyRequest
//! 3. ClientHello with cookie →
//! 4. ← ServerHello, Certificate, ServerKeyExchange, [CertificateRequest], ServerHelloDone
//! 5. [Certificate], ClientKeyExchange, [CertificateVerify], ChangeCipherSpec, Finished →
//! 6. ← ChangeCipherSpec, Finished
//!
//! All questions are asked between 4 and 5: who is this, is its signature right, a key pair, our signature, the secret.

use super::common::{Common, check_certificate, identity_of, point_of, refusal};
use super::flight::{self, Message};
use super::{AwaitFinished, Context, Taken, keys};
use crate::config::Config;
use crate::crypto::{CryptoError, PkRequest, PkResponse, Secret};
use crate::error::Fatal;
use crate::platform::{Answer, Platform, Question};
use crate::probe::{Mark, Operation, Phase};
use crate::proof::{PeerVerified, SignatureVerified};
use crate::wire::extension::{self, CertificateType, CertificateTypes};
use crate::wire::handshake::{HandshakeType, Header};
use crate::wire::hello::{Answers, ServerHello, parse_hello_verify_request};
use crate::wire::key_exchange::ServerKeyExchange;
use crate::wire::{DTLS_1_2, ECDHE_ECDSA_WITH_AES_128_CCM_8, certificate};
use core::mem;

/// How many cookies are taken in one handshake: servers change their secrets, but not that often.
const COOKIES: u16 = 4;

pub(super) enum Stage {
    /// Flights 2 or 4.
    AwaitServerHello,
    AwaitCertificate,
    AwaitServerKeyExchange,
    /// A CertificateRequest may come first.
    AwaitServerHelloDone,
    AskPeer,
    AskVerify(PeerVerified),
    AskGenerate(PeerVerified, SignatureVerified),
    AskSign(PeerVerified, SignatureVerified),
    AskAgree(PeerVerified, SignatureVerified),
}

impl Stage {
    pub(super) const fn awaits_message(&self) -> bool {
        self.operation().is_none()
    }

    pub(super) const fn operation(&self) -> Option<Operation> {
        match self {
            Self::AwaitServerHello
            | Self::AwaitCertificate
            | Self::AwaitServerKeyExchange
            | Self::AwaitServerHelloDone => None,
            Self::AskPeer => Some(Operation::Peer),
            Self::AskVerify(_) => Some(Operation::Verify),
            Self::AskGenerate(..) => Some(Operation::Generate),
            Self::AskSign(..) => Some(Operation::Sign),
            Self::AskAgree(..) => Some(Operation::Agree),
        }
    }
}

/// Takes a message of the server.
pub(super) fn message<P: Platform>(
    common: &mut Common<P>,
    stage: &mut Stage,
    platform: &mut P,
    config: &Config<'_>,
    header: Header,
    body: &[u8],
    kept: &[u8],
) -> Result<Taken, Fatal> {
    let (next, taken) = match (&*stage, header.kind) {
        (Stage::AwaitServerHello, HandshakeType::HELLO_VERIFY_REQUEST) => {
            parse_hello_verify_request(body)?;
            if header.message_seq >= COOKIES {
                return Err(Fatal::UnexpectedMessage);
            }
            common.flight_received(config);
            common.out.start(3, header.message_seq.saturating_add(1));
            common.mark(platform, Mark::Phase(Phase::AwaitServerFlight));
            return Ok(Taken::Keep); // the cookie; no part of the transcript (RFC 6347 section 4.2.6)
        }
        (Stage::AwaitServerHello, HandshakeType::SERVER_HELLO) => {
            server_hello(common, config, body)?;
            if common.out.flight == 1 {
                common.mark(platform, Mark::NoCookie);
            }
            // The transcript begins with the ClientHello that is answered here (RFC 6347 section 4.2.6).
            let hello = flight::client_hello(&common.material, config, flight::cookie(kept));
            common
                .transcript
                .absorb_own(platform.symmetric(), &hello, common.out.first_seq);
            (Stage::AwaitCertificate, Taken::Consumed)
        }
        (Stage::AwaitCertificate, HandshakeType::CERTIFICATE) => {
            if !check_certificate(common.material.agreed.server_type(), body)? {
                return Err(Fatal::PeerAnonymous);
            }
            (Stage::AwaitServerKeyExchange, Taken::Keep)
        }
        (Stage::AwaitServerKeyExchange, HandshakeType::SERVER_KEY_EXCHANGE) => {
            let exchange = ServerKeyExchange::parse(body)?.map_err(|_| Fatal::IllegalParameter)?;
            common.material.digest = common.params_digest(platform, exchange.point);
            (Stage::AwaitServerHelloDone, Taken::Keep)
        }
        (Stage::AwaitServerHelloDone, HandshakeType::CERTIFICATE_REQUEST) => {
            certificate_request(common, config, body)?;
            (Stage::AwaitServerHelloDone, Taken::Consumed)
        }
        (Stage::AwaitServerHelloDone, HandshakeType::SERVER_HELLO_DONE) => {
            if !body.is_empty() {
                return Err(Fatal::Decode);
            }
            common.flight_received(config);
            // Until now the ClientHello may have had to be repeated, with its cookie.
            common.inbox.release(HandshakeType::HELLO_VERIFY_REQUEST);
            common.mark(platform, Mark::Phase(Phase::PrepareClientFlight));
            (Stage::AskPeer, Taken::Consumed)
        }
        _ => return Err(Fatal::UnexpectedMessage),
    };
    common.absorb(platform, header, body);
    *stage = next;
    Ok(taken)
}

/// RFC 5246 section 7.4.1.3, and what each extension demands of its answer.
fn server_hello<P: Platform>(
    common: &mut Common<P>,
    config: &Config<'_>,
    body: &[u8],
) -> Result<(), Fatal> {
    let hello = ServerHello::parse(body)?;
    if hello.version != DTLS_1_2 {
        return Err(Fatal::ProtocolVersion);
    }
    if hello.cipher_suite != ECDHE_ECDSA_WITH_AES_128_CCM_8 || hello.compression_method != 0 {
        return Err(Fatal::IllegalParameter);
    }
    let mut answers = Answers::NONE;
    for (kind, mut content) in hello.extensions {
        match kind {
            extension::EXTENDED_MASTER_SECRET => answers.extended_master_secret = true,
            // RFC 5746 section 3.4: there was no handshake before, so there is nothing to show.
            extension::RENEGOTIATION_INFO => {
                if !content.vec8()?.is_empty() {
                    return Err(Fatal::NothingInCommon);
                }
                answers.renegotiation_info = true;
            }
            // RFC 8422 section 5.2: uncompressed points must be among them.
            extension::EC_POINT_FORMATS => {
                if !content.vec8()?.contains(&0) {
                    return Err(Fatal::IllegalParameter);
                }
                answers.ec_point_formats = true;
            }
            extension::CLIENT_CERTIFICATE_TYPE => {
                answers.client_certificate_type = Some(chosen(content.u8()?, config.own_types())?);
            }
            extension::SERVER_CERTIFICATE_TYPE => {
                answers.server_certificate_type =
                    Some(chosen(content.u8()?, config.accepted_types())?);
            }
            // RFC 5246 section 7.4.1.4: only what was asked for may be answered.
            _ => return Err(Fatal::UnsupportedExtension),
        }
        content.finish()?;
    }
    // RFC 7627 section 5.3.
    if !answers.extended_master_secret && !config.allow_legacy_master_secret {
        return Err(Fatal::NothingInCommon);
    }
    common.material.agreed.answers = answers;
    // RFC 7250 section 4.2: without an answer, it is X.509, which may not be what we accept.
    if !config
        .accepted_types()
        .contains(common.material.agreed.server_type())
    {
        return Err(Fatal::NoCommonCertificateType);
    }
    common.material.randoms[1] = *hello.random;
    Ok(())
}

/// The certificate type that the server has chosen: one we have offered, in an extension that we have sent.
fn chosen(value: u8, offered: CertificateTypes) -> Result<CertificateType, Fatal> {
    if !offered.is_sent() {
        return Err(Fatal::UnsupportedExtension);
    }
    let kind = CertificateType::from_wire(value).filter(|kind| offered.contains(*kind));
    kind.ok_or(Fatal::IllegalParameter)
}

/// RFC 5246 section 7.4.4: at most one, and before ServerHelloDone.
fn certificate_request<P: Platform>(
    common: &mut Common<P>,
    config: &Config<'_>,
    body: &[u8],
) -> Result<(), Fatal> {
    let suits = certificate::parse_request(body)?;
    if mem::replace(&mut common.material.agreed.certificate_request, true) {
        return Err(Fatal::UnexpectedMessage);
    }
    let credential = common.material.credential(config, false);
    common.material.agreed.client_shows = suits && credential.is_some();
    Ok(())
}

/// The question that is open. What it is about is looked up in the messages that are kept.
pub(super) fn question<'m, P: Platform>(
    common: &Common<P>,
    stage: &Stage,
    memory: &'m [u8],
    config: &Config<'_>,
) -> Option<Question<'m>> {
    let material = &common.material;
    let kept = |kind| common.inbox.kept(memory, kind);
    let identity = || {
        identity_of(
            material.agreed.server_type(),
            kept(HandshakeType::CERTIFICATE),
        )
        .ok()?
    };
    let exchange = || {
        ServerKeyExchange::parse(kept(HandshakeType::SERVER_KEY_EXCHANGE))
            .ok()?
            .ok()
    };
    Some(match stage {
        Stage::AskPeer => Question::Peer(identity()?),
        Stage::AskVerify(_) => {
            let point = *point_of(&identity()?).ok()??;
            let signature = exchange()?.signature;
            Question::PublicKey(PkRequest::Verify(point, material.digest, signature))
        }
        Stage::AskGenerate(..) => Question::PublicKey(PkRequest::Generate),
        Stage::AskSign(..) => {
            let key = material.credential(config, false)?.key();
            Question::PublicKey(PkRequest::Sign(key, material.digest))
        }
        Stage::AskAgree(..) => Question::PublicKey(common.agree(exchange()?.point)),
        _ => return None,
    })
}

/// Takes the answer to the open question.
pub(super) fn answer<P: Platform>(
    common: &mut Common<P>,
    stage: &mut Stage,
    cx: &mut Context<'_, P>,
    answer: Answer,
) -> Result<Option<AwaitFinished>, Fatal> {
    *stage = match (mem::replace(stage, Stage::AskPeer), answer) {
        (Stage::AskPeer, Answer::Peer(answer)) => {
            let refused = refusal(common.material.agreed.server_type());
            Stage::AskVerify(PeerVerified::shown(answer, refused)?)
        }
        (Stage::AskVerify(peer), Answer::PublicKey(Ok(response))) => {
            Stage::AskGenerate(peer, SignatureVerified::by_engine(&response)?)
        }
        (Stage::AskVerify(_), Answer::PublicKey(Err(CryptoError::Invalid))) => {
            return Err(Fatal::BadSignature);
        }
        (
            Stage::AskGenerate(peer, signature),
            Answer::PublicKey(Ok(PkResponse::Generated(secret, point))),
        ) => {
            (common.secret, common.material.point) = (secret, point);
            prepare_flight(common, cx);
            if common.material.agreed.client_shows {
                Stage::AskSign(peer, signature)
            } else {
                Stage::AskAgree(peer, signature)
            }
        }
        (Stage::AskSign(peer, signature), Answer::PublicKey(Ok(PkResponse::Signed(own)))) => {
            common.material.signature = own;
            let verify = Message::CertificateVerify(&common.material.signature);
            common.transcript.absorb_own(
                cx.platform.symmetric(),
                &verify,
                common.out.first_seq.saturating_add(2),
            );
            Stage::AskAgree(peer, signature)
        }
        (
            Stage::AskAgree(peer, signature),
            Answer::PublicKey(Ok(PkResponse::Agreed(premaster))),
        ) => {
            common.secret = None;
            return Ok(Some(finish_flight(common, cx, &premaster, peer, signature)));
        }
        // RFC 8422 section 5.11: the server's point is not on the curve.
        (Stage::AskAgree(..), Answer::PublicKey(Err(CryptoError::Invalid))) => {
            return Err(Fatal::IllegalParameter);
        }
        _ => return Err(Fatal::Crypto),
    };
    Ok(None)
}

/// Flight 5 up to ClientKeyExchange enters the transcript, which is then what CertificateVerify signs and the session hash
/// (RFC 5246 section 7.4.8, RFC 7627 section 3).
fn prepare_flight<P: Platform>(common: &mut Common<P>, cx: &mut Context<'_, P>) {
    let first_seq = common.out.first_seq.saturating_add(1);
    common.out.prepare(5, first_seq);
    let symmetric = cx.platform.symmetric();
    let messages = flight::client_messages(&common.material, cx.config);
    for (message_seq, message) in (first_seq..).zip(messages) {
        if message.kind() != HandshakeType::CERTIFICATE_VERIFY {
            common
                .transcript
                .absorb_own(symmetric, &message, message_seq);
        }
    }
    common.material.digest = common.transcript.digest(symmetric);
}

/// All is computed: flight 5 may go.
fn finish_flight<P: Platform>(
    common: &mut Common<P>,
    cx: &mut Context<'_, P>,
    premaster: &Secret,
    peer: PeerVerified,
    signature: SignatureVerified,
) -> AwaitFinished {
    let messages = flight::client_messages(&common.material, cx.config).count();
    let finished_seq = common
        .out
        .first_seq
        .saturating_add(u16::try_from(messages).unwrap_or(0));
    let pending = keys::derive(common, cx.platform, premaster, finished_seq);
    common.out.start(5, common.out.first_seq);
    common.peer_flight = common.inbox.next();
    AwaitFinished {
        pending,
        finished_seq,
        peer,
        signature,
        change_cipher_spec: false,
    }
}
