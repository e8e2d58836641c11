//! `dtls keygen`

use super::Failure;
use dtls_std::{PrivateKey, write_self_signed};
use std::path::PathBuf;

/// Make a P-256 key pair and print its pin
///
/// NAME.key gets the private key (PKCS#8 PEM), NAME.pub the public key (SubjectPublicKeyInfo PEM). The pin, on standard
/// output, is the SHA-256 of the SubjectPublicKeyInfo: what `--pin` of the other side wants. Files are never overwritten.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  dtls keygen --out server
  dtls keygen --out server --self-signed server.example")]
pub(crate) struct Args {
    /// Names of the files to write, without their endings
    #[arg(long, value_name = "NAME", default_value = "dtls")]
    out: PathBuf,
    /// Also write NAME.crt, a self-signed certificate for this common name
    #[arg(long, value_name = "CN")]
    self_signed: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let key = PrivateKey::generate()?;
    let file = |ending| {
        let mut name = args.out.clone().into_os_string();
        name.push(ending);
        PathBuf::from(name)
    };
    key.write(&file(".key"))?;
    key.write_public(&file(".pub"))?;
    if let Some(common_name) = &args.self_signed {
        write_self_signed(&key, common_name, &file(".crt"))?;
    }
    println!("{}", key.pin());
    Ok(())
}
