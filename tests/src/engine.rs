//! The one who answers the questions of an endpoint, at once or later.

use crate::identity::Identity;
use dtls_core::crypto::rustcrypto::SoftEngine;
use dtls_core::{
    Answer, CryptoError, Instant, Job, Micros, Operation, PeerId, PeerIdentity, Question,
};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

/// Answers the questions of an endpoint, each kind after a time of its own.
#[derive(Debug)]
pub struct Engine {
    soft: SoftEngine<'static>,
    rng: ChaCha8Rng,
    /// How long each [`Operation`] takes, by its number.
    pub delays: [Micros; 5],
    /// Who is let in: the public keys pinned, of which [`PeerId`] is the index.
    pub pins: Vec<[u8; 91]>,
    /// Whether somebody who shows nothing is let in, and as whom.
    pub anonymous: Option<PeerId>,
    /// An operation that gives no result, and why.
    pub failing: Option<(Operation, CryptoError)>,
    /// The kinds of questions asked so far.
    pub asked: Vec<Operation>,
    answers: Vec<(Instant, Job, Answer)>,
}

impl Engine {
    /// An engine with the private key of `identity`, that answers at once and lets nobody in.
    #[must_use]
    pub fn new(identity: &'static Identity, seed: u64) -> Self {
        Self {
            soft: SoftEngine {
                keys: &identity.keys,
            },
            rng: ChaCha8Rng::seed_from_u64(seed),
            delays: [Micros(0); 5],
            pins: Vec::new(),
            anonymous: None,
            failing: None,
            asked: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// Takes a question.
    pub(crate) fn ask(&mut self, now: Instant, job: Job, question: Question<'_>) {
        let operation = question.operation();
        self.asked.push(operation);
        let failing = self.failing.filter(|(failing, _)| *failing == operation);
        let answer = match (question, failing) {
            (_, Some((_, why))) => Answer::PublicKey(Err(why)),
            (Question::PublicKey(request), None) => {
                Answer::PublicKey(self.soft.answer(&mut self.rng, request))
            }
            (Question::Peer(identity), None) => Answer::Peer(self.recognise(identity)),
            _ => unreachable!("a question of a kind that is not known here"),
        };
        let due = now.after(self.delays[operation as usize]);
        self.answers.push((due, job, answer));
    }

    fn recognise(&self, identity: PeerIdentity<'_>) -> Option<PeerId> {
        let Some(spki) = identity.spki() else {
            return self.anonymous;
        };
        let index = self.pins.iter().position(|pin| pin == spki)?;
        u32::try_from(index).ok().map(PeerId)
    }

    /// An answer that is due, if there is one.
    pub(crate) fn answer(&mut self, now: Instant) -> Option<(Job, Answer)> {
        let due = self.answers.iter().position(|&(due, ..)| due <= now)?;
        let (_, job, answer) = self.answers.remove(due);
        Some((job, answer))
    }

    /// When the next answer is due.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.answers.iter().map(|&(due, ..)| due).min()
    }
}
