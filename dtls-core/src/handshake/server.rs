//! The server's side (RFC 6347 figure 1, RFC 5246 section 7.3), after the cookie exchange:
//!
//! 3. → ClientHello with cookie
//! 4. ServerHello, Certificate, ServerKeyExchange, [CertificateRequest], ServerHelloDone →
//! 5. → [Certificate], ClientKeyExchange, [CertificateVerify], ChangeCipherSpec, Finished
//! 6. ChangeCipherSpec, Finished → (sent by the association)
//!
//! Before 4 it asks for a key pair and a signature; after CertificateVerify (or ClientKeyExchange) who this is, whether
//! its signature is right, and for the secret.

use super::common::{Common, check_certificate, identity_of, point_of, refusal};
use super::{AwaitFinished, Context, Taken, flight, keys};
use crate::config::{ClientAuthentication, Config};
use crate::crypto::{CryptoError, PkRequest, PkResponse};
use crate::error::Fatal;
use crate::platform::{Answer, PeerIdentity, Platform, Question};
use crate::probe::{Mark, Operation, Phase};
use crate::proof::{PeerVerified, SignatureVerified};
use crate::wire::extension::{self, CertificateTypes};
use crate::wire::handshake::{HandshakeType, Header};
use crate::wire::hello::ClientHello;
use crate::wire::key_exchange::parse_client_key_exchange;
use crate::wire::{
    ECDHE_ECDSA_WITH_AES_128_CCM_8, ECDSA_SHA256, EMPTY_RENEGOTIATION_INFO_SCSV, SECP256R1,
    contains_u16, verify,
};
use core::mem;

pub(super) enum Stage {
    AwaitClientHello,
    AskGenerate,
    AskSign,
    AwaitCertificate,
    AwaitClientKeyExchange,
    AwaitCertificateVerify,
    AskPeer,
    AskVerify(PeerVerified),
    AskAgree(PeerVerified, SignatureVerified),
}

impl Stage {
    pub(super) const fn awaits_message(&self) -> bool {
        self.operation().is_none()
    }

    pub(super) const fn operation(&self) -> Option<Operation> {
        match self {
            Self::AwaitClientHello
            | Self::AwaitCertificate
            | Self::AwaitClientKeyExchange
            | Self::AwaitCertificateVerify => None,
            Self::AskGenerate => Some(Operation::Generate),
            Self::AskSign => Some(Operation::Sign),
            Self::AskPeer => Some(Operation::Peer),
            Self::AskVerify(_) => Some(Operation::Verify),
            Self::AskAgree(..) => Some(Operation::Agree),
        }
    }
}

/// Takes a message of the client.
pub(super) fn message<P: Platform>(
    common: &mut Common<P>,
    stage: &mut Stage,
    platform: &mut P,
    config: &Config<'_>,
    header: Header,
    body: &[u8],
) -> Result<Taken, Fatal> {
    let (next, taken) = match (&*stage, header.kind) {
        (Stage::AwaitClientHello, HandshakeType::CLIENT_HELLO) => {
            client_hello(common, config, body)?;
            common.out.prepare(4, header.message_seq);
            (Stage::AskGenerate, Taken::Consumed)
        }
        (Stage::AwaitCertificate, HandshakeType::CERTIFICATE) => {
            let shows = check_certificate(common.material.agreed.client_type(), body)?;
            if !shows && config.client_authentication == ClientAuthentication::Required {
                return Err(Fatal::PeerAnonymous); // RFC 5246 section 7.4.6
            }
            common.material.agreed.client_shows = shows;
            (
                Stage::AwaitClientKeyExchange,
                if shows { Taken::Keep } else { Taken::Consumed },
            )
        }
        (Stage::AwaitClientKeyExchange, HandshakeType::CLIENT_KEY_EXCHANGE) => {
            parse_client_key_exchange(body)?.ok_or(Fatal::IllegalParameter)?;
            common.absorb(platform, header, body);
            common.material.digest = common.transcript.digest(platform.symmetric());
            if common.material.agreed.client_shows {
                *stage = Stage::AwaitCertificateVerify;
            } else {
                *stage = plaintext_complete(common, platform);
            }
            return Ok(Taken::Keep);
        }
        (Stage::AwaitCertificateVerify, HandshakeType::CERTIFICATE_VERIFY) => {
            let (algorithm, signature) = verify::parse_certificate_verify(body)?;
            // RFC 5246 section 7.4.8: one that the CertificateRequest has named.
            if algorithm != ECDSA_SHA256 {
                return Err(Fatal::IllegalParameter);
            }
            verify::parse_signature(signature)?;
            (plaintext_complete(common, platform), Taken::Keep)
        }
        _ => return Err(Fatal::UnexpectedMessage),
    };
    common.absorb(platform, header, body);
    *stage = next;
    Ok(taken)
}

/// All of flight 5 that comes in the clear is there. Without its Finished it is not complete: the timer waits for the
/// answers, but it is not over (RFC 6347 section 4.2.4).
fn plaintext_complete<P: Platform>(common: &mut Common<P>, platform: &mut P) -> Stage {
    common.retransmit.suspend();
    common.plain_complete = common.plain_number;
    common.mark(platform, Mark::Phase(Phase::VerifyClientFlight));
    Stage::AskPeer
}

/// What the client offers, as far as it matters here.
struct Offer {
    groups: bool,
    signature_algorithms: bool,
    client_types: Option<CertificateTypes>,
    server_types: Option<CertificateTypes>,
}

/// RFC 5246 section 7.4.1.2, and what each extension means.
fn client_hello<P: Platform>(
    common: &mut Common<P>,
    config: &Config<'_>,
    body: &[u8],
) -> Result<(), Fatal> {
    let hello = ClientHello::parse(body)?;
    // Versions count down: 254.253 is DTLS 1.2, and what is below that is newer (RFC 6347 section 4.1).
    if !matches!(hello.version, [254, ..=253]) {
        return Err(Fatal::ProtocolVersion);
    }
    if !hello.compression_methods.contains(&0) {
        return Err(Fatal::IllegalParameter);
    }
    if !contains_u16(hello.cipher_suites, ECDHE_ECDSA_WITH_AES_128_CCM_8) {
        return Err(Fatal::NothingInCommon);
    }
    common.material.randoms[0] = *hello.random;
    let answers = &mut common.material.agreed.answers;
    answers.renegotiation_info = contains_u16(hello.cipher_suites, EMPTY_RENEGOTIATION_INFO_SCSV);
    // RFC 8422 section 5.1: without supported_groups the server may choose. RFC 5246 section 7.4.1.4.1: without
    // signature_algorithms it is SHA-1, which nobody here signs with.
    let mut offer = Offer {
        groups: true,
        signature_algorithms: false,
        client_types: None,
        server_types: None,
    };
    for (kind, mut content) in hello.extensions {
        match kind {
            extension::EXTENDED_MASTER_SECRET => answers.extended_master_secret = true,
            extension::RENEGOTIATION_INFO => {
                // RFC 5746 section 3.6
                if !content.vec8()?.is_empty() {
                    return Err(Fatal::NothingInCommon);
                }
                answers.renegotiation_info = true;
            }
            extension::SUPPORTED_GROUPS => {
                offer.groups = contains_u16(content.list16()?, SECP256R1);
            }
            extension::SIGNATURE_ALGORITHMS => {
                offer.signature_algorithms = contains_u16(content.list16()?, ECDSA_SHA256);
            }
            extension::EC_POINT_FORMATS => {
                // RFC 8422 section 5.1.2: uncompressed must be among them.
                if !content.vec8()?.contains(&0) {
                    return Err(Fatal::IllegalParameter);
                }
                answers.ec_point_formats = true;
            }
            extension::CLIENT_CERTIFICATE_TYPE => {
                offer.client_types = Some(CertificateTypes::parse(&mut content)?);
            }
            extension::SERVER_CERTIFICATE_TYPE => {
                offer.server_types = Some(CertificateTypes::parse(&mut content)?);
            }
            _ => continue, // RFC 5246 section 7.4.1.4: unknown ones are ignored
        }
        content.finish()?;
    }
    if !offer.groups || !offer.signature_algorithms {
        return Err(Fatal::NothingInCommon);
    }
    // RFC 7627 section 5.3.
    if !answers.extended_master_secret && !config.allow_legacy_master_secret {
        return Err(Fatal::NothingInCommon);
    }
    choose_server_type(common, config, &offer)?;
    choose_client_type(common, config, &offer)
}

/// RFC 7250 section 4.2: the first of our credentials whose type the client accepts.
fn choose_server_type<P: Platform>(
    common: &mut Common<P>,
    config: &Config<'_>,
    offer: &Offer,
) -> Result<(), Fatal> {
    let offered = offer.server_types.unwrap_or(CertificateTypes::X509);
    let chosen = config
        .own_types()
        .iter()
        .find(|kind| offered.contains(*kind));
    // unsupported_certificate belongs to the extension: without it, there is simply no suite for us.
    let none = if offer.server_types.is_some() {
        Fatal::NoCommonCertificateType
    } else {
        Fatal::NothingInCommon
    };
    let chosen = chosen.ok_or(if config.credentials.is_empty() {
        Fatal::Credential
    } else {
        none
    })?;
    common.material.agreed.answers.server_certificate_type = offer.server_types.map(|_| chosen);
    Ok(())
}

/// RFC 7250 section 4.2: answered only if the client is asked for a credential.
fn choose_client_type<P: Platform>(
    common: &mut Common<P>,
    config: &Config<'_>,
    offer: &Offer,
) -> Result<(), Fatal> {
    let authentication = config.client_authentication;
    if authentication == ClientAuthentication::None {
        return Ok(());
    }
    let offered = offer.client_types.unwrap_or(CertificateTypes::X509);
    let chosen = config
        .accepted_types()
        .iter()
        .find(|kind| offered.contains(*kind));
    match (chosen, authentication, offer.client_types) {
        (Some(chosen), ..) => {
            let agreed = &mut common.material.agreed;
            agreed.certificate_request = true;
            agreed.answers.client_certificate_type = offer.client_types.map(|_| chosen);
            Ok(())
        }
        (None, ClientAuthentication::Required, Some(_)) => Err(Fatal::NoCommonCertificateType),
        (None, ClientAuthentication::Required, None) => Err(Fatal::PeerAnonymous),
        // It could not show anything that we would accept, so it is not asked.
        (None, ..) => Ok(()),
    }
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
            material.agreed.client_type(),
            kept(HandshakeType::CERTIFICATE),
        )
        .ok()?
    };
    Some(match stage {
        Stage::AskGenerate => Question::PublicKey(PkRequest::Generate),
        Stage::AskSign => {
            let key = material.credential(config, true)?.key();
            Question::PublicKey(PkRequest::Sign(key, material.digest))
        }
        Stage::AskPeer if material.agreed.client_shows => Question::Peer(identity()?),
        Stage::AskPeer => Question::Peer(PeerIdentity::Anonymous),
        Stage::AskVerify(_) => {
            let point = *point_of(&identity()?).ok()??;
            let verify = kept(HandshakeType::CERTIFICATE_VERIFY);
            let (_, signature) = verify::parse_certificate_verify(verify).ok()?;
            let signature = verify::parse_signature(signature).ok()?;
            Question::PublicKey(PkRequest::Verify(point, material.digest, signature))
        }
        Stage::AskAgree(..) => {
            let exchange = kept(HandshakeType::CLIENT_KEY_EXCHANGE);
            Question::PublicKey(common.agree(parse_client_key_exchange(exchange).ok()??))
        }
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
        (Stage::AskGenerate, Answer::PublicKey(Ok(PkResponse::Generated(secret, point)))) => {
            (common.secret, common.material.point) = (secret, point);
            common.material.digest = common.params_digest(cx.platform, &point);
            Stage::AskSign
        }
        (Stage::AskSign, Answer::PublicKey(Ok(PkResponse::Signed(signature)))) => {
            common.material.signature = signature;
            start_flight(common, cx);
            if common.material.agreed.certificate_request {
                Stage::AwaitCertificate
            } else {
                Stage::AwaitClientKeyExchange
            }
        }
        (Stage::AskPeer, Answer::Peer(answer)) if common.material.agreed.client_shows => {
            let refused = refusal(common.material.agreed.client_type());
            Stage::AskVerify(PeerVerified::shown(answer, refused)?)
        }
        (Stage::AskPeer, Answer::Peer(answer)) => {
            let peer = PeerVerified::anonymous(answer)?;
            let signature = SignatureVerified::of_nobody(&peer).ok_or(Fatal::PeerAnonymous)?;
            Stage::AskAgree(peer, signature)
        }
        (Stage::AskVerify(peer), Answer::PublicKey(Ok(response))) => {
            Stage::AskAgree(peer, SignatureVerified::by_engine(&response)?)
        }
        (Stage::AskVerify(_), Answer::PublicKey(Err(CryptoError::Invalid))) => {
            return Err(Fatal::BadSignature);
        }
        (
            Stage::AskAgree(peer, signature),
            Answer::PublicKey(Ok(PkResponse::Agreed(premaster))),
        ) => {
            common.secret = None;
            let client_finished_seq = common.inbox.next();
            let pending = keys::derive(common, cx.platform, &premaster, client_finished_seq);
            let messages = flight::server_messages(&common.material, cx.config).count();
            let finished_seq = common
                .out
                .first_seq
                .saturating_add(u16::try_from(messages).unwrap_or(0));
            let change_cipher_spec = common.change_cipher_spec_has_come();
            return Ok(Some(AwaitFinished {
                pending,
                finished_seq,
                peer,
                signature,
                change_cipher_spec,
            }));
        }
        // RFC 8422 section 5.11: the client's point is not on the curve.
        (Stage::AskAgree(..), Answer::PublicKey(Err(CryptoError::Invalid))) => {
            return Err(Fatal::IllegalParameter);
        }
        _ => return Err(Fatal::Crypto),
    };
    Ok(None)
}

/// All of flight 4 is computed: it enters the transcript and may go.
fn start_flight<P: Platform>(common: &mut Common<P>, cx: &mut Context<'_, P>) {
    let first_seq = common.out.first_seq;
    let messages = flight::server_messages(&common.material, cx.config);
    for (message_seq, message) in (first_seq..).zip(messages) {
        common
            .transcript
            .absorb_own(cx.platform.symmetric(), &message, message_seq);
    }
    common.out.start(4, first_seq);
    common.peer_flight = common.inbox.next();
}
