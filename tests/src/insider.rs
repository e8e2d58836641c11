//! One who knows the keys.

use crate::network::Network;
use crate::wire::{self, CLIENT_HELLO, HANDSHAKE_HEADER, RECORD_HEADER, SERVER_HELLO};
use dtls_core::crypto::rustcrypto::SoftSymmetric;
use dtls_core::{Aead, Symmetric as _};

/// Seals records under the keys of an association that no honest endpoint would seal. The key schedule is its own (RFC 5246
/// sections 5 and 6.3), so that what it seals opens only if the endpoints' is right.
#[derive(Debug)]
pub struct Insider {
    /// Client's and server's.
    keys: [([u8; 16], [u8; 4]); 2],
}

/// Whose keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// Those that the client writes with.
    Client,
    /// Those that the server writes with.
    Server,
}

impl Insider {
    /// Learns the keys of the last handshake on the network from its master secret.
    ///
    /// # Panics
    /// If no ServerHello was sent.
    #[must_use]
    pub fn new(net: &Network, master_secret: &[u8; 48]) -> Self {
        let last = |kind| {
            let sent = net.log.iter().rev();
            let found = sent.flat_map(|sent| {
                let messages = wire::messages(&sent.bytes).into_iter();
                messages
                    .filter(move |message| message.kind == kind)
                    .map(|message| sent.bytes[message.range.start + HANDSHAKE_HEADER..].to_vec())
            });
            found.take(1).next().expect("hellos were sent")
        };
        let random = |body: Vec<u8>| body[2..34].to_vec();
        let (client, server) = (random(last(CLIENT_HELLO)), random(last(SERVER_HELLO)));
        let block = prf(
            master_secret,
            &[b"key expansion", &server[..], &client].concat(),
            40,
        );
        let part = |at: usize, n: usize| &block[at..at + n];
        let keys = [0, 1].map(|side| {
            let (key, salt) = (part(16 * side, 16), part(32 + 4 * side, 4));
            (
                key.try_into().expect("16 bytes"),
                salt.try_into().expect("4 bytes"),
            )
        });
        Self { keys }
    }

    /// A record of epoch 1 with this sequence number.
    #[must_use]
    pub fn seal(&self, side: Side, sequence: u8, kind: u8, plaintext: &[u8]) -> Vec<u8> {
        let number = (1 << 48) | u64::from(sequence);
        self.seal_with(side, number, number, kind, plaintext)
    }

    /// A record with this number, epoch and sequence number in one, and an explicit nonce that may be another.
    ///
    /// # Panics
    /// If the plaintext is too long for the length field.
    #[must_use]
    pub fn seal_with(
        &self,
        side: Side,
        number: u64,
        explicit: u64,
        kind: u8,
        plaintext: &[u8],
    ) -> Vec<u8> {
        let (key, salt) = &self.keys[side as usize];
        let length = |n: usize| u16::try_from(n).expect("a short plaintext").to_be_bytes();
        let mut nonce = [0; 12];
        nonce[..4].copy_from_slice(salt);
        nonce[4..].copy_from_slice(&explicit.to_be_bytes());
        let mut aad = number.to_be_bytes().to_vec();
        aad.extend([kind, 254, 253]);
        aad.extend(length(plaintext.len()));
        let (mut message, mut tag) = (plaintext.to_vec(), [0; 8]);
        SoftSymmetric
            .seal(Aead::Aes128Ccm8, key, &nonce, &aad, &mut message, &mut tag)
            .expect("the software seals");
        let mut record = vec![kind, 254, 253];
        record.extend(number.to_be_bytes());
        record.extend(length(8 + plaintext.len() + 8));
        record.extend(explicit.to_be_bytes());
        record.extend(message);
        record.extend(tag);
        record
    }

    /// The plaintext of a record that this side has written; `None` if it has not.
    #[must_use]
    pub fn open(&self, side: Side, record: &[u8]) -> Option<Vec<u8>> {
        let (key, salt) = &self.keys[side as usize];
        let (header, body) = record.split_at_checked(RECORD_HEADER)?;
        let (explicit, body) = body.split_at_checked(8)?;
        let (message, tag) = body.split_last_chunk::<8>()?;
        let mut nonce = [0; 12];
        nonce[..4].copy_from_slice(salt);
        nonce[4..].copy_from_slice(explicit);
        let length = u16::try_from(message.len()).ok()?.to_be_bytes();
        let aad = [&header[3..11], &header[..3], &length].concat();
        let mut message = message.to_vec();
        let opened = SoftSymmetric.open(Aead::Aes128Ccm8, key, &nonce, &aad, &mut message, tag);
        opened.ok().map(|()| message)
    }
}

/// RFC 5246 section 5, written down as it stands there.
fn prf(secret: &[u8], seed: &[u8], n: usize) -> Vec<u8> {
    let (mut a, mut out) = (seed.to_vec(), Vec::new());
    while out.len() < n {
        a = SoftSymmetric.hmac(secret, &[&a]).to_vec();
        out.extend(SoftSymmetric.hmac(secret, &[&a, seed]));
    }
    out.truncate(n);
    out
}
