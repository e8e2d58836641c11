//! Credentials that live as long as a test.

use super::OpenSslError;
use crate::certificate::write_self_signed;
use crate::identity::Identity;
use crate::keys::{KeyError, PrivateKey};
use crate::openssl::Authentication;
use crate::pin::Pin;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// New keys and self-signed certificates for both sides, in a folder that is removed with this value.
#[derive(Debug)]
pub struct Credentials {
    /// The server's.
    pub server: KeyFiles,
    /// The client's.
    pub client: KeyFiles,
    folder: TempDir,
}

/// The files of one key, PEM.
#[derive(Clone, Debug)]
pub struct KeyFiles {
    /// The private key.
    pub key: PathBuf,
    /// A self-signed certificate for `localhost`.
    pub certificate: PathBuf,
    /// The pin of the public key.
    pub pin: Pin,
}

impl Credentials {
    /// Makes new ones.
    ///
    /// # Errors
    /// The files cannot be written, or the system has no random numbers.
    pub fn generate() -> Result<Self, OpenSslError> {
        let folder = TempDir::with_prefix("dtls-").map_err(OpenSslError::Folder)?;
        Ok(Self {
            server: KeyFiles::generate(folder.path(), "server")?,
            client: KeyFiles::generate(folder.path(), "client")?,
            folder,
        })
    }

    /// The folder, for more files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl KeyFiles {
    fn generate(folder: &Path, name: &str) -> Result<Self, KeyError> {
        let key = PrivateKey::generate()?;
        let files = Self {
            key: folder.join(name).with_extension("key"),
            certificate: folder.join(name).with_extension("crt"),
            pin: key.pin(),
        };
        key.write(&files.key)?;
        write_self_signed(&key, "localhost", &files.certificate)?;
        Ok(files)
    }

    /// Reads them for a side of ours.
    ///
    /// # Errors
    /// The files are gone.
    pub fn identity(&self, authentication: Authentication) -> Result<Identity, KeyError> {
        let certificate = match authentication {
            Authentication::RawPublicKey => None,
            Authentication::Certificate => Some(self.certificate.as_path()),
        };
        Identity::read(&self.key, certificate)
    }
}
