//! The parts that every subcommand shares: streams, sources, batches of lines.

pub(crate) mod console;
pub(crate) mod lines;
pub(crate) mod reasons;
pub(crate) mod source;
