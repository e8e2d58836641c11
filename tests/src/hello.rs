//! ClientHello and ServerHello, taken apart and put together again (RFC 5246 section 7.4.1, RFC 6347 section 4.2.1).

/// A hello with every field open, whatever sense it makes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hello {
    /// client_version or server_version.
    pub version: [u8; 2],
    /// 32 bytes.
    pub random: Vec<u8>,
    /// Up to 32 bytes.
    pub session_id: Vec<u8>,
    /// Only a ClientHello has one.
    pub cookie: Option<Vec<u8>>,
    /// Those offered, or the one chosen.
    pub suites: Vec<u16>,
    /// Those offered, or the one chosen.
    pub compression: Vec<u8>,
    /// Types and contents, in order.
    pub extensions: Vec<(u16, Vec<u8>)>,
}

impl Hello {
    /// Takes the body of a ClientHello apart.
    #[must_use]
    pub fn of_client(body: &[u8]) -> Self {
        Self::parse(body, true)
    }

    /// Takes the body of a ServerHello apart.
    #[must_use]
    pub fn of_server(body: &[u8]) -> Self {
        Self::parse(body, false)
    }

    fn parse(body: &[u8], of_client: bool) -> Self {
        let mut rest = body;
        let mut take = |n: usize| {
            let (taken, left) = rest.split_at(n);
            rest = left;
            taken.to_vec()
        };
        let (version, random) = (take(2), take(32));
        let mut list = |bytes: usize| {
            let n = number(&take(bytes));
            take(n)
        };
        let session_id = list(1);
        let cookie = of_client.then(|| list(1));
        let (suites, compression) = if of_client {
            (list(2), list(1))
        } else {
            (take(2), take(1))
        };
        let mut extensions = Vec::new();
        if !rest.is_empty() {
            let mut all = &rest[2..];
            while let Some((head, behind)) = all.split_first_chunk::<4>() {
                let (content, behind) = behind.split_at(number(&head[2..]));
                extensions.push((u16::from_be_bytes([head[0], head[1]]), content.to_vec()));
                all = behind;
            }
        }
        Self {
            version: [version[0], version[1]],
            random,
            session_id,
            cookie,
            suites: suites
                .chunks(2)
                .map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
                .collect(),
            compression,
            extensions,
        }
    }

    /// The body.
    #[must_use]
    pub fn emit(&self) -> Vec<u8> {
        let suites: Vec<u8> = self.suites.iter().flat_map(|s| s.to_be_bytes()).collect();
        let mut body = self.version.to_vec();
        body.extend(&self.random);
        body.extend(prefixed(1, &self.session_id));
        if let Some(cookie) = &self.cookie {
            body.extend(prefixed(1, cookie));
            body.extend(prefixed(2, &suites));
            body.extend(prefixed(1, &self.compression));
        } else {
            body.extend(suites);
            body.extend(&self.compression);
        }
        if !self.extensions.is_empty() {
            let mut all = Vec::new();
            for (kind, content) in &self.extensions {
                all.extend(kind.to_be_bytes());
                all.extend(prefixed(2, content));
            }
            body.extend(prefixed(2, &all));
        }
        body
    }

    /// The content of an extension, if it is there.
    #[must_use]
    pub fn extension(&self, kind: u16) -> Option<&[u8]> {
        let found = self.extensions.iter().find(|(other, _)| *other == kind);
        found.map(|(_, content)| &content[..])
    }

    /// Puts an extension in the place of the one of its type, or behind all others.
    pub fn set(&mut self, kind: u16, content: &[u8]) {
        match self.extensions.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, old)) => *old = content.to_vec(),
            None => self.extensions.push((kind, content.to_vec())),
        }
    }

    /// Takes an extension away.
    pub fn remove(&mut self, kind: u16) {
        self.extensions.retain(|(other, _)| *other != kind);
    }
}

/// A vector with its length in front (RFC 5246 section 4.3).
fn prefixed(bytes: usize, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let mut vector = length[length.len() - bytes..].to_vec();
    vector.extend(content);
    vector
}

fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |n, byte| n << 8 | usize::from(*byte))
}
