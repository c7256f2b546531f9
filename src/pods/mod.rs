//! The pods of a snapshot: whose they are, and of which revision.

pub(crate) mod claim;
pub(crate) mod classify;
pub(crate) mod history;
