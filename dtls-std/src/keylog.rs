//! The key log, with which a capture of our own traffic can be decrypted.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// A file in the format of `SSLKEYLOGFILE`: whoever reads it can read the traffic. Wireshark opens it together with a
/// [`Capture`](crate::Capture).
#[derive(Debug)]
pub struct KeyLog {
    file: File,
}

impl KeyLog {
    /// Opens the file, to add to its end; a new file is readable for its owner only.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn append(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        crate::keys::for_the_owner_only(&mut options);
        options.open(path).map(|file| Self { file })
    }

    /// Adds one line. It goes to the file in one piece, so that programs can share a file.
    pub(crate) fn write(&mut self, client_random: &[u8; 32], secret: &[u8; 48]) -> io::Result<()> {
        let random = base16ct::HexDisplay(client_random);
        let secret = base16ct::HexDisplay(secret);
        let line = format!("CLIENT_RANDOM {random:x} {secret:x}\n");
        self.file.write_all(line.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_in_the_format_that_wireshark_reads() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        for n in [0xab, 1] {
            let mut log = KeyLog::append(&path).unwrap();
            log.write(&[n; 32], &[n; 48]).unwrap();
        }
        let line = |digits: &str| {
            let (random, secret) = (digits.repeat(32), digits.repeat(48));
            format!("CLIENT_RANDOM {random} {secret}\n")
        };
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text, line("ab") + &line("01"));
    }
}
