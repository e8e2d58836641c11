/// Where the bytes of a message go.
pub(crate) trait Sink {
    fn put(&mut self, bytes: &[u8]);

    fn put_u8(&mut self, value: u8) {
        self.put(&[value]);
    }

    fn put_u16(&mut self, value: u16) {
        self.put(&value.to_be_bytes());
    }
}

/// Counts.
struct Length(usize);

impl Sink for Length {
    fn put(&mut self, bytes: &[u8]) {
        self.0 = self.0.saturating_add(bytes.len());
    }
}

/// How many bytes `body` puts.
pub(crate) fn length(body: &dyn Fn(&mut dyn Sink)) -> usize {
    let mut length = Length(0);
    body(&mut length);
    length.0
}

/// Keeps what falls into a window: leaves out the first `skip` bytes, then fills `out`, then lets the rest go by.
pub(crate) struct Window<'o> {
    skip: usize,
    out: &'o mut [u8],
}

impl<'o> Window<'o> {
    pub(crate) const fn new(skip: usize, out: &'o mut [u8]) -> Self {
        Self { skip, out }
    }
}

impl Sink for Window<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let (skipped, bytes) = bytes.split_at(self.skip.min(bytes.len()));
        self.skip = self.skip.saturating_sub(skipped.len());
        let out = core::mem::take(&mut self.out);
        let (now, later) = out.split_at_mut(bytes.len().min(out.len()));
        for (to, from) in now.iter_mut().zip(bytes) {
            *to = *from;
        }
        self.out = later;
    }
}

/// Puts what `body` puts, with its length in front in `width` bytes (a vector of RFC 5246 section 4.3).
pub(crate) fn prefixed(sink: &mut dyn Sink, width: usize, body: &dyn Fn(&mut dyn Sink)) {
    let n = length(body).to_be_bytes();
    sink.put(n.get(n.len().saturating_sub(width)..).unwrap_or_default());
    body(sink);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_cuts_any_fragment() {
        let message = |sink: &mut dyn Sink| {
            sink.put_u8(1);
            prefixed(sink, 3, &|sink| sink.put(b"abc"));
            sink.put_u16(0x0203);
        };
        let whole = [1, 0, 0, 3, b'a', b'b', b'c', 2, 3];
        assert_eq!(length(&message), whole.len());
        for from in 0..=whole.len() {
            for to in from..=whole.len() {
                let mut out = [0; 9];
                message(&mut Window::new(from, &mut out[..to - from]));
                assert_eq!(out[..to - from], whole[from..to]);
            }
        }
    }
}
