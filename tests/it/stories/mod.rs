//! One story per rule.

mod adoption;
mod audit;
mod claim;
mod classify;
mod forms;
mod history;
mod input;
mod known_bugs;
mod lost;
mod manifest;
mod memory;
mod node_sync;
mod placement;
mod reconciler;
mod refused;
mod released;
mod replace;
mod report;
mod status;
mod surge;
