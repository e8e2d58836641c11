//! stub
use crate::*;
/// Memory for one handshake at a time. `&mut Workspace<P, [u8; N]>` coerces to `&mut Workspace<P>`.
#[derive(Debug)]
pub struct Workspace<P: Platform, M: ?Sized = [u8]> {
    job: Job,
    p: core::marker::PhantomData<P>,
    memory: M,
}
impl<P: Platform, const N: usize> Workspace<P, [u8; N]> {
    /// A vacant workspace.
    #[allow(
        clippy::new_without_default,
        reason = "a Default would be built on the stack"
    )]
    pub const fn new() -> Self {
        todo!()
    }
}
#[allow(unused)]
impl<P: Platform, M: ?Sized> Workspace<P, M> {
    /// Its number among workspaces that share an engine ([`Job::slot`]); zero unless set.
    pub const fn set_slot(&mut self, slot: u16) {
        self.job.slot = slot;
    }
    /// No handshake lives here.
    pub const fn is_vacant(&self) -> bool {
        todo!()
    }
    /// The handshake here had to repeat a flight.
    pub const fn is_stalled(&self) -> bool {
        todo!()
    }
    /// Abandons the handshake that lives here and erases its secrets.
    pub fn clear(&mut self) {
        todo!()
    }
}
/// One peer: the place of an association and, beside it, a workspace.
#[derive(Debug)]
pub struct Connection<'w, P: Platform> {
    association: &'w mut Option<Association>,
    workspace: &'w mut Workspace<P>,
    config: &'w Config<'w>,
}
#[allow(unused)]
impl<'w, P: Platform> Connection<'w, P> {
    /// Takes up what is there: an association, a handshake on its way (started with this `config`), both or neither.
    pub const fn new(
        association: &'w mut Option<Association>,
        workspace: &'w mut Workspace<P>,
        config: &'w Config<'w>,
    ) -> Self {
        Self {
            association,
            workspace,
            config,
        }
    }
    /// The association, to seal with and to close.
    pub const fn association(&mut self) -> Option<&mut Association> {
        self.association.as_mut()
    }
    /// Starts a handshake as a client.
    #[cfg(feature = "client")]
    pub fn connect(&mut self, platform: &mut P, now: Instant) -> Result<(), Fatal> {
        todo!()
    }
    /// Starts a handshake as a server, with a ClientHello that passed the gate.
    #[cfg(feature = "server")]
    pub fn accept(
        &mut self,
        platform: &mut P,
        now: Instant,
        hello: Admitted<'_>,
    ) -> Result<(), Fatal> {
        todo!()
    }
    /// Takes records until one holds something for the caller; `None` when the datagram is used up.
    pub fn receive<'d>(
        &mut self,
        platform: &mut P,
        now: Instant,
        datagram: &mut Datagram<'d>,
    ) -> Result<Option<Event<'d>>, Fatal> {
        todo!()
    }
    /// Writes one datagram.
    pub fn poll_transmit(
        &mut self,
        platform: &mut P,
        now: Instant,
        out: &mut [u8],
    ) -> Result<Option<usize>, SendError> {
        todo!()
    }
    /// When to call `poll_transmit` although nothing happened.
    pub fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }
    /// The question the handshake waits for; handed out once.
    pub fn poll_question<'s>(&'s mut self, platform: &mut P) -> Option<(Job, Question<'s>)> {
        todo!()
    }
    /// Answers `poll_question`. Can connect: the peer's Finished may have arrived meanwhile.
    pub fn answer(
        &mut self,
        platform: &mut P,
        now: Instant,
        job: Job,
        answer: Answer,
    ) -> Result<Option<Event<'static>>, Fatal> {
        todo!()
    }
    /// What the peer showed, while the question about it is open.
    pub fn peer_identity(&self) -> Option<PeerIdentity<'_>> {
        todo!()
    }
}
