//! The texts and patches of kubectl's rollout commands.
#![allow(unreachable_pub, clippy::restriction)]

mod answers;
mod describe;
mod diff;
mod history;
mod properties;
mod restart;
mod simulated;
mod status;
mod support;
mod undo;
