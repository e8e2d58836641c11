//! The software backend: RustCrypto's aes, ccm, sha2, hmac and p256.
use super::*;
use rand_core::TryCryptoRng;
/// The fast primitives in software.
#[derive(Clone, Copy, Debug, Default)]
pub struct SoftSymmetric;
#[allow(unused)]
impl Symmetric for SoftSymmetric {
    type Hash = sha2::Sha256;
    fn hash(&mut self) -> Self::Hash {
        todo!()
    }
    fn update(&mut self, hash: &mut Self::Hash, data: &[u8]) {
        todo!()
    }
    fn finish(&mut self, hash: Self::Hash) -> Digest {
        todo!()
    }
    fn hmac(&mut self, key: &[u8], parts: &[&[u8]]) -> Digest {
        todo!()
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
        todo!()
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
        todo!()
    }
}
/// A long-term P-256 key pair of the software engine. Built once: it costs a scalar multiplication.
pub struct SigningKey(ecdsa::SigningKey<p256::NistP256>);
#[allow(unused)]
impl SigningKey {
    /// From a private scalar, big endian.
    pub fn from_scalar(scalar: &[u8; 32]) -> Result<Self, CryptoError> {
        todo!()
    }
    /// A new key.
    pub fn generate<R: TryCryptoRng + ?Sized>(rng: &mut R) -> Result<Self, CryptoError> {
        todo!()
    }
    /// The private scalar, for storage.
    pub fn scalar(&self) -> Secret {
        todo!()
    }
    /// The public key.
    pub fn public_key(&self) -> Point {
        todo!()
    }
    /// The public key as SubjectPublicKeyInfo, DER (RFC 5480).
    pub fn spki(&self) -> [u8; 91] {
        todo!()
    }
}
/// The blocking software engine: answers every request at once. `keys[n]` is the key with [`KeyId`]`(n)`.
#[derive(Clone, Copy)]
pub struct SoftEngine<'k> {
    /// The long-term keys.
    pub keys: &'k [SigningKey],
}
#[allow(unused)]
impl SoftEngine<'_> {
    /// Computes the answer.
    pub fn answer<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
        request: PkRequest,
    ) -> Result<PkResponse, CryptoError> {
        todo!()
    }
}
