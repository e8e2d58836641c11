/// Bytes that are not what they claim to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Malformed;

/// Takes a slice apart from the front; every step either succeeds or says [`Malformed`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(n).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], Malformed> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| *byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(|bytes| u16::from_be_bytes(*bytes))
    }

    /// Three bytes, big endian.
    pub(crate) fn u24(&mut self) -> Result<u32, Malformed> {
        self.array()
            .map(|[a, b, c]| u32::from_be_bytes([0, *a, *b, *c]))
    }

    /// A vector with a length of one byte in front (RFC 5246 section 4.3).
    pub(crate) fn vec8(&mut self) -> Result<&'a [u8], Malformed> {
        let n = self.u8()?;
        self.bytes(n.into())
    }

    /// A vector with a length of two bytes in front.
    pub(crate) fn vec16(&mut self) -> Result<&'a [u8], Malformed> {
        let n = self.u16()?;
        self.bytes(n.into())
    }

    /// A vector of 16-bit values, at least one, with a length of two bytes in front.
    pub(crate) fn list16(&mut self) -> Result<&'a [u8], Malformed> {
        let list = self.vec16()?;
        if list.is_empty() || list.len() % 2 != 0 {
            return Err(Malformed);
        }
        Ok(list)
    }

    /// A vector with a length of three bytes in front.
    pub(crate) fn vec24(&mut self) -> Result<&'a [u8], Malformed> {
        let n = self.u24()?;
        self.bytes(usize::try_from(n).map_err(|_| Malformed)?)
    }

    /// Nothing may be left (RFC 5246 section 7.2.2: trailing bytes are a decode_error).
    pub(crate) const fn finish(self) -> Result<(), Malformed> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Malformed)
        }
    }
}

/// Whether a [list of 16-bit values](Reader::list16) holds `wanted`.
pub(crate) fn contains_u16(list: &[u8], wanted: u16) -> bool {
    list.chunks_exact(2)
        .any(|pair| pair == wanted.to_be_bytes())
}
