//! The software backend: RustCrypto's aes, ccm, sha2, hmac and p256.

use super::{
    Aead, CryptoError, Digest, PkRequest, PkResponse, Point, Secret, Signature, Symmetric,
};
use aes::Aes128;
use ccm::aead::AeadInOut;
use ccm::consts::{U8, U12};
use ccm::{Ccm, KeyInit};
use core::fmt;
use ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
use hmac::{Hmac, Mac};
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{NistP256, PublicKey, SecretKey};
use rand_core::TryCryptoRng;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

/// RFC 6655 section 3: a tag of 8 bytes, a nonce of 12.
type Aes128Ccm8 = Ccm<Aes128, U8, U12>;

/// The fast primitives in software.
#[derive(Clone, Copy, Debug, Default)]
pub struct SoftSymmetric;

impl Symmetric for SoftSymmetric {
    type Hash = Sha256;

    fn hash(&mut self) -> Sha256 {
        Sha256::new()
    }

    fn update(&mut self, hash: &mut Sha256, data: &[u8]) {
        hash.update(data);
    }

    fn finish(&mut self, hash: Sha256) -> Digest {
        hash.finalize().into()
    }

    fn hmac(&mut self, key: &[u8], parts: &[&[u8]]) -> Digest {
        let mut mac = Hmac::<Sha256>::new((&*block_of(key)).into());
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    fn seal(
        &mut self,
        aead: Aead,
        key: &[u8; 16],
        nonce: &[u8; 12],
        aad: &[u8],
        message: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), CryptoError> {
        match aead {
            Aead::Aes128Ccm8 => {
                let tag: &mut [u8; 8] = tag.try_into().map_err(|_| CryptoError::Failed)?;
                *tag = Aes128Ccm8::new(key.into())
                    .encrypt_inout_detached(nonce.into(), aad, message.into())
                    .map_err(|_| CryptoError::Failed)?
                    .into();
                Ok(())
            }
        }
    }

    fn open(
        &mut self,
        aead: Aead,
        key: &[u8; 16],
        nonce: &[u8; 12],
        aad: &[u8],
        message: &mut [u8],
        tag: &[u8],
    ) -> Result<(), CryptoError> {
        match aead {
            Aead::Aes128Ccm8 => {
                let tag: &[u8; 8] = tag.try_into().map_err(|_| CryptoError::Invalid)?;
                Aes128Ccm8::new(key.into())
                    .decrypt_inout_detached(nonce.into(), aad, message.into(), tag.into())
                    .map_err(|_| CryptoError::Invalid)
            }
        }
    }
}

/// The key as HMAC wants it: one block, hashed first if it is longer (RFC 2104 section 2).
fn block_of(key: &[u8]) -> Zeroizing<[u8; 64]> {
    let hashed: Zeroizing<Digest>;
    let key = if key.len() > 64 {
        hashed = Zeroizing::new(Sha256::digest(key).into());
        &hashed[..]
    } else {
        key
    };
    let mut block = Zeroizing::new([0; 64]);
    for (to, from) in block.iter_mut().zip(key) {
        *to = *from;
    }
    block
}

/// A long-term P-256 key pair of the software engine. Built once: it costs a scalar multiplication.
pub struct SigningKey {
    private: ecdsa::SigningKey<NistP256>,
    public: Point,
}

impl SigningKey {
    /// From a private scalar, big endian.
    ///
    /// # Errors
    /// [`CryptoError::Failed`] if it is zero or not less than the order of the curve.
    pub fn from_scalar(scalar: &[u8; 32]) -> Result<Self, CryptoError> {
        let private = SecretKey::from_bytes(scalar.into()).map_err(|_| CryptoError::Failed)?;
        Self::new(&private)
    }

    /// A new key.
    ///
    /// # Errors
    /// [`CryptoError::Failed`] if the random source failed.
    pub fn generate<R: TryCryptoRng + ?Sized>(rng: &mut R) -> Result<Self, CryptoError> {
        Self::new(&random_scalar(rng)?)
    }

    fn new(private: &SecretKey) -> Result<Self, CryptoError> {
        let private = ecdsa::SigningKey::from(private);
        let public = uncompressed(&private.verifying_key().into())?;
        Ok(Self { private, public })
    }

    /// The private scalar, big endian, for storage.
    #[must_use]
    pub fn scalar(&self) -> Secret {
        Secret(self.private.to_bytes().into())
    }

    /// The public key.
    #[must_use]
    pub const fn public_key(&self) -> Point {
        self.public
    }

    /// The public key as SubjectPublicKeyInfo, DER (RFC 5480): what a peer pins.
    #[must_use]
    pub fn spki(&self) -> [u8; 91] {
        let mut spki = [0; 91];
        for (to, from) in spki.iter_mut().zip(SPKI_PREFIX.iter().chain(&self.public)) {
            *to = *from;
        }
        spki
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(..)")
    }
}

/// All of a P-256 SubjectPublicKeyInfo but the point: id-ecPublicKey, secp256r1, a bit string of 65 bytes (RFC 5480
/// section 2).
#[rustfmt::skip]
const SPKI_PREFIX: [u8; 26] = [
    0x30, 0x59,
    0x30, 0x13,
    0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01,
    0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07,
    0x03, 0x42, 0x00,
];

/// The blocking software engine: answers every request at once. `keys[n]` is the key with
/// [`KeyId`](super::KeyId)`(n)`.
#[derive(Clone, Copy, Debug)]
pub struct SoftEngine<'k> {
    /// The long-term keys.
    pub keys: &'k [SigningKey],
}

impl SoftEngine<'_> {
    /// Computes the answer. Signatures are deterministic (RFC 6979): only `Generate` draws random numbers.
    ///
    /// # Errors
    /// [`CryptoError::Invalid`] if the peer's point is not on the curve or its signature is wrong;
    /// [`CryptoError::Failed`] if the random source failed, or this engine does not have the key.
    pub fn answer<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
        request: PkRequest,
    ) -> Result<PkResponse, CryptoError> {
        match request {
            PkRequest::Generate => {
                let private = random_scalar(rng)?;
                let public = uncompressed(&private.public_key())?;
                let private = Secret(private.to_bytes().into());
                Ok(PkResponse::Generated(Some(private), public))
            }
            PkRequest::Agree(private, peer) => {
                let private = private.ok_or(CryptoError::Failed)?;
                let private =
                    SecretKey::from_bytes((&private.0).into()).map_err(|_| CryptoError::Failed)?;
                // RFC 8422 section 5.11: only a point on the curve, and not the one at infinity, gets through.
                let peer = PublicKey::from_sec1_bytes(&peer).map_err(|_| CryptoError::Invalid)?;
                let shared = private.diffie_hellman(&peer);
                Ok(PkResponse::Agreed(Secret(
                    (*shared.raw_secret_bytes()).into(),
                )))
            }
            PkRequest::Sign(key, digest) => {
                let key = self
                    .keys
                    .get(usize::from(key.0))
                    .ok_or(CryptoError::Failed)?;
                let signature: ecdsa::Signature<NistP256> = key
                    .private
                    .sign_prehash(&digest)
                    .map_err(|_| CryptoError::Failed)?;
                Ok(PkResponse::Signed(signature.to_bytes().into()))
            }
            PkRequest::Verify(peer, digest, signature) => {
                verify(&peer, &digest, &signature).map_err(|_| CryptoError::Invalid)?;
                Ok(PkResponse::Verified)
            }
        }
    }
}

/// Refuses a point that is not on the curve, and r or s that is zero or not less than the order (FIPS 186-5
/// section 6.4.2).
fn verify(peer: &Point, digest: &Digest, signature: &Signature) -> Result<(), ecdsa::Error> {
    let peer = ecdsa::VerifyingKey::<NistP256>::from_sec1_bytes(peer)?;
    peer.verify_prehash(digest, &ecdsa::Signature::from_slice(signature)?)
}

/// A scalar between 1 and the order of the curve, by rejection: one draw in 2^32 misses. A source that misses four times
/// in a row is broken, not unlucky.
fn random_scalar<R: TryCryptoRng + ?Sized>(rng: &mut R) -> Result<SecretKey, CryptoError> {
    for _ in 0..4 {
        let mut scalar = Secret([0; 32]);
        rng.try_fill_bytes(&mut scalar.0)
            .map_err(|_| CryptoError::Failed)?;
        if let Ok(private) = SecretKey::from_bytes((&scalar.0).into()) {
            return Ok(private);
        }
    }
    Err(CryptoError::Failed)
}

fn uncompressed(public: &PublicKey) -> Result<Point, CryptoError> {
    public
        .to_sec1_point(false)
        .as_bytes()
        .try_into()
        .map_err(|_| CryptoError::Failed)
}

/// The lent memory of one handshake with raw public keys on a microcontroller; the random source is no part of it.
#[cfg(target_pointer_width = "32")]
const _: () = {
    type AnyRng<'r> = &'r mut dyn TryCryptoRng<Error = core::convert::Infallible>;
    type SoftPlatform<'r> = crate::Parts<SoftSymmetric, AnyRng<'r>>;
    assert!(size_of::<crate::Workspace<SoftPlatform<'_>, [u8; 512]>>() <= 1280);
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::KeyId;
    use hex_literal::hex;
    use rand_core::{TryCryptoRng, TryRng};

    /// Ends with an error after a number of draws, each of which is this byte over and over.
    struct Draws(u8, usize);

    impl TryRng for Draws {
        type Error = fmt::Error;
        fn try_next_u32(&mut self) -> Result<u32, fmt::Error> {
            Err(fmt::Error)
        }
        fn try_next_u64(&mut self) -> Result<u64, fmt::Error> {
            Err(fmt::Error)
        }
        fn try_fill_bytes(&mut self, to: &mut [u8]) -> Result<(), fmt::Error> {
            self.1 = self.1.checked_sub(1).ok_or(fmt::Error)?;
            to.fill(self.0);
            Ok(())
        }
    }

    impl TryCryptoRng for Draws {}

    const NO_KEYS: SoftEngine<'static> = SoftEngine { keys: &[] };

    /// RFC 6979 appendix A.2.5.
    const X: [u8; 32] = hex!("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721");
    const U: Point = hex!(
        "04"
        "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
        "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
    );
    const R_S: Signature = hex!(
        "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
        "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
    );
    /// The order of P-256 (FIPS 186-4 appendix D.1.2.3).
    const N: [u8; 32] = hex!("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");

    fn sample() -> Digest {
        let mut hash = SoftSymmetric.hash();
        SoftSymmetric.update(&mut hash, b"sam");
        SoftSymmetric.update(&mut hash, b"ple");
        SoftSymmetric.finish(hash)
    }

    fn without_rng(engine: SoftEngine<'_>, request: PkRequest) -> Result<PkResponse, CryptoError> {
        engine.answer(&mut Draws(0, 0), request)
    }

    fn verify(point: Point, signature: Signature) -> Result<PkResponse, CryptoError> {
        without_rng(NO_KEYS, PkRequest::Verify(point, sample(), signature))
    }

    fn refused(result: Result<PkResponse, CryptoError>) -> CryptoError {
        result.expect_err("has to be refused")
    }

    /// RFC 6979 appendix A.2.5: SHA-256, message "sample".
    #[test]
    fn signatures_are_those_of_rfc_6979() {
        let keys = [SigningKey::from_scalar(&X).unwrap()];
        assert_eq!(keys[0].public_key(), U);
        let engine = SoftEngine { keys: &keys };
        let signed = without_rng(engine, PkRequest::Sign(KeyId(0), sample()));
        assert!(matches!(signed, Ok(PkResponse::Signed(signature)) if signature == R_S));
        let other_key = without_rng(engine, PkRequest::Sign(KeyId(1), sample()));
        assert_eq!(refused(other_key), CryptoError::Failed);
    }

    /// FIPS 186-5 section 6.4.2; a signature of the vector stands for all right ones.
    #[test]
    fn only_right_signatures_verify() {
        assert!(matches!(verify(U, R_S), Ok(PkResponse::Verified)));
        for byte in 0..64 {
            let mut wrong = R_S;
            wrong[byte] ^= 1;
            assert_eq!(refused(verify(U, wrong)), CryptoError::Invalid);
        }
        for out_of_range in [[0; 32], N, [0xff; 32]] {
            let (mut r, mut s) = (R_S, R_S);
            r[..32].copy_from_slice(&out_of_range);
            s[32..].copy_from_slice(&out_of_range);
            assert_eq!(refused(verify(U, r)), CryptoError::Invalid);
            assert_eq!(refused(verify(U, s)), CryptoError::Invalid);
        }
    }

    /// RFC 8422 section 5.11.
    #[test]
    fn points_off_the_curve_are_refused() {
        let (mut off, mut compressed, mut beyond) = (U, U, U);
        off[64] ^= 1;
        compressed[0] = 2;
        beyond[1..33].fill(0xff);
        for point in [off, compressed, beyond, [0; 65]] {
            let agreed = without_rng(NO_KEYS, PkRequest::Agree(Some(Secret(X)), point));
            assert_eq!(refused(agreed), CryptoError::Invalid);
            assert_eq!(refused(verify(point, R_S)), CryptoError::Invalid);
        }
    }

    /// RFC 5903 section 8.1.
    #[test]
    fn both_sides_agree_as_rfc_5903_says() {
        let i = hex!("c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433");
        let r = hex!("c6ef9c5d78ae012a011164acb397ce2088685d8f06bf9be0b283ab46476bee53");
        let gi = hex!(
            "04"
            "dad0b65394221cf9b051e1feca5787d098dfe637fc90b9ef945d0c3772581180"
            "5271a0461cdb8252d61f1c456fa3e59ab1f45b33accf5f58389e0577b8990bb3"
        );
        let gr = hex!(
            "04"
            "d12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf63"
            "56fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab"
        );
        let gir = hex!("d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de");
        for (private, peer) in [(i, gr), (r, gi)] {
            let agreed = without_rng(NO_KEYS, PkRequest::Agree(Some(Secret(private)), peer));
            assert!(matches!(agreed, Ok(PkResponse::Agreed(Secret(shared))) if shared == gir));
        }
        assert_eq!(SigningKey::from_scalar(&i).unwrap().public_key(), gi);
    }

    #[test]
    fn an_ephemeral_key_that_is_not_there_is_our_failure() {
        for private in [None, Some(Secret([0; 32])), Some(Secret(N))] {
            let agreed = without_rng(NO_KEYS, PkRequest::Agree(private, U));
            assert_eq!(refused(agreed), CryptoError::Failed);
        }
    }

    #[test]
    fn a_random_source_that_fails_gives_no_key() {
        let generated = NO_KEYS.answer(&mut Draws(7, 1), PkRequest::Generate);
        let Ok(PkResponse::Generated(Some(private), public)) = generated else {
            panic!("the source gave a good scalar");
        };
        assert_eq!(private.0, [7; 32]);
        assert_eq!(
            SigningKey::from_scalar(&private.0).unwrap().public_key(),
            public
        );
        for mut broken in [Draws(7, 0), Draws(0xff, 3), Draws(0, 1_000)] {
            let generated = NO_KEYS.answer(&mut broken, PkRequest::Generate);
            assert_eq!(refused(generated), CryptoError::Failed);
            assert!(SigningKey::generate(&mut broken).is_err());
        }
    }

    /// NIST SP 800-38C appendix C.3: a tag of 8 bytes and a nonce of 12, as RFC 6655 section 3 wants them.
    #[test]
    fn ccm_8_gives_the_nist_vector() {
        let key = hex!("404142434445464748494a4b4c4d4e4f");
        let nonce = hex!("101112131415161718191a1b");
        let aad = hex!("000102030405060708090a0b0c0d0e0f10111213");
        let plaintext = hex!("202122232425262728292a2b2c2d2e2f3031323334353637");
        let (mut message, mut tag) = (plaintext, [0; 8]);
        let aead = Aead::Aes128Ccm8;
        SoftSymmetric
            .seal(aead, &key, &nonce, &aad, &mut message, &mut tag)
            .unwrap();
        assert_eq!(
            message,
            hex!("e3b201a9f5b71a7a9b1ceaeccd97e70b6176aad9a4428aa5")
        );
        assert_eq!(tag, hex!("484392fbc1b09951"));

        let open = |aad: &[u8], tag: &[u8]| {
            let mut message = message;
            SoftSymmetric
                .open(aead, &key, &nonce, aad, &mut message, tag)
                .map(|()| message)
        };
        assert_eq!(open(&aad, &tag), Ok(plaintext));
        assert_eq!(open(&aad[1..], &tag), Err(CryptoError::Invalid));
        assert_eq!(open(&aad, &tag[1..]), Err(CryptoError::Invalid));
        tag[7] ^= 1;
        assert_eq!(open(&aad, &tag), Err(CryptoError::Invalid));
    }

    /// RFC 4231 sections 4.3 and 4.7: a short key, and one longer than a block.
    #[test]
    fn hmac_gives_the_vectors_of_rfc_4231() {
        assert_eq!(
            SoftSymmetric.hmac(b"Jefe", &[b"what do ya want ", b"for nothing?"]),
            hex!("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        );
        assert_eq!(
            SoftSymmetric.hmac(
                &[0xaa; 131],
                &[b"Test Using Larger Than Block-Size Key - Hash Key First"]
            ),
            hex!("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
        );
    }

    /// RFC 5480 section 2: what `openssl ec -pubout` prints for the same key.
    #[test]
    fn the_spki_is_91_bytes_of_der() {
        let spki = SigningKey::from_scalar(&X).unwrap().spki();
        assert_eq!(
            spki[..26],
            hex!("3059301306072a8648ce3d020106082a8648ce3d030107034200")
        );
        assert_eq!(spki[26..], U);
    }
}
