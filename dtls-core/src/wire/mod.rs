//! Encodings only.
