//! What is read of pods, revisions, nodes, actions and the memory, each apart from the planner.

pub(crate) mod in_place;
pub(crate) mod lineage;
pub(crate) mod memories;
pub(crate) mod named;
pub(crate) mod names;
pub(crate) mod pulls;
pub(crate) mod stage;
pub(crate) mod strategy;
pub(crate) mod turns;
