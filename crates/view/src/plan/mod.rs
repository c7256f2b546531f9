//! A plan for a person: its head, the rows of its nodes, its actions, and when to look again.

pub mod actions;
pub mod budget;
pub mod head;
mod next;
pub mod phrase;
mod planned;
pub mod rows;

pub use next::{next, next_in_short};
pub use planned::{Named, Planned, fingerprint, planned};
