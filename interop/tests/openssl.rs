//! OpenSSL in both roles: one test for each handshake, named by what is special about it.

use dtls_std::openssl::{Authentication, OpenSsl, OpenSslError};
use interop::our_server::Side;
use interop::{Credentials, Ip, our_client, our_server, readme};
use libtest_mimic::{Arguments, Trial};
use std::env;
use std::process::{Command, ExitCode};
use std::sync::Mutex;

/// What a path of Ethernet takes.
const MTU: u16 = 1400;
/// So little that our flights are cut into pieces; a ClientHello, which never is, still fits.
const SMALL_MTU: u16 = 200;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    match all_and_newest() {
        Err(error) => trials.push(trial("openssl", || Err(error.into()))),
        Ok((all, newest)) => {
            for openssl in &all {
                add_handshakes(openssl, &mut trials);
            }
            add_readme(newest, &mut trials);
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn all_and_newest() -> Result<(Vec<OpenSsl>, Option<OpenSsl>), OpenSslError> {
    Ok((OpenSsl::find()?, OpenSsl::newest()?))
}

fn add_handshakes(openssl: &OpenSsl, trials: &mut Vec<Trial>) {
    let known = |credentials: &Credentials| openssl.knows(credentials.authentication);
    for credentials in Credentials::ALL.into_iter().filter(known) {
        add_our_client(openssl, credentials, trials);
        add_our_server(openssl, credentials, trials);
    }
}

fn add_our_client(openssl: &OpenSsl, credentials: Credentials, trials: &mut Vec<Trial>) {
    let case = our_client::Case {
        credentials,
        ip: Ip::V4,
        server_mtu: Some(MTU),
        our_mtu: MTU,
    };
    let mut add = |what: &str, case, run: fn(&OpenSsl, our_client::Case) -> anyhow::Result<()>| {
        let name = format!("{} server, {credentials}, {what}", openssl.name());
        let openssl = openssl.clone();
        trials.push(trial(&name, move || run(&openssl, case)));
    };
    add("mtu 1400", case, our_client::converse);
    let fragmented = our_client::Case {
        server_mtu: None,
        ..case
    };
    add("in pieces of 228 bytes", fragmented, our_client::converse);
    let small = our_client::Case {
        our_mtu: SMALL_MTU,
        ..case
    };
    add("our mtu 200", small, our_client::converse);
    let v6 = our_client::Case { ip: Ip::V6, ..case };
    add("IPv6", v6, our_client::converse);
    add("wrong key refused by us", case, our_client::refuse);
}

fn add_our_server(openssl: &OpenSsl, credentials: Credentials, trials: &mut Vec<Trial>) {
    let case = our_server::Case {
        credentials,
        ip: Ip::V4,
        our_mtu: MTU,
        closed_by: Side::Client,
    };
    let mut add = |what: &str, case, run: fn(&OpenSsl, our_server::Case) -> anyhow::Result<()>| {
        let name = format!("{} client, {credentials}, {what}", openssl.name());
        let openssl = openssl.clone();
        trials.push(trial(&name, move || run(&openssl, case)));
    };
    add("closed by the client", case, our_server::converse);
    let closed_by_us = our_server::Case {
        closed_by: Side::Server,
        ..case
    };
    add("closed by the server", closed_by_us, our_server::converse);
    let small = our_server::Case {
        our_mtu: SMALL_MTU,
        ..case
    };
    add("our mtu 200", small, our_server::converse);
    let v6 = our_server::Case { ip: Ip::V6, ..case };
    add("IPv6", v6, our_server::converse);
    add("wrong key refused by OpenSSL", case, our_server::be_refused);
    if credentials.mutual {
        add("wrong key refused by us", case, our_server::refuse);
        add("no key refused by us", case, our_server::refuse_anonymous);
    }
}

/// The README's lines, which are written for an OpenSSL with raw public keys, and on one port.
fn add_readme(newest: Option<OpenSsl>, trials: &mut Vec<Trial>) {
    static PORT: Mutex<()> = Mutex::new(());
    let Some(openssl) = newest.filter(|newest| newest.knows(Authentication::RawPublicKey)) else {
        trials.push(missing("OpenSSL >= 3.2: run interop/peers/suite-root.sh"));
        return;
    };
    let mut add = |what: &str, run: fn(&OpenSsl) -> anyhow::Result<()>| {
        let openssl = openssl.clone();
        trials.push(trial(&format!("README, {what}"), move || {
            let _turn = PORT.lock();
            run(&openssl)
        }));
    };
    add("our two ends", readme::our_two_ends);
    add("openssl client", readme::openssl_client);
    add("openssl server", readme::openssl_server);
    match Command::new("tshark").arg("--version").output().is_ok() {
        true => add("tshark", readme::tshark),
        false => trials.push(missing("tshark: install it")),
    }
}

fn trial(name: &str, run: impl FnOnce() -> anyhow::Result<()> + Send + 'static) -> Trial {
    Trial::test(name, move || {
        run().map_err(|error| format!("{error:#}").into())
    })
}

/// A peer that is not there: ignored visibly, or a failure if the peers are required.
fn missing(what: &str) -> Trial {
    let required = env::var_os("DTLS_REQUIRE_PEERS").is_some_and(|value| value == "1");
    let name = format!("missing {what}");
    if !required {
        eprintln!("SKIP: {name}");
    }
    Trial::test(&name, move || {
        Err("not there, and DTLS_REQUIRE_PEERS=1".into())
    })
    .with_ignored_flag(!required)
}
