//! Key files: what is written can be read, and what cannot be read is named.

use dtls_std::{Identity, KeyError, Pin, PrivateKey, write_self_signed};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }
}

/// `openssl ecparam -name prime256v1 -genkey`: SEC1 behind a block of parameters.
const SEC1: &str = include_str!("keys/sec1.key");
/// The same key as `openssl pkcs8 -topk8 -nocrypt` writes it.
const PKCS8: &str = include_str!("keys/pkcs8.key");
/// Its public key, `openssl pkey -pubout`.
const PUBLIC: &str = include_str!("keys/public.pub");
/// A certificate of it, with text in front: `openssl req -x509 -text`.
const CERTIFICATE: &str = include_str!("keys/openssl.crt");
/// `openssl pkey -pubout -outform DER | sha256sum`
const PIN: &str = include_str!("keys/pin");
/// The PKCS#8 key, encrypted.
const ENCRYPTED: &str = include_str!("keys/encrypted.key");
/// A key on another curve.
const P384: &str = include_str!("keys/p384.key");
const P384_PUBLIC: &str = include_str!("keys/p384.pub");

fn pin() -> Pin {
    PIN.trim().parse().unwrap()
}

#[test]
fn every_form_of_a_key_has_the_pin_that_openssl_computes() {
    let folder = Folder::new();
    for (name, text) in [("sec1", SEC1), ("pkcs8", PKCS8)] {
        let key = PrivateKey::read(&folder.write(name, text)).unwrap();
        assert_eq!(key.pin(), pin(), "{name}");
    }
    for (name, text) in [("public", PUBLIC), ("certificate", CERTIFICATE)] {
        let path = folder.write(name, text);
        assert_eq!(Pin::read(&path).unwrap(), pin(), "{name}");
        let text = path.to_str().unwrap();
        assert_eq!(Pin::from_digits_or_file(text).unwrap(), pin(), "{name}");
    }
    assert_eq!(Pin::from_digits_or_file(PIN.trim()).unwrap(), pin());
    assert_eq!(pin().to_string(), PIN.trim());
}

#[test]
fn what_is_written_can_be_read() {
    let folder = Folder::new();
    let [private, public, certificate] = ["a.key", "a.pub", "a.crt"].map(|name| folder.path(name));
    let key = PrivateKey::generate().unwrap();
    key.write(&private).unwrap();
    key.write_public(&public).unwrap();
    // Names are data: nothing in them is taken for syntax (RFC 4514 section 2.4).
    write_self_signed(&key, "CN=a, + \"é\"/\\", &certificate).unwrap();

    assert_eq!(PrivateKey::read(&private).unwrap().spki(), key.spki());
    assert_eq!(Pin::read(&public).unwrap(), key.pin());
    assert_eq!(Pin::read(&certificate).unwrap(), key.pin());
    let identity = Identity::read(&private, Some(&certificate)).unwrap();
    assert_eq!(identity.pin(), key.pin());

    assert_ne!(PrivateKey::generate().unwrap().pin(), key.pin());
}

#[test]
fn the_certificate_is_one_and_signed_by_its_own_key() {
    use p256::ecdsa::signature::Verifier;
    use p256::ecdsa::{DerSignature, VerifyingKey};
    use p256::pkcs8::DecodePublicKey;
    use x509_cert::der::{DecodePem, Encode};

    let folder = Folder::new();
    let path = folder.path("a.crt");
    let key = PrivateKey::generate().unwrap();
    write_self_signed(&key, "a, b", &path).unwrap();
    let certificate = x509_cert::Certificate::from_pem(fs::read(path).unwrap()).unwrap();
    let tbs = certificate.tbs_certificate();
    assert_eq!(tbs.version(), x509_cert::certificate::Version::V3);
    assert_eq!(tbs.subject(), tbs.issuer());
    assert_eq!(tbs.subject().to_string(), "CN=a\\, b");
    let signature = DerSignature::from_bytes(certificate.signature().raw_bytes()).unwrap();
    VerifyingKey::from_public_key_der(&key.spki())
        .unwrap()
        .verify(&tbs.to_der().unwrap(), &signature)
        .unwrap();
}

#[cfg(unix)]
#[test]
fn private_keys_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let path = folder.path("a.key");
    PrivateKey::generate().unwrap().write(&path).unwrap();
    let mode = fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn keys_are_never_overwritten() {
    let folder = Folder::new();
    let path = folder.write("a.key", "precious");
    let key = PrivateKey::generate().unwrap();
    for result in [
        key.write(&path),
        key.write_public(&path),
        write_self_signed(&key, "a", &path),
    ] {
        assert!(matches!(result, Err(KeyError::Unwritable { .. })));
    }
    assert_eq!(fs::read_to_string(path).unwrap(), "precious");
}

#[test]
fn files_of_no_use_are_named_with_what_is_wrong() {
    let folder = Folder::new();
    let private = |path: &Path| PrivateKey::read(path).err().unwrap();
    let public = |path: &Path| Pin::read(path).err().unwrap();
    let cut = SEC1.replace("-----END EC PRIVATE KEY-----", "");
    let scrambled = PKCS8.replacen('M', "*", 1);
    let swapped = PUBLIC.replace("PUBLIC KEY", "CERTIFICATE");
    let short = PKCS8.replace("PRIVATE KEY", "EC PRIVATE KEY");
    let cases = [
        (private(&folder.path("none")), "cannot read"),
        (
            private(&folder.write("empty", "")),
            "no PEM block \"PRIVATE KEY\"",
        ),
        (private(&folder.write("binary", [0xff; 99])), "no PEM block"),
        (
            private(&folder.write("a.pub", PUBLIC)),
            "no PEM block \"PRIVATE KEY\"",
        ),
        (
            private(&folder.write("encrypted", ENCRYPTED)),
            "is encrypted",
        ),
        (private(&folder.write("cut", cut)), "is damaged"),
        (private(&folder.write("scrambled", scrambled)), "is damaged"),
        (
            private(&folder.write("mislabelled", short)),
            "not a P-256 key",
        ),
        (private(&folder.write("p384", P384)), "not a P-256 key"),
        (public(&folder.path("nothing")), "cannot read"),
        (
            public(&folder.write("a.key", PKCS8)),
            "no PEM block \"PUBLIC KEY\" or \"CERTIFICATE\"",
        ),
        (
            public(&folder.write("p384.pub", P384_PUBLIC)),
            "not a P-256 key",
        ),
        (
            public(&folder.write("swapped", swapped)),
            "CERTIFICATE that cannot be parsed",
        ),
        (
            Pin::from_digits_or_file("0a1b").err().unwrap(),
            "\"0a1b\" is neither a file nor a pin",
        ),
    ];
    for (error, expected) in cases {
        let text = error.to_string();
        assert!(text.contains(expected), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

#[test]
fn a_certificate_of_another_key_is_refused() {
    let folder = Folder::new();
    let private = folder.path("a.key");
    PrivateKey::generate().unwrap().write(&private).unwrap();
    let certificate = folder.write("b.crt", CERTIFICATE);
    let refused = Identity::read(&private, Some(&certificate)).err().unwrap();
    assert!(matches!(refused, KeyError::ForeignCertificate(whose) if whose == pin()));
    let none = Identity::read(&private, Some(&private)).err().unwrap();
    assert!(matches!(none, KeyError::Missing { .. }));
}

#[test]
fn pins_are_64_digits_of_either_case() {
    let lower = "0123456789abcdef".repeat(4);
    let pin: Pin = lower.parse().unwrap();
    assert_eq!(lower.to_uppercase().parse(), Ok(pin));
    assert_eq!(pin.0[..3], [0x01, 0x23, 0x45]);
    for wrong in [
        &lower[1..],
        &lower[2..],
        &format!("{lower}00"),
        &lower.replace('f', "g"),
        "",
    ] {
        assert!(wrong.parse::<Pin>().is_err(), "{wrong}");
    }
}
