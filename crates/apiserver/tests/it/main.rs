//! All integration tests, in one binary.
#![allow(unreachable_pub, clippy::restriction)]

mod admission;
mod cascade;
mod patch;
#[cfg(feature = "placement")]
mod requests;

use jiff::{SignedDuration, Timestamp};

/// The instant of all stories.
fn now() -> Timestamp {
    "2026-01-01T12:00:00Z".parse().unwrap()
}

/// Seconds from now; negative for the past.
fn at(seconds: i64) -> Timestamp {
    now() + SignedDuration::from_secs(seconds)
}
