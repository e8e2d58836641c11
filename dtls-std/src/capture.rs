//! A capture of our own traffic.

use crate::trace::Direction;
use core::net::SocketAddr;
use etherparse::PacketBuilder;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, PcapError};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

/// A pcap file of all datagrams sent and received, under IP and UDP headers made for the purpose (hop limit 64, no
/// fragmentation), so that Wireshark opens it.
pub struct Capture {
    file: PcapWriter<Box<dyn Write + Send>>,
}

impl Capture {
    /// Creates the file; one that exists is overwritten.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        // Not buffered: what was captured is there even if the program is killed.
        Self::new(Box::new(File::create(path)?))
    }

    /// Writes to something else than a file.
    ///
    /// # Errors
    /// It cannot be written to.
    pub fn new(to: Box<dyn Write + Send>) -> io::Result<Self> {
        let header = PcapHeader {
            datalink: DataLink::RAW,
            ..PcapHeader::default()
        };
        let file = PcapWriter::with_header(to, header).map_err(into_io)?;
        Ok(Self { file })
    }

    pub(crate) fn write(
        &mut self,
        direction: Direction,
        local: SocketAddr,
        peer: SocketAddr,
        datagram: &[u8],
    ) -> io::Result<()> {
        let packet = match direction {
            Direction::Sent => packet(local, peer, datagram),
            Direction::Received => packet(peer, local, datagram),
        }?;
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let length = u32::try_from(packet.len()).map_err(io::Error::other)?;
        let packet = PcapPacket::new(time.unwrap_or_default(), length, &packet);
        self.file.write_packet(&packet).map(drop).map_err(into_io)
    }
}

/// The IP packet with this UDP datagram. IPv4 behind a dual-stack socket is shown as what it was.
fn packet(from: SocketAddr, to: SocketAddr, datagram: &[u8]) -> io::Result<Vec<u8>> {
    const HOP_LIMIT: u8 = 64;
    let builder = match (canonical(from), canonical(to)) {
        (SocketAddr::V4(from), SocketAddr::V4(to)) => {
            PacketBuilder::ipv4(from.ip().octets(), to.ip().octets(), HOP_LIMIT)
        }
        (from, to) => PacketBuilder::ipv6(as_v6(from), as_v6(to), HOP_LIMIT),
    };
    let builder = builder.udp(from.port(), to.port());
    let mut packet = Vec::with_capacity(builder.size(datagram.len()));
    builder
        .write(&mut packet, datagram)
        .map_err(io::Error::other)?;
    Ok(packet)
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

const fn as_v6(address: SocketAddr) -> [u8; 16] {
    match address {
        SocketAddr::V4(address) => address.ip().to_ipv6_mapped().octets(),
        SocketAddr::V6(address) => address.ip().octets(),
    }
}

fn into_io(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{SlicedPacket, TransportSlice};
    use pcap_file::pcap::PcapReader;

    fn addresses(local: &str, peer: &str) -> (SocketAddr, SocketAddr) {
        (local.parse().unwrap(), peer.parse().unwrap())
    }

    /// What is captured can be read back, checksums included.
    fn round_trip(direction: Direction, local: &str, peer: &str) -> (SocketAddr, SocketAddr) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pcap");
        let (local, peer) = addresses(local, peer);
        let payload = b"\x16\xfe\xfd";
        let mut capture = Capture::create(&path).unwrap();
        capture.write(direction, local, peer, payload).unwrap();

        let mut reader = PcapReader::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.header().datalink, DataLink::RAW);
        let packet = reader.next_packet().unwrap().unwrap();
        let age = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        assert!(age.unwrap().abs_diff(packet.timestamp).as_secs() < 60);
        let packet = SlicedPacket::from_ip(&packet.data).unwrap();
        let Some(TransportSlice::Udp(udp)) = packet.transport else {
            panic!("no UDP");
        };
        assert_eq!(udp.payload(), payload);
        let (from, to, checksum) = match packet.net.unwrap() {
            etherparse::NetSlice::Ipv4(ip) => {
                let header = ip.header().to_header();
                assert_eq!(header.header_checksum, header.calc_header_checksum());
                let checksum = udp.to_header().calc_checksum_ipv4(&header, payload);
                let (from, to) = (header.source, header.destination);
                (from.into(), to.into(), checksum)
            }
            etherparse::NetSlice::Ipv6(ip) => {
                let header = ip.header().to_header();
                let checksum = udp.to_header().calc_checksum_ipv6(&header, payload);
                let (from, to) = (header.source, header.destination);
                (from.into(), to.into(), checksum)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(udp.checksum(), checksum.unwrap());
        (
            SocketAddr::new(from, udp.source_port()),
            SocketAddr::new(to, udp.destination_port()),
        )
    }

    #[test]
    fn both_families_both_directions() {
        for (local, peer) in [
            ("192.0.2.1:1000", "192.0.2.2:4433"),
            ("[2001:db8::1]:1000", "[2001:db8::2]:4433"),
        ] {
            let (a, b) = addresses(local, peer);
            assert_eq!(round_trip(Direction::Sent, local, peer), (a, b));
            assert_eq!(round_trip(Direction::Received, local, peer), (b, a));
        }
    }

    #[test]
    fn mapped_addresses_are_shown_as_ipv4() {
        let shown = round_trip(
            Direction::Received,
            "[::ffff:192.0.2.1]:4433",
            "[::ffff:192.0.2.2]:1000",
        );
        assert_eq!(shown, addresses("192.0.2.2:1000", "192.0.2.1:4433"));
    }
}
