//! From the shared secret to keys and Finished (RFC 5246 sections 6.3, 7.4.9 and 8.1, RFC 7627 section 4).

use super::common::Common;
use crate::crypto::prf::prf;
use crate::crypto::{Aead, Secret};
use crate::error::Fatal;
use crate::platform::Platform;
use crate::proof::FinishedVerified;
use crate::record::{ReadKeys, WriteKeys};
use crate::wire::handshake::{HandshakeType, Header};
use zeroize::Zeroize;

/// What an association is made of, before it is proven that the peer has the same.
pub(crate) struct Pending {
    pub(crate) write: WriteKeys,
    pub(crate) read: ReadKeys,
    /// verify_data of our Finished.
    pub(crate) ours: [u8; 12],
    /// verify_data that the peer's Finished must have.
    pub(crate) theirs: [u8; 12],
}

impl Pending {
    pub(super) fn verify(&self, shown: &[u8]) -> Result<FinishedVerified, Fatal> {
        FinishedVerified::new(&self.theirs, shown)
    }
}

/// Derives all that is left to derive. The transcript must reach up to, but not include, the client's Finished, which will
/// have the given message_seq. Nothing of the master secret stays.
pub(super) fn derive<P: Platform>(
    common: &mut Common<P>,
    platform: &mut P,
    premaster: &Secret,
    client_finished_seq: u16,
) -> Pending {
    let mut master = master_secret(common, platform, premaster);
    platform.key_log(&common.material.randoms[0], &master);
    let (write, read) = record_keys(common, platform, &master);

    // Both Finished are known now: the client's is part of the transcript that the server's covers.
    let mut client = [0; 12];
    let digest = common.transcript.digest(platform.symmetric());
    prf(
        platform.symmetric(),
        &master,
        b"client finished",
        [&digest, &[]],
        &mut client,
    );
    let header = Header::whole(HandshakeType::FINISHED, 12, client_finished_seq);
    common
        .transcript
        .absorb(platform.symmetric(), header, &client);
    let mut server = [0; 12];
    let digest = common.transcript.digest(platform.symmetric());
    prf(
        platform.symmetric(),
        &master,
        b"server finished",
        [&digest, &[]],
        &mut server,
    );
    master.zeroize();

    let (ours, theirs) = if common.is_server {
        (server, client)
    } else {
        (client, server)
    };
    Pending {
        write,
        read,
        ours,
        theirs,
    }
}

fn master_secret<P: Platform>(
    common: &Common<P>,
    platform: &mut P,
    premaster: &Secret,
) -> [u8; 48] {
    let mut master = [0; 48];
    let [client, server] = &common.material.randoms;
    let (label, seed): (&[u8], [&[u8]; 2]) =
        if common.material.agreed.answers.extended_master_secret {
            (b"extended master secret", [&common.material.digest, &[]]) // RFC 7627 section 4
        } else {
            (b"master secret", [client, server])
        };
    prf(platform.symmetric(), &premaster.0, label, seed, &mut master);
    master
}

/// RFC 5246 section 6.3: client key, server key, client salt, server salt. An AEAD has no MAC keys.
fn record_keys<P: Platform>(
    common: &Common<P>,
    platform: &mut P,
    master: &[u8; 48],
) -> (WriteKeys, ReadKeys) {
    let [client, server] = &common.material.randoms;
    let mut block = [0; 40];
    prf(
        platform.symmetric(),
        master,
        b"key expansion",
        [server, client],
        &mut block,
    );
    let mut parts = [([0; 16], [0; 4]); 2];
    let (keys, salts) = block.split_at(32);
    for ((key, salt), (key_from, salt_from)) in parts
        .iter_mut()
        .zip(keys.chunks_exact(16).zip(salts.chunks_exact(4)))
    {
        key.copy_from_slice(key_from);
        salt.copy_from_slice(salt_from);
    }
    block.zeroize();
    let [client, server] = &mut parts;
    let (ours, theirs) = if common.is_server {
        (server, client)
    } else {
        (client, server)
    };
    let aead = Aead::Aes128Ccm8;
    let made = (
        WriteKeys::new(aead, ours.0, ours.1),
        ReadKeys::new(aead, theirs.0, theirs.1),
    );
    for (key, salt) in &mut parts {
        key.zeroize();
        salt.zeroize();
    }
    made
}
