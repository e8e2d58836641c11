//! Application data into one datagram.

use crate::error::SendFailed;
use dtls_core::{Association, Platform};

/// Seals `data` into `out`, which is as long as the largest datagram.
pub(crate) fn seal<P: Platform>(
    association: &mut Association,
    platform: &mut P,
    data: &[u8],
    out: &mut [u8],
) -> Result<usize, SendFailed> {
    let (before, behind) = association.overhead();
    let most = out.len().saturating_sub(before + behind);
    if data.len() > most {
        let length = data.len();
        return Err(SendFailed::TooLong { length, most });
    }
    Ok(association.send(platform, data, out)?)
}
