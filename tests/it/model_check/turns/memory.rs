//! The memory of a controller of turns, as states that are compared have it.

use super::objects::Instant;
use super::state::SHOWN;
use crate::model_check::controller::Remembered;
use crate::support::now;
use daemonset::Memory;
use jiff::{SignedDuration, Timestamp};

/// The seconds between two instants.
const SECONDS: i64 = 5;

pub fn time(at: Instant) -> Timestamp {
    now() + SignedDuration::from_secs(SECONDS * i64::from(at))
}

pub fn instant(at: Timestamp) -> Instant {
    u8::try_from(at.duration_since(now()).as_secs() / SECONDS).unwrap()
}

/// Visits the instants that plans have written. The others are all the same.
pub fn visit_instants(remembered: &mut Remembered, visit: &mut impl FnMut(&mut Instant)) {
    let mut changed = false;
    let mut memory = remembered.memory().clone();
    let mut visit = |at: &mut Timestamp| {
        let mut short = instant(*at);
        visit(&mut short);
        changed |= time(short) != *at;
        *at = time(short);
    };
    if !memory.turns().patches.is_empty() || !memory.turns().in_place.is_empty() {
        memory.turns_mut().patches.values_mut().for_each(|patch| visit(&mut patch.at));
        memory.turns_mut().in_place.values_mut().for_each(|change| visit(&mut change.expected.changed_at));
    }
    memory
        .deleted_by_update_mut()
        .values_mut()
        .filter_map(|taken| taken.changed_at.as_mut())
        .for_each(&mut visit);
    if changed {
        *remembered = Remembered::new(memory);
    }
}

/// The cache shows one more change of a node.
pub fn show_node(remembered: &mut Remembered) {
    if remembered.memory().turns().patches.is_empty() {
        return;
    }
    let mut memory = remembered.memory().clone();
    for version in memory.turns_mut().patches.values_mut().filter_map(|patch| patch.version.as_mut()) {
        *version = SHOWN.max(*version - 1);
    }
    *remembered = Remembered::new(memory);
}

/// Whether it waits for something that no cache may ever show.
pub fn waits(memory: &Memory) -> bool {
    let turns = memory.turns();
    !(memory.creates().is_empty()
        && memory.deletes().is_empty()
        && turns.patches.is_empty()
        && turns.pulls.is_empty()
        && turns.pull_deletes.is_empty()
        && turns.in_place.is_empty())
}
