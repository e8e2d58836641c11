//! Records.
/// A received datagram: a cursor over its records, which are decrypted in place. What one owner leaves the next one takes, so
/// application data that shares a datagram with Finished reaches the new association.
#[derive(Debug)]
pub struct Datagram<'d>(&'d mut [u8]);
impl<'d> Datagram<'d> {
    /// Wraps one UDP payload.
    pub const fn new(payload: &'d mut [u8]) -> Self {
        Self(payload)
    }
}
#[derive(Debug)]
pub(crate) struct Record<'d> {
    body: &'d mut [u8],
}
