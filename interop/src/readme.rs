//! The lines of the README, run as they are printed there.

use crate::tool::Desk;
use anyhow::{Context, ensure};
use dtls_std::openssl::{OpenSsl, Process};
use std::fs;

/// Our server and our client.
///
/// # Errors
/// The lines do not do what they promise.
pub fn our_two_ends(openssl: &OpenSsl) -> anyhow::Result<()> {
    let desk = desk_with_keys(openssl)?;
    let _server = start(&desk, "server", "listening at")?;
    expect_in("hello", &desk.run(&lines("client")?)?)
}

/// Our server and `openssl s_client`; what it says is echoed.
///
/// # Errors
/// The lines do not do what they promise.
pub fn openssl_client(openssl: &OpenSsl) -> anyhow::Result<()> {
    let desk = desk_with_keys(openssl)?;
    let mut server = start(&desk, "server", "listening at")?;
    let said = desk.run(&lines("openssl client")?)?;
    expect_in("hello", &said)?;
    expect_in("Cipher is ECDHE-ECDSA-AES128-CCM8", &said)?;
    server.expect("sent 6 bytes")?;
    Ok(())
}

/// `openssl s_server` and our client.
///
/// # Errors
/// The lines do not do what they promise.
pub fn openssl_server(openssl: &OpenSsl) -> anyhow::Result<()> {
    let desk = desk_with_keys(openssl)?;
    let mut server = start(&desk, "openssl server", "ACCEPT")?;
    desk.run(&lines("client")?)?;
    server.expect("hello")?;
    Ok(())
}

/// A captured session that tshark opens with the key log.
///
/// # Errors
/// It does not, or the lines do not do what they promise.
pub fn tshark(openssl: &OpenSsl) -> anyhow::Result<()> {
    let desk = desk_with_keys(openssl)?;
    let server = start(&desk, "server", "listening at")?;
    let said = desk.run(&lines("tshark")?)?;
    drop(server);
    // Decrypted, or it would be an "Encrypted Handshake Message".
    expect_in("Finished", &said)?;
    let bytes = "tshark -r session.pcap -d udp.port==4433,dtls -o tls.keylog_file:keys -x";
    let said = desk.run(bytes)?;
    expect_in("Decrypted DTLS", &said)?;
    expect_in("hello.", &said)
}

fn desk_with_keys(openssl: &OpenSsl) -> anyhow::Result<Desk> {
    let desk = Desk::new(openssl)?;
    desk.run(&lines("keys")?)?;
    Ok(desk)
}

/// Starts the server of one line, and waits until it says that it is there.
fn start(desk: &Desk, name: &str, ready: &str) -> anyhow::Result<Process> {
    let line = lines(name)?;
    let mut server = Process::start(desk.command(&format!("exec {line}")))?;
    server.expect(ready)?;
    Ok(server)
}

/// The code block behind `<!-- lines: NAME -->`.
fn lines(name: &str) -> anyhow::Result<String> {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md"))
        .context("README.md")?;
    let marker = format!("<!-- lines: {name} -->\n```sh\n");
    let block = readme.split(&marker).nth(1);
    let block = block.and_then(|rest| rest.split("\n```").next());
    let block = block.with_context(|| format!("README.md has no \"{}\"", marker.trim()))?;
    Ok(block.to_owned())
}

fn expect_in(text: &str, said: &str) -> anyhow::Result<()> {
    ensure!(said.contains(text), "no \"{text}\" in: {said}");
    Ok(())
}
