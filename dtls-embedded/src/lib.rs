//! Drivers of [`dtls_core`] for embedded network stacks. There is none yet: a microcontroller drives the core itself, with
//! the loop that stands at the head of its documentation.
#![no_std]
