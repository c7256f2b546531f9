//! What kubectl prints for a rollout, and what it sends.

mod answers;
mod describe;
mod diff;
mod history;
mod properties;
mod restart;
mod simulated;
mod status;
mod subresources;
mod support;
mod undo;
