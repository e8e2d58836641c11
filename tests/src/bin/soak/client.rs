//! One client and its lives.

use crate::tally::Tally;
use anyhow::{bail, ensure};
use core::cell::RefCell;
use core::net::{Ipv4Addr, SocketAddr};
use core::time::Duration;
use dtls_std::tokio::Client as Connection;
use dtls_std::{ClientConfig, Received, StdPlatform};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::rc::Rc;
use tokio::net::UdpSocket;
use tokio::time::{Instant, sleep, timeout_at};

/// What all clients share.
pub(crate) struct World {
    server: SocketAddr,
    config: ClientConfig,
    end: Instant,
    pub(crate) tally: RefCell<Tally>,
}

impl World {
    pub(crate) fn new(server: SocketAddr, config: ClientConfig, end: Instant) -> Self {
        Self {
            server,
            config,
            end,
            tally: RefCell::default(),
        }
    }
}

pub(crate) struct Client {
    world: Rc<World>,
    number: u32,
    rng: ChaCha8Rng,
    /// The port of the last life, if the server knows it and this is where to return.
    port: Option<u16>,
    echoes: u32,
}

/// So often an echo is asked for before the client counts as lost.
const QUESTIONS: u32 = 5;

impl Client {
    pub(crate) fn new(world: Rc<World>, seed: u64, number: u32) -> Self {
        Self {
            world,
            number,
            rng: ChaCha8Rng::seed_from_u64(seed.wrapping_add(u64::from(number) << 32)),
            port: None,
            echoes: 0,
        }
    }

    /// Life after life, to the end of the world.
    pub(crate) async fn live(mut self) {
        while Instant::now() < self.world.end {
            if let Err(error) = self.one_life().await {
                let lost = format!("client {}: {error:#}", self.number);
                return self.world.tally.borrow_mut().lost.push(lost);
            }
            sleep(self.millis(0..1000)).await;
        }
    }

    async fn one_life(&mut self) -> anyhow::Result<()> {
        let death = Instant::now() + self.millis(3_000..20_000);
        let death = death.min(self.world.end);
        let mut connection = self.connect().await?;
        while Instant::now() < death {
            self.echo(&mut connection).await?;
            sleep(self.millis(100..1_500)).await;
        }
        let port = connection.local().port();
        self.world.tally.borrow_mut().connected -= 1;
        let fate = self.rng.next_u32() % 3;
        let (closes, returns_there) = (fate == 0, fate == 1);
        self.port = returns_there.then_some(port);
        if closes {
            connection.close().await?;
        }
        let mut tally = self.world.tally.borrow_mut();
        tally.closed += u64::from(closes);
        tally.vanished += u64::from(!closes);
        Ok(())
    }

    async fn connect(&mut self) -> anyhow::Result<Connection> {
        let bind = |port| UdpSocket::bind((Ipv4Addr::LOCALHOST, port));
        let (socket, reborn) = match bind(self.port.unwrap_or(0)).await {
            Ok(socket) => (socket, self.port.is_some()),
            // Somebody else has the port by now.
            Err(_) => (bind(0).await?, false),
        };
        let World { server, config, .. } = &*self.world;
        let start = Instant::now();
        let platform = StdPlatform::new();
        let connection = Connection::connect_on(socket, *server, config, platform).await?;
        let mut tally = self.world.tally.borrow_mut();
        tally.handshake(start.elapsed());
        tally.reborn += u64::from(reborn);
        Ok(connection)
    }

    /// Asks for one echo, again and again if need be.
    async fn echo(&mut self, connection: &mut Connection) -> anyhow::Result<()> {
        self.echoes += 1;
        let data = format!("{}:{}", self.number, self.echoes);
        for question in 1..=QUESTIONS {
            connection.send(data.as_bytes()).await?;
            let patience = Instant::now() + Duration::from_millis(400 * u64::from(question));
            while let Ok(received) = timeout_at(patience, connection.recv()).await {
                match received? {
                    Received::Data(echo) if echo == data.as_bytes() => {
                        let mut tally = self.world.tally.borrow_mut();
                        tally.echoes += 1;
                        tally.repeated += u64::from(question > 1);
                        return Ok(());
                    }
                    // The late answer to a question that was repeated.
                    Received::Data(echo) => {
                        let own = format!("{}:", self.number);
                        ensure!(echo.starts_with(own.as_bytes()), "somebody else's echo");
                    }
                    other => bail!("instead of an echo: {other:?}"),
                }
            }
        }
        bail!("no echo")
    }

    fn millis(&mut self, range: core::ops::Range<u64>) -> Duration {
        let span = range.end - range.start;
        Duration::from_millis(range.start + self.rng.next_u64() % span)
    }
}
