//! Simulates a rollout and draws it.
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::todo,
    clippy::unimplemented,
    clippy::unreachable,
    clippy::unwrap_used
)]
#![allow(dead_code, reason = "the command line is not there yet")]

mod axis;
mod canvas;
mod compare;
mod curves;
#[cfg(test)]
mod fake;
mod figures;
mod head;
mod html;
mod labels;
mod lanes;
mod layers;
mod layout;
#[cfg(test)]
mod looks;
mod marks;
mod palette;
mod panel;
#[cfg(test)]
mod pictures;
mod replay;
mod revisions;
mod run;
mod scale;
mod station;
#[cfg(test)]
mod stories;
mod svg;
mod targets;
mod timeline;
mod words;

fn main() {}
