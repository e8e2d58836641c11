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
