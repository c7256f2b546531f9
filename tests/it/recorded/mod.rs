//! Recorded inputs with the answers of real software.

mod conformance;
pub mod dumps;
mod upstream;
mod variants;
