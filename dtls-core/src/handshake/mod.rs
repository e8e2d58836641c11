//! Handshake.
