//! `dtls measure`: whether the figures are true.

use serde_json::Value;
use std::process::Command;

/// Long against everything that loopback and cryptography need, so that it cannot hide.
const DELAY_MS: u64 = 80;
const DELAY_US: u64 = DELAY_MS * 1_000;

/// The sides of the one pairing that was measured.
struct Measured {
    sides: Vec<Value>,
}

impl Measured {
    /// Our client with our server, raw public keys.
    fn new(args: &[&str]) -> Self {
        let first = [
            "measure",
            "-n5",
            "--peer=ours",
            "--credential=rpk",
            "--json=-",
        ];
        let output = Command::new(env!("CARGO_BIN_EXE_dtls"))
            .args(first)
            .args(args)
            .output()
            .unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{messages}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let pairing = &report["pairings"][0];
        assert_eq!(pairing["handshakes"], 5);
        let sides = pairing["sides"].as_array().unwrap().clone();
        assert_eq!(sides.len(), 2);
        for side in &sides {
            // The phases add up to the time from end to end: a stopwatch shows the same, but for readings of the clock.
            assert!(median(&side["unaccounted_us"]) < 100, "{side}");
        }
        Self { sides }
    }

    /// The phases of both sides, the client's first.
    fn phases(&self) -> impl Iterator<Item = &Value> {
        self.sides
            .iter()
            .flat_map(|side| side["phases"].as_array().unwrap())
    }

    /// The phases that took as long as the delay, half of the time.
    fn slow(&self) -> Vec<&str> {
        let slow = self
            .phases()
            .filter(|phase| median(&phase["time_us"]) >= DELAY_US);
        slow.map(|phase| phase["name"].as_str().unwrap()).collect()
    }

    /// The phases with a question that was out as long as the delay, half of the time; and about what.
    fn slow_questions(&self) -> Vec<(&str, &str)> {
        let mut slow = Vec::new();
        for phase in self.phases() {
            for question in phase["questions"].as_array().unwrap() {
                if median(&question["time_us"]) >= DELAY_US {
                    let (phase, operation) = (&phase["name"], &question["operation"]);
                    slow.push((phase.as_str().unwrap(), operation.as_str().unwrap()));
                }
            }
        }
        slow
    }
}

fn median(distribution: &Value) -> u64 {
    distribution["median"].as_u64().unwrap()
}

/// What one side needs longer is its own work there, and the other side's waiting: nothing else grows.
#[test]
fn a_delayed_operation_shows_in_exactly_its_phase() {
    let delayed = |operation: &str| {
        let delay = format!("--delay-operation={operation}={DELAY_MS}");
        Measured::new(&["--server-only", &delay])
    };
    // Only the server signs, for its ServerKeyExchange (RFC 8422 section 5.4) ...
    let sign = delayed("sign");
    assert_eq!(
        sign.slow(),
        ["await server flight", "prepare server flight"]
    );
    assert_eq!(sign.slow_questions(), [("prepare server flight", "sign")]);
    // ... and only the client verifies.
    let verify = delayed("verify");
    assert_eq!(
        verify.slow(),
        ["prepare client flight", "await client flight"]
    );
    assert_eq!(
        verify.slow_questions(),
        [("prepare client flight", "verify")]
    );
}

/// The flights of RFC 6347 figure 1.
#[test]
fn a_delayed_flight_shows_in_exactly_its_phase() {
    for (flight, phases) in [
        (1, ["cookie exchange"].as_slice()),
        (3, &["await server flight"]),
        (4, &["await server flight", "prepare server flight"]),
        (5, &["prepare client flight", "await client flight"]),
        // The server's work ends with the client's Finished; its last flight is the client's waiting.
        (6, &["await server Finished"]),
    ] {
        let delay = format!("--delay-flight={flight}={DELAY_MS}");
        let measured = Measured::new(&[&delay]);
        assert_eq!(measured.slow(), phases, "flight {flight}");
        assert!(measured.slow_questions().is_empty());
    }
}

/// Nothing is delayed, so nothing is slow: the tests above would notice a wrong phase.
#[test]
fn without_a_delay_no_phase_is_slow() {
    let measured = Measured::new(&[]);
    assert!(measured.slow().is_empty());
    for side in &measured.sides {
        assert!(median(&side["total_us"]) > 0);
        assert_eq!(side["retransmissions"], 0);
    }
}

/// Each side has a row for each of its phases and one for the whole handshake.
#[test]
fn a_table_for_spreadsheets() {
    let output = Command::new(env!("CARGO_BIN_EXE_dtls"))
        .args([
            "measure",
            "-n2",
            "--peer=ours",
            "--credential=rpk",
            "--csv=-",
        ])
        .output()
        .unwrap();
    assert!(output.status.success());
    let mut table = csv::Reader::from_reader(&output.stdout[..]);
    let column = |name: &str| {
        let headers = csv::Reader::from_reader(&output.stdout[..])
            .headers()
            .cloned();
        let position = headers.unwrap().iter().position(|header| header == name);
        position.unwrap_or_else(|| panic!("no column {name}"))
    };
    let (side, phase, median) = (column("side"), column("phase"), column("median_us"));
    let rows: Vec<_> = table.records().map(Result::unwrap).collect();
    let count = |name| rows.iter().filter(|row| &row[side] == name).count();
    assert_eq!((count("client"), count("server")), (5, 4));
    let totals: Vec<_> = rows.iter().filter(|row| &row[phase] == "total").collect();
    assert_eq!(totals.len(), 2);
    for total in totals {
        assert!(total[median].parse::<u64>().unwrap() > 0);
    }
}

#[test]
fn wrong_usage_is_explained() {
    let output = Command::new(env!("CARGO_BIN_EXE_dtls"))
        .args(["measure", "--delay-flight=2=10"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(messages.contains("flight 1, 3, 4, 5 or 6"), "{messages}");
}

/// A peer that is named and cannot be run is a failure, not a row less.
#[test]
fn a_missing_openssl_that_was_named_fails() {
    let output = Command::new(env!("CARGO_BIN_EXE_dtls"))
        .args(["measure", "-n1", "--peer=openssl"])
        .env("DTLS_OPENSSL", "/nowhere/openssl")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(
        messages.contains("cannot run `/nowhere/openssl`"),
        "{messages}"
    );
}

/// No OpenSSL at all is said, and no failure.
#[test]
fn no_openssl_is_said() {
    let copy = tempfile::tempdir().unwrap();
    let program = copy.path().join("dtls");
    std::fs::copy(env!("CARGO_BIN_EXE_dtls"), &program).unwrap();
    let output = Command::new(program)
        .args(["measure", "-n1"])
        .env("PATH", copy.path())
        .env_remove("DTLS_OPENSSL")
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{report}");
    assert!(report.contains("no OpenSSL found"), "{report}");
}

/// A peer that is there but does not work fails its rows; the others are measured and printed.
#[cfg(unix)]
#[test]
fn a_peer_that_cannot_be_reached_fails_loudly() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("openssl");
    let script = "#!/bin/sh\n[ \"$1\" = version ] && echo OpenSSL 9.9.9 || echo out of order\n";
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_dtls"))
        .args(["measure", "-n1", "--credential=rpk"])
        .env("DTLS_OPENSSL", &program)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(report.contains("OpenSSL 9.9.9"), "{report}");
    assert!(report.contains("FAILED"), "{report}");
    assert!(report.contains("seen by the client"), "{report}");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(messages.contains("out of order"), "{messages}");
}
