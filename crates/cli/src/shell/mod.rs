//! The parts of a program that a shell calls: streams, exit codes, batches of lines, signs of life.

pub(crate) mod called;
pub(crate) mod console;
pub(crate) mod interrupt;
pub(crate) mod lines;
pub(crate) mod progress;
pub(crate) mod response;
