//! Programs to copy from, under `examples/`. Each runs on a host with `cargo run -p dtls-examples --example NAME`.

/// The Rust in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
