//! The pseudorandom function of TLS 1.2 (RFC 5246 section 5): P_SHA256.

use super::Symmetric;
use zeroize::Zeroize;

/// Fills `out` with `P_SHA256(secret, label || seed)`; the seed comes in parts.
pub(crate) fn prf<S: Symmetric>(
    symmetric: &mut S,
    secret: &[u8],
    label: &[u8],
    seed: [&[u8]; 2],
    out: &mut [u8],
) {
    let [first, second] = seed;
    // A(1) = HMAC(secret, label || seed), A(i) = HMAC(secret, A(i-1))
    let mut a = symmetric.hmac(secret, &[label, first, second]);
    let mut chunks = out.chunks_mut(32).peekable();
    while let Some(chunk) = chunks.next() {
        let mut block = symmetric.hmac(secret, &[&a, label, first, second]);
        for (to, from) in chunk.iter_mut().zip(&block) {
            *to = *from;
        }
        block.zeroize();
        if chunks.peek().is_some() {
            a = symmetric.hmac(secret, &[&a]);
        }
    }
    a.zeroize();
}

#[cfg(all(test, feature = "rustcrypto"))]
mod tests {
    use super::*;
    use crate::crypto::rustcrypto::SoftSymmetric;
    use hex_literal::hex;

    /// The TLS 1.2 P_SHA256 vector published on the IETF's TLS mailing list (T. Polk, "Test vectors for TLS 1.2 PRF").
    #[test]
    fn p_sha256_gives_the_published_vector() {
        let secret = hex!("9bbe436ba940f017b17652849a71db35");
        let seed = hex!("a0ba9f936cda311827a6f796ffd5198c");
        let (first, second) = seed.split_at(5);
        let mut out = [0; 100];
        prf(
            &mut SoftSymmetric,
            &secret,
            b"test label",
            [first, second],
            &mut out,
        );
        assert_eq!(
            out,
            hex!(
                "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a"
                "6b301791e90d35c9c9a46b4e14baf9af0fa022f7077def17abfd3797c0564bab"
                "4fbc91666e9def9b97fce34f796789baa48082d122ee42c5a72e5a5110fff701"
                "87347b66"
            )
        );
    }

    #[test]
    fn a_shorter_output_is_a_prefix() {
        let mut long = [0; 48];
        let mut short = [0; 12];
        prf(
            &mut SoftSymmetric,
            b"secret",
            b"label",
            [b"a", b"b"],
            &mut long,
        );
        prf(
            &mut SoftSymmetric,
            b"secret",
            b"label",
            [b"ab", b""],
            &mut short,
        );
        assert_eq!(long[..12], short);
    }
}
