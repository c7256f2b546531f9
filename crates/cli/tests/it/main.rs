//! The program as a user calls it: arguments and files in, text and exit code out.
#![allow(unreachable_pub, clippy::restriction)]

mod answers;
mod drain;
mod functions;
mod goldens;
mod hostile;
mod inputs;
#[cfg(unix)]
mod kubectl;
mod manifests;
mod on;
mod page;
mod plan;
mod program;
mod rollout;
mod schema;
mod simulate;
mod stuck;
mod turns;
mod why;
