//! Waiting for a socket that does not block.

use core::time::Duration;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::net::UdpSocket;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    Readable,
    Writable,
}

/// Waits for the socket, or less: for `patience`, or until a signal comes.
pub(crate) fn wait(socket: &UdpSocket, until: Until, patience: Duration) -> io::Result<()> {
    let flags = match until {
        Until::Readable => PollFlags::IN,
        Until::Writable => PollFlags::OUT,
    };
    // A day is as good as for ever, and in the range of every system.
    let patience = patience.min(Duration::from_secs(86_400));
    let patience = Timespec::try_from(patience).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(socket, flags)], Some(&patience)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
