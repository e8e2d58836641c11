//! Echo over DTLS 1.2 with `dtls-core` and a UDP socket, without `dtls-std`: what a program that has its own sockets, or a
//! firmware, has to do. The loop is in `Endpoint::turn`.
//!
//! `cargo run -p dtls-examples --example udp_echo` runs a server and a client in two threads. Each knows the other's raw
//! public key (RFC 7250) beforehand and lets nobody else in.

use core::error::Error;
use core::net::{Ipv6Addr, SocketAddr};
use core::time::Duration;
use dtls_core::crypto::rustcrypto::{SigningKey, SoftEngine, SoftSymmetric};
use dtls_core::*;
use getrandom::SysRng;
use std::{net::UdpSocket, sync::LazyLock, thread};

type Failure = Box<dyn Error + Send + Sync>;
type Device = Parts<SoftSymmetric, SysRng>;
type Peer<'c> = Connection<'c, Device>;

fn main() -> Result<(), Failure> {
    // They live as long as the program, as in a firmware. The client's stand at 0, the server's at 1.
    let keys = vec![
        SigningKey::generate(&mut SysRng)?,
        SigningKey::generate(&mut SysRng)?,
    ]
    .leak();
    let spki = [keys[0].spki(), keys[1].spki()].to_vec().leak();
    let config = |i: u16| Config {
        credentials: vec![Credential::RawPublicKey {
            spki: &spki[usize::from(i)],
            key: KeyId(i),
        }]
        .leak(),
        client_authentication: ClientAuthentication::Required,
        ..Config::new(AcceptedPeers::RAW_PUBLIC_KEY)
    };

    let server = Endpoint::new(keys, &spki[0])?;
    let (server_config, address) = (config(1), server.socket.local_addr()?);
    let serving = thread::spawn(move || serve(server, &server_config));
    let client = Endpoint::new(keys, &spki[1])?;
    let echo = ask(client, &config(0), address, b"hello")?;
    println!("the echo: {}", String::from_utf8_lossy(&echo));
    serving.join().map_err(|_| "the server panicked")?
}

/// Echoes to one client until it closes.
fn serve(mut server: Endpoint<'_>, config: &Config<'_>) -> Result<(), Failure> {
    let (mut association, mut workspace) = (None, Workspace::<_, [u8; 1024]>::new());
    let mut connection = Connection::new(&mut association, &mut workspace, config);
    loop {
        match server.turn(&mut connection)? {
            Heard::Nothing => {}
            Heard::Data(data) => server.send(&mut connection, &data)?,
            Heard::Closed => return server.flush(&mut connection),
        }
    }
}

/// Connects, sends a question and returns the answer.
fn ask(
    mut client: Endpoint<'_>,
    config: &Config<'_>,
    server: SocketAddr,
    question: &[u8],
) -> Result<Vec<u8>, Failure> {
    let (mut association, mut workspace) = (None, Workspace::<_, [u8; 1024]>::new());
    let mut connection = Connection::new(&mut association, &mut workspace, config);
    client.peer = Some(server);
    connection.connect(&mut client.device, now())?;
    // The association appears when both Finished have verified and the server is the one we know.
    while connection.association().is_none() {
        client.turn(&mut connection)?;
    }
    client.send(&mut connection, question)?;
    loop {
        match client.turn(&mut connection)? {
            Heard::Nothing => {}
            Heard::Closed => return Err("the server closed".into()),
            Heard::Data(answer) => {
                connection.association().ok_or("no association")?.close();
                client.flush(&mut connection)?;
                return Ok(answer);
            }
        }
    }
}

/// What a datagram brought. Only its last record with data is kept, which is enough for an echo.
enum Heard {
    Nothing,
    Data(Vec<u8>),
    Closed,
}

/// A socket, the keys the engine holds, and the key of the only peer that is let in.
struct Endpoint<'a> {
    socket: UdpSocket,
    engine: SoftEngine<'a>,
    known: &'a [u8],
    peer: Option<SocketAddr>,
    gate: CookieGate,
    device: Device,
}

impl<'a> Endpoint<'a> {
    fn new(keys: &'a [SigningKey], known: &'a [u8]) -> Result<Self, Failure> {
        let mut secret = [0; 32]; // a server that stays up changes it now and then, see `CookieGate::rotate`
        getrandom::fill(&mut secret)?;
        let socket = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0))?;
        let (engine, gate) = (SoftEngine { keys }, CookieGate::new(secret));
        Ok(Self {
            socket,
            engine,
            known,
            peer: None,
            gate,
            device: Device::default(),
        })
    }

    /// Answers the questions, sends what is due, waits for a datagram or a timer, and takes the datagram apart.
    fn turn(&mut self, connection: &mut Peer<'_>) -> Result<Heard, Failure> {
        while let Some((job, question)) = connection.poll_question(&mut self.device) {
            let answer = match question {
                Question::PublicKey(request) => {
                    Answer::PublicKey(self.engine.answer(&mut SysRng, request))
                }
                Question::Peer(who) => {
                    Answer::Peer((who.spki() == Some(self.known)).then_some(PeerId(0)))
                }
                other => return Err(format!("cannot answer {other:?}").into()),
            };
            connection.answer(&mut self.device, now(), job, answer)?;
        }
        self.flush(connection)?;

        let (mut rx, mut tx, mut heard) = ([0; 1500], [0; 1500], Heard::Nothing);
        let wait = connection
            .poll_timeout()
            .map(|t| Duration::from_micros(t.since(now()).0.max(1)));
        self.socket.set_read_timeout(wait)?;
        let Ok((n, from)) = self.socket.recv_from(&mut rx) else {
            return Ok(heard); // a timer, or an ICMP error, which anybody can forge
        };
        let mut datagram = Datagram::new(&mut rx[..n]);
        while let Some(event) = connection.receive(&mut self.device, now(), &mut datagram)? {
            match event {
                Event::ApplicationData(data) => heard = Heard::Data(data.to_vec()),
                Event::Closed(_) => heard = Heard::Closed,
                // A client has to prove its address before anything is kept about it.
                Event::Stranger(hello) => {
                    match self.gate.admit(&mut self.device, from, hello, &mut tx) {
                        Admission::Drop => {}
                        Admission::Reply(n) => drop(self.socket.send_to(&tx[..n], from)?),
                        Admission::Accept(hello) => {
                            self.peer = Some(from);
                            connection.accept(&mut self.device, now(), hello)?;
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(heard)
    }

    /// Sends data. What is left of the handshake goes first.
    fn send(&mut self, connection: &mut Peer<'_>, data: &[u8]) -> Result<(), Failure> {
        self.flush(connection)?;
        let mut tx = [0; 1500];
        let association = connection.association().ok_or("no association")?;
        let n = association.send(&mut self.device, data, &mut tx)?;
        self.socket.send_to(&tx[..n], self.peer.ok_or("no peer")?)?;
        Ok(())
    }

    /// Sends all that is due.
    fn flush(&mut self, connection: &mut Peer<'_>) -> Result<(), Failure> {
        let mut tx = [0; 1500];
        while let Some(n) = connection.poll_transmit(&mut self.device, now(), &mut tx)? {
            self.socket.send_to(&tx[..n], self.peer.ok_or("no peer")?)?;
        }
        Ok(())
    }
}

/// Microseconds of a monotonic clock.
fn now() -> Instant {
    static START: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);
    Instant(START.elapsed().as_micros() as u64)
}

#[test]
fn the_echo_comes_back() -> Result<(), Failure> {
    main()
}
