//! Stories: each tells one rule with a small fleet and the actions that must follow.

mod adoption;
mod audit;
mod burst;
mod claim;
mod classify;
mod conditions;
mod down;
mod failed_pods;
mod forms;
mod history;
mod input;
mod known_bugs;
mod lifecycle;
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
mod taken;
