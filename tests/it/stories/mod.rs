//! Stories: each tells one rule with a small fleet and the actions that must follow.

mod adoption;
mod audit;
mod burst;
mod claim;
mod classify;
mod daemon_tolerations;
mod failed_pods;
mod forms;
mod history;
mod input;
mod known_bugs;
mod lost;
mod manifest;
mod manifests;
mod memory;
mod node_sync;
mod owner;
mod placement;
mod reconciler;
mod refused;
mod released;
mod replace;
mod report;
mod status;
mod surge;
mod views;
