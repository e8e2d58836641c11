//! Which OpenSSLs there are.

use super::{OpenSsl, OpenSslError, Version};
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

/// DTLS 1.2 with the cipher suites of RFC 7251 is there since 1.1.0; older ones are not worth the trouble.
const OLDEST: Version = Version(1, 1, 1);

impl OpenSsl {
    /// The ones on this machine, each version once: those in the path list `DTLS_OPENSSL`, the system's, and those that
    /// were unpacked under `target/peers` beside the running program.
    ///
    /// # Errors
    /// A program named in `DTLS_OPENSSL` or unpacked under `target/peers` cannot be run or is no OpenSSL >= 1.1.1. It is
    /// no error if the system has none.
    pub fn find() -> Result<Vec<Self>, OpenSslError> {
        let named = env::var_os("DTLS_OPENSSL").unwrap_or_default();
        let named = env::split_paths(&named)
            .filter(|path| !path.as_os_str().is_empty())
            .map(|path| Self::at(path, &[]));
        let unpacked = unpacked_peers()
            .into_iter()
            .map(|run| Self::at(run, &["openssl"]));
        let mut found: Vec<Self> = Vec::new();
        for candidate in named.chain(Self::of_the_system().map(Ok)).chain(unpacked) {
            let candidate = candidate?;
            if found.iter().all(|other| other.version != candidate.version) {
                found.push(candidate);
            }
        }
        Ok(found)
    }

    /// The newest that [`find`](Self::find) finds.
    ///
    /// # Errors
    /// Those of [`find`](Self::find).
    pub fn newest() -> Result<Option<Self>, OpenSslError> {
        Ok(Self::find()?.into_iter().max_by_key(|found| found.version))
    }

    /// The one in the search path, if there is one and it is new enough (some systems have a relative instead).
    fn of_the_system() -> Option<Self> {
        Self::at("openssl".into(), &[]).ok()
    }

    fn at(program: PathBuf, arguments: &'static [&'static str]) -> Result<Self, OpenSslError> {
        let answer = Command::new(&program)
            .args(arguments)
            .arg("version")
            .output()
            .map_err(|source| OpenSslError::Start {
                command: program.display().to_string(),
                source,
            })?;
        let says = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
        match Version::parse(&says).filter(|version| *version >= OLDEST) {
            Some(version) => Ok(Self {
                program,
                arguments,
                version,
            }),
            None => Err(OpenSslError::Other { program, says }),
        }
    }
}

impl Version {
    /// From what `openssl version` says: "OpenSSL 3.0.19 27 Jan 2026 …", "OpenSSL 1.1.1w  11 Sep 2023".
    fn parse(says: &str) -> Option<Self> {
        let number = says.strip_prefix("OpenSSL ")?.split_whitespace().next()?;
        let mut parts = number.split('.').map(|part| {
            let digits = part
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(part.len());
            part.get(..digits).and_then(|digits| digits.parse().ok())
        });
        Some(Self(parts.next()??, parts.next()??, parts.next()??))
    }
}

/// The launchers `target/peers/SUITE/run` of peers that were unpacked there; the program itself runs in `target` too.
fn unpacked_peers() -> Vec<PathBuf> {
    let program = env::current_exe().unwrap_or_default();
    let mut launchers: Vec<PathBuf> = program
        .ancestors()
        .filter_map(|ancestor| fs::read_dir(ancestor.join("peers")).ok())
        .flatten()
        .filter_map(|suite| Some(suite.ok()?.path()))
        .filter(|suite| suite.join("usr/bin/openssl").exists())
        .map(|suite| suite.join("run"))
        .filter(|run| run.exists())
        .collect();
    launchers.sort();
    launchers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_openssl_prints_them() {
        let parse = Version::parse;
        assert_eq!(
            parse("OpenSSL 3.0.19 27 Jan 2026 (Library: OpenSSL 3.0.19 27 Jan 2026)"),
            Some(Version(3, 0, 19))
        );
        assert_eq!(parse("OpenSSL 1.1.1w  11 Sep 2023"), Some(Version(1, 1, 1)));
        assert_eq!(parse("OpenSSL 4.0.0-alpha1"), Some(Version(4, 0, 0)));
        assert_eq!(parse("LibreSSL 3.3.6"), None);
        assert_eq!(parse("OpenSSL 3"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn raw_public_keys_came_with_3_2() {
        let knows = |version| {
            let program = PathBuf::new();
            OpenSsl {
                program,
                arguments: &[],
                version,
            }
            .has_raw_public_keys()
        };
        assert!(!knows(Version(3, 0, 19)) && !knows(Version(1, 1, 1)));
        assert!(knows(Version(3, 2, 0)) && knows(Version(4, 0, 0)));
    }
}
