//! The fields of a DaemonSet and of all structs below it, by theme, as in v1.37.

mod claim;
mod container;
mod environment;
mod meta;
mod pod;
mod probe;
mod scheduling;
mod security;
mod storage;
mod volume;
mod workload;

pub(crate) use pod::POD_TEMPLATE_SPEC;
pub(crate) use workload::{DAEMON_SET, PROPOSED_DAEMON_SET};
