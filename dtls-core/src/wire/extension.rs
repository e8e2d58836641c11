//! Hello extensions (RFC 5246 section 7.4.1.4).

use super::{Malformed, Reader, Sink, prefixed};

/// supported_groups (RFC 8422 section 5.1.1).
pub(crate) const SUPPORTED_GROUPS: u16 = 10;
/// ec_point_formats (RFC 8422 section 5.1.2).
pub(crate) const EC_POINT_FORMATS: u16 = 11;
/// signature_algorithms (RFC 5246 section 7.4.1.4.1).
pub(crate) const SIGNATURE_ALGORITHMS: u16 = 13;
/// client_certificate_type (RFC 7250 section 3).
pub(crate) const CLIENT_CERTIFICATE_TYPE: u16 = 19;
/// server_certificate_type (RFC 7250 section 3).
pub(crate) const SERVER_CERTIFICATE_TYPE: u16 = 20;
/// extended_master_secret (RFC 7627 section 5.1).
pub(crate) const EXTENDED_MASTER_SECRET: u16 = 23;
/// renegotiation_info (RFC 5746 section 3.2).
pub(crate) const RENEGOTIATION_INFO: u16 = 0xff01;

/// The extensions of a hello: well-formed and, as far as the types are known here, without repetition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extensions<'a>(Reader<'a>);

impl<'a> Extensions<'a> {
    /// Takes them off the end of a hello, where they may be missing.
    pub(crate) fn parse(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let all = if reader.is_empty() {
            &[]
        } else {
            reader.vec16()?
        };
        let (mut rest, mut seen) = (Reader::new(all), 0u64);
        while !rest.is_empty() {
            let (kind, _) = (rest.u16()?, rest.vec16()?);
            // RFC 5246 section 7.4.1.4: not more than one of a type. All types known here are below 63 or this one.
            let bit = match kind {
                RENEGOTIATION_INFO => 1 << 63,
                0..63 => 1 << kind,
                _ => 0u64,
            };
            if seen & bit != 0 {
                return Err(Malformed);
            }
            seen |= bit;
        }
        Ok(Self(Reader::new(all)))
    }
}

impl<'a> Iterator for Extensions<'a> {
    /// Type and content.
    type Item = (u16, Reader<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let kind = self.0.u16().ok()?;
        Some((kind, Reader::new(self.0.vec16().ok()?)))
    }
}

/// Puts one extension.
pub(crate) fn put(sink: &mut dyn Sink, kind: u16, content: &dyn Fn(&mut dyn Sink)) {
    sink.put_u16(kind);
    prefixed(sink, 2, content);
}

/// A kind of certificate (RFC 7250 section 3; the registry of RFC 6091).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub(crate) enum CertificateType {
    X509 = 0,
    RawPublicKey = 2,
}

impl CertificateType {
    pub(crate) const fn from_wire(value: u8) -> Option<Self> {
        match value {
            0 => Some(Self::X509),
            2 => Some(Self::RawPublicKey),
            _ => None,
        }
    }
}

/// Certificate types in the order of preference: what a ClientHello offers, or what a configuration allows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct CertificateTypes(pub(crate) [Option<CertificateType>; 2]);

impl CertificateTypes {
    pub(crate) fn contains(&self, wanted: CertificateType) -> bool {
        self.0.contains(&Some(wanted))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = CertificateType> + '_ {
        self.0.iter().copied().flatten()
    }

    /// X.509 alone, which is what a hello without the extension means (RFC 7250 section 4.1).
    pub(crate) const X509: Self = Self([Some(CertificateType::X509), None]);

    /// Whether a ClientHello carries the list: with nothing in it but X.509, it must be left out (RFC 7250 section 4.1).
    pub(crate) fn is_sent(&self) -> bool {
        self.contains(CertificateType::RawPublicKey)
    }

    /// The list in a ClientHello; types nobody here knows are left out.
    pub(crate) fn parse(content: &mut Reader<'_>) -> Result<Self, Malformed> {
        let list = content.vec8()?;
        if list.is_empty() {
            return Err(Malformed);
        }
        let mut known = list
            .iter()
            .filter_map(|value| CertificateType::from_wire(*value));
        let first = known.next();
        Ok(Self([first, known.find(|kind| Some(*kind) != first)]))
    }

    /// Puts the list of a ClientHello, if it carries one.
    pub(crate) fn put(&self, sink: &mut dyn Sink, extension: u16) {
        if self.is_sent() {
            put(sink, extension, &|sink| {
                prefixed(sink, 1, &|sink| {
                    self.iter().for_each(|kind| sink.put_u8(kind as u8));
                });
            });
        }
    }
}
