//! What a history shows, in figures.

mod availability;
mod rollout;
mod summary;
mod turns;

pub use availability::{Availability, availability};
pub use rollout::{RolloutFigures, WaveSummary, undone_at};
pub use summary::{Summary, Worst};
pub use turns::{Spread, TurnFigures, downtime};
