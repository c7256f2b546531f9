//! A manifest before it is applied: lint, whether it restarts the fleet, and the API server's answer to it.

mod args;
mod changes;
mod lint;
mod operations;
pub(crate) mod requests;

pub(crate) use args::{ChangeArgs, CreateArgs, LintArgs, UpdateArgs};
pub(crate) use changes::{create, update, would_restart};
pub(crate) use lint::lint;
