//! The tool, as a person or a script runs it.

use core::time::Duration;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use tempfile::TempDir;

fn dtls(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dtls"));
    command
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs to the end.
fn run(folder: &Path, args: &[&str], input: &str) -> Output {
    let mut child = dtls(folder, args).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that refuses its arguments does not read its input.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    core::str::from_utf8(bytes).unwrap()
}

/// A folder with keys of a server and a client, and a certificate of the server.
fn keys() -> (TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let pin = |args: &[&str]| {
        let output = run(folder.path(), args, "");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).trim().to_owned()
    };
    let server = pin(&["keygen", "--out", "server", "--self-signed", "localhost"]);
    let client = pin(&["keygen", "--out", "client"]);
    (folder, server, client)
}

/// A server of the tool's on a port of its own choosing.
struct Server {
    child: Child,
    messages: BufReader<ChildStderr>,
    address: String,
}

impl Server {
    fn start(folder: &Path, args: &[&str]) -> Self {
        let first = ["server", "--listen", "127.0.0.1:0", "--once"];
        let mut child = dtls(folder, &[&first, args].concat()).spawn().unwrap();
        let mut messages = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        messages.read_line(&mut line).unwrap();
        let address = line
            .strip_prefix("listening at ")
            .and_then(|rest| rest.split(',').next())
            .unwrap_or_else(|| panic!("{line}"));
        Self {
            child,
            messages,
            address: address.to_owned(),
        }
    }

    /// Exit code, standard output, and what else it said.
    fn end(mut self) -> (i32, String, String) {
        let (mut output, mut messages) = (String::new(), String::new());
        let mut stdout = self.child.stdout.take().unwrap();
        stdout.read_to_string(&mut output).unwrap();
        self.messages.read_to_string(&mut messages).unwrap();
        (self.child.wait().unwrap().code().unwrap(), output, messages)
    }
}

#[test]
fn an_echo_over_raw_public_keys() {
    let (folder, server_pin, client_pin) = keys();
    let folder = folder.path();
    let server = Server::start(
        folder,
        &[
            "--key",
            "server.key",
            "--client-pin",
            "client.pub",
            "--echo",
        ],
    );
    let args = [
        "client",
        &server.address,
        "--key",
        "client.key",
        "--pin",
        &server_pin,
    ];
    let output = run(folder, &args, "hello\nworld\n");
    assert_eq!(text(&output.stdout), "hello\nworld\n");
    assert_eq!(
        text(&output.stderr),
        format!(
            "connected to {}: TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, key {server_pin}\n",
            server.address
        )
    );
    assert_eq!(output.status.code(), Some(0));

    let (code, _, messages) = server.end();
    assert_eq!(code, 0);
    assert!(
        messages.contains(&format!("key {client_pin}")),
        "{messages}"
    );
    assert!(messages.contains("closed: close_notify"), "{messages}");
}

/// A line that is longer than a datagram arrives as well, and so do bytes that are no text and no line.
#[test]
fn data_of_any_length_reaches_a_server_with_a_certificate() {
    let (folder, _, _) = keys();
    let folder = folder.path();
    let server = Server::start(
        folder,
        &["--key", "server.key", "--cert", "server.crt", "--anonymous"],
    );
    let args = [
        "client",
        &server.address,
        "--pin",
        "server.crt",
        "--accept",
        "x509",
        "--wait",
        "100",
        "--keylog",
        "keys",
        "--pcap",
        "session.pcap",
        "-v",
    ];
    let long = "x".repeat(5000);
    let output = run(folder, &args, &format!("{long}\nno line end"));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let trace = text(&output.stderr);
    for word in [
        "handshake, ",
        "HelloVerifyRequest seq 0",
        "ServerHelloDone",
        "phase: await server flight",
        "asked: verify",
        "epoch 1 seq 0 handshake",
        "change_cipher_spec",
    ] {
        assert!(trace.contains(word), "no \"{word}\" in {trace}");
    }
    assert!(folder.join("keys").metadata().unwrap().len() > 170);
    assert!(folder.join("session.pcap").metadata().unwrap().len() > 5000);

    let (code, received, messages) = server.end();
    assert_eq!((code, received), (0, format!("{long}\nno line end")));
    assert!(messages.contains("anonymous"), "{messages}");
}

#[test]
fn a_refused_key_is_exit_code_1_on_both_sides() {
    let (folder, server_pin, client_pin) = keys();
    let folder = folder.path();

    let server = Server::start(folder, &["--key", "server.key", "--anonymous"]);
    let output = run(
        folder,
        &["client", &server.address, "--pin", &client_pin],
        "",
    );
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stderr),
        format!(
            "dtls: {} showed the key {server_pin}, which is not among the pins; if that is the right \
             server, add --pin {server_pin}\n",
            server.address
        )
    );
    let (code, _, messages) = server.end();
    assert_eq!(code, 1);
    assert!(messages.contains("handshake_failure"), "{messages}");

    let server = Server::start(
        folder,
        &["--key", "server.key", "--client-pin", &server_pin],
    );
    let args = [
        "client",
        &server.address,
        "--key",
        "client.key",
        "--pin",
        &server_pin,
    ];
    let output = run(folder, &args, "");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("handshake_failure"));
    let (code, _, messages) = server.end();
    assert_eq!(code, 1);
    assert!(messages.contains("refused"), "{messages}");
}

#[test]
fn nobody_there_is_exit_code_1() {
    let (folder, pin, _) = keys();
    let peer = UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let args = [
        "client",
        &peer.to_string(),
        "--pin",
        &pin,
        "--timeout",
        "0.3",
    ];
    let output = run(folder.path(), &args, "");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stderr),
        format!("dtls: nobody listens at {peer}; start the server, or correct the address\n")
    );
}

/// Where the name has an IPv6 address as well, nobody listens there: the next one is tried at once.
#[test]
fn a_server_is_found_by_its_name() {
    let (folder, pin, _) = keys();
    let folder = folder.path();
    let server = Server::start(folder, &["--key", "server.key", "--anonymous", "--echo"]);
    let port = server.address.rsplit(':').next().unwrap();
    let start = std::time::Instant::now();
    let args = ["client", &format!("localhost:{port}"), "--pin", &pin];
    let output = run(folder, &args, "hello\n");
    assert_eq!(text(&output.stdout), "hello\n", "{}", text(&output.stderr));
    assert!(start.elapsed() < Duration::from_secs(8));
    assert_eq!(server.end().0, 0);
}

#[test]
fn wrong_usage_and_useless_keys_are_exit_code_2() {
    let (folder, pin, _) = keys();
    let folder = folder.path();
    std::fs::write(folder.join("empty.key"), "").unwrap();
    for (args, expected) in [
        (&["client", "127.0.0.1:1"][..], "--pin"),
        (
            &["client", "127.0.0.1", "--pin", &pin],
            "no address for \"127.0.0.1\"",
        ),
        (
            &["client", "127.0.0.1:1", "--pin", "0a1b"],
            "neither a file nor a pin",
        ),
        (
            &["client", "127.0.0.1:1", "--pin", &pin, "--key", "none.key"],
            "cannot read none.key",
        ),
        (
            &["client", "127.0.0.1:1", "--pin", &pin, "--key", "empty.key"],
            "empty.key holds no PEM block \"PRIVATE KEY\"",
        ),
        (
            &["client", "127.0.0.1:1", "--pin", &pin, "--mtu", "64"],
            "the MTU is too small",
        ),
        (
            &[
                "client",
                "127.0.0.1:1",
                "--pin",
                &pin,
                "--pcap",
                "no/such/folder",
            ],
            "cannot write no/such/folder",
        ),
        (&["server", "--key", "server.key"], "--client-pin"),
        (
            &[
                "server",
                "--key",
                "server.key",
                "--client-pin",
                &pin,
                "--client-auth",
                "none",
            ],
            "add --anonymous",
        ),
        (
            &[
                "server",
                "--key",
                "client.key",
                "--cert",
                "server.crt",
                "--anonymous",
            ],
            "does not belong to the private key",
        ),
        (&["keygen", "--out", "server"], "cannot write server.key"),
        (&["no-such-command"], "no-such-command"),
    ] {
        let output = run(folder, args, "");
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
        assert!(message.contains(expected), "{args:?}: {message}");
    }
}

/// What a person can do about it stands behind the semicolon.
#[test]
fn failures_say_what_to_do() {
    let (folder, server_pin, client_pin) = keys();
    let folder = folder.path();
    let fails = |server: &[&str], client: &[&str], expected: &str| {
        let server = Server::start(folder, &[&["--key", "server.key"], server].concat());
        let args = [&["client", &server.address], client].concat();
        let output = run(folder, &args, "");
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(message.contains(expected), "{message}");
        server.end()
    };
    // RFC 7925 section 6: handshake_failure for a raw public key …
    let (_, _, messages) = fails(
        &["--client-pin", &server_pin],
        &["--key", "client.key", "--pin", &server_pin],
        &format!("needs our pin {client_pin}"),
    );
    assert!(
        messages.contains(&format!("showed the key {client_pin}")),
        "{messages}"
    );
    // … and certificate_unknown for a certificate.
    fails(
        &["--client-pin", &client_pin],
        &[
            "--key",
            "server.key",
            "--cert",
            "server.crt",
            "--pin",
            &server_pin,
        ],
        &format!("needs our pin {server_pin}"),
    );
    fails(
        &["--client-pin", &client_pin],
        &["--pin", &server_pin],
        "see --key",
    );
    fails(
        &["--anonymous"],
        &["--pin", &server_pin, "--accept", "x509"],
        "no credential as --accept asks for",
    );

    std::fs::write(
        folder.join("damaged.key"),
        "-----BEGIN PRIVATE KEY-----\nMIG",
    )
    .unwrap();
    for (key, advice) in [
        ("none.key", "`dtls keygen` makes keys"),
        ("damaged.key", "copy the file again"),
        ("server.pub", "is it the right file?"),
    ] {
        let args = ["client", "127.0.0.1:1", "--pin", &server_pin, "--key", key];
        let output = run(folder, &args, "");
        assert_eq!(output.status.code(), Some(2));
        assert!(
            text(&output.stderr).contains(advice),
            "{}",
            text(&output.stderr)
        );
    }
}

/// A server that has another suite only: the alert says so little that the message has to say both.
#[test]
fn no_common_suite() {
    let (folder, pin, _) = keys();
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap().to_string();
    let refuse = std::thread::spawn(move || {
        let mut hello = [0; 2048];
        let (_, client) = server.recv_from(&mut hello).unwrap();
        // RFC 5246 section 7.2.2: a fatal handshake_failure, in plaintext as always before there are keys.
        let alert = b"\x15\xfe\xfd\0\0\0\0\0\0\0\0\0\x02\x02\x28";
        server.send_to(alert, client).unwrap();
        // Open until the client has given up, so that the network has nothing to say.
        server
    });
    let args = ["client", &address, "--pin", &pin, "--timeout", "1.5"];
    let output = run(folder.path(), &args, "");
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    let suite = "has not the suite TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8";
    assert!(message.contains(suite), "{message}");
    drop(refuse.join().unwrap());
}

/// SIGUSR1 asks for the counters, SIGTERM closes all connections and ends the server.
#[cfg(unix)]
#[test]
fn signals_report_and_end() {
    let (folder, pin, _) = keys();
    let folder = folder.path();
    let mut server = Server::start(folder, &["--key", "server.key", "--anonymous", "--echo"]);
    let mut client = dtls(folder, &["client", &server.address, "--pin", &pin])
        .spawn()
        .unwrap();
    let mut input = client.stdin.take().unwrap();
    input.write_all(b"hello\n").unwrap();
    let mut answer = BufReader::new(client.stdout.take().unwrap());
    let mut line = String::new();
    answer.read_line(&mut line).unwrap();
    assert_eq!(line, "hello\n");

    let signal = |name: &str| {
        let pid = server.child.id().to_string();
        let status = Command::new("kill").args([name, &pid]).status().unwrap();
        assert!(status.success());
    };
    signal("-USR1");
    let report = loop {
        let mut line = String::new();
        server.messages.read_line(&mut line).unwrap();
        if line.starts_with("peers: ") {
            break line;
        }
    };
    assert!(
        report.starts_with("peers: 1; handshakes under way: 0; dropped: none;"),
        "{report}"
    );
    signal("-TERM");
    let (code, _, messages) = server.end();
    assert_eq!(code, 0);
    assert!(
        messages.contains("alerts sent: close_notify 1"),
        "{messages}"
    );
    // The client is told.
    let status = client.wait().unwrap();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_full_server_says_so() {
    let (folder, pin, _) = keys();
    let folder = folder.path();
    let mut server = Server::start(
        folder,
        &[
            "--key",
            "server.key",
            "--anonymous",
            "--echo",
            "--max-peers",
            "1",
        ],
    );
    let connect = || {
        let args = ["client", &server.address, "--pin", &pin, "--timeout", "0.5"];
        dtls(folder, &args).spawn().unwrap()
    };
    let mut first = connect();
    let mut line = String::new();
    server.messages.read_line(&mut line).unwrap();
    assert!(line.contains("connected"), "{line}");
    let second = connect().wait_with_output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert!(text(&second.stderr).contains("did not answer in time"));
    drop(first.stdin.take());
    first.wait().unwrap();
    let (_, _, messages) = server.end();
    assert!(messages.contains("all places are taken"), "{messages}");
}

/// `dtls client … | head -1`
#[test]
fn a_reader_that_has_enough_is_no_failure() {
    let (folder, pin, _) = keys();
    let folder = folder.path();
    let server = Server::start(folder, &["--key", "server.key", "--anonymous", "--echo"]);
    let mut client = dtls(folder, &["client", &server.address, "--pin", &pin])
        .spawn()
        .unwrap();
    drop(client.stdout.take());
    let mut input = client.stdin.take().unwrap();
    input.write_all(b"hello\n").unwrap();
    let output = client.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(server.end().0, 0);
}

/// The README is the manual page.
#[test]
fn the_readme_names_every_option() {
    let readme = include_str!("../../README.md");
    let manual = readme.split("## The command dtls").nth(1).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for command in ["keygen", "client", "server", "measure"] {
        let output = run(folder.path(), &[command, "--help"], "");
        let (options, _) = text(&output.stdout).split_once("Examples:").unwrap();
        let options = options.lines().filter_map(|line| {
            let line = line.trim_start();
            let line = line.strip_prefix("-").filter(|_| !line.starts_with("- "))?;
            let start = line.find("--").map_or(1, |n| n + 2);
            line.get(start..)?.split([' ', ',']).next()
        });
        let options: Vec<_> = options.filter(|option| *option != "help").collect();
        assert!(options.len() >= 2, "{command}: {options:?}");
        for option in options {
            assert!(
                manual.contains(&format!("`--{option}")),
                "{command} --{option}"
            );
        }
    }
}

#[test]
fn help_has_examples() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["keygen", "client", "server", "measure"] {
        let output = run(folder.path(), &[command, "--help"], "");
        assert_eq!(output.status.code(), Some(0));
        let help = text(&output.stdout);
        assert!(help.contains("Examples:\n  "), "{help}");
        assert!(help.contains(&format!("dtls {command}")), "{help}");
    }
}
