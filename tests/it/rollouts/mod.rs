//! Whole rollouts on a simulated cluster, told as stories. What must always hold is watched after each step of every one.

mod crash;
mod history;
mod known_bugs;
mod placement;
mod rolling;
mod support;
mod surge;
mod watcher;
mod watching;
