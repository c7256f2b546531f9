//! Stories of whole rollouts on a simulated cluster. A watcher checks the promises after each step.

mod conditions;
mod crash;
mod history;
mod known_bugs;
mod placement;
mod rolling;
mod support;
mod surge;
mod watcher;
mod watching;
