//! Programs to copy from, under `examples/`. Each runs on a host with `cargo run -p dtls-examples --example NAME`.
