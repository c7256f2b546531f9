//! Another DaemonSet controller beside this one, as its status writes show it.
//!
//! Two controllers would each spend the budget of a rollout, as after an upgrade that has turned Kubernetes' own one on again. This one
//! stops acting for a minute after each status write that it did not send itself. The other one can't be told from a person with
//! `kubectl edit --subresource=status`, who stops it, too: to wait for a minute harms least.

use crate::caches::Key;
use daemonset::Action;
use daemonset::model::{DaemonSet, DaemonSetStatus, Uid};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The time without a foreign status write after which this controller acts again.
const QUIET: Duration = Duration::from_secs(60);
/// The time in which the last writes of the process before may still arrive.
const LATE_WRITES: Duration = Duration::from_secs(10);
/// Status writes that are remembered until the watch shows them. Of these in conflict it shows none.
const MAX_SENT: usize = 32;

/// Whether this process stops acting beside another controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// It stops.
    StopActing,
    /// It acts all the same: a person said so, or it is meant to run beside another one.
    ActAnyway,
}

/// The signs of another controller; clones share them.
#[derive(Clone)]
pub struct OtherController {
    reaction: Reaction,
    begun: Instant,
    signs: Arc<Mutex<Signs>>,
}

#[derive(Default)]
struct Signs {
    /// The own status writes, by DaemonSet.
    sent: HashMap<Key, Sent>,
    last: Option<Instant>,
    /// The last foreign write to each DaemonSet, until it is reported.
    unreported: HashMap<Key, ForeignStatus>,
}

/// The own status writes to one DaemonSet that the watch may still show, oldest first.
struct Sent {
    uid: Uid,
    figures: VecDeque<StatusFigures>,
}

/// The generation that a status describes, and its counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StatusFigures([(&'static str, i64); 8]);

/// A status write that this process did not send: the figures that it has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignStatus {
    changed: Vec<(&'static str, i64, i64)>,
}

impl OtherController {
    /// No sign of another controller; this process begins to act now.
    pub fn new(reaction: Reaction) -> Self {
        OtherController { reaction, begun: Instant::now(), signs: Arc::default() }
    }

    /// Notes the status updates among actions that are about to be sent. By their content, so that one whose response is lost
    /// is known when the watch shows it.
    pub fn sent(&self, ds: &DaemonSet, actions: &[Action]) {
        for action in actions {
            let Action::UpdateStatus { status, .. } = action else { continue };
            let mut signs = self.signs();
            let new = || Sent { uid: ds.metadata.uid.clone(), figures: VecDeque::new() };
            let sent = signs.sent.entry(Key::from(ds)).or_insert_with(new);
            if sent.uid != ds.metadata.uid {
                *sent = new();
            }
            sent.figures.push_back(StatusFigures::of(status));
            if sent.figures.len() > MAX_SENT {
                sent.figures.pop_front();
            }
        }
    }

    /// Looks at a change of a DaemonSet that a watch has shown. Lists are not looked at: storage may have been restored from the past
    /// meanwhile.
    pub(crate) fn observe(&self, before: &DaemonSet, after: &DaemonSet) {
        let key = Key::from(after);
        let mut signs = self.signs();
        let sent = signs.sent.get_mut(&key).filter(|sent| sent.uid == after.metadata.uid);
        let Some(foreign) = foreign_status(before, after, sent.map(|sent| &mut sent.figures)) else { return };
        match self.reaction {
            Reaction::StopActing if self.begun.elapsed() > LATE_WRITES => {
                signs.last = Some(Instant::now());
                signs.unreported.insert(key, foreign);
            }
            Reaction::StopActing | Reaction::ActAnyway => {}
        }
    }

    /// Until when this process must not act; `None` if it may.
    pub fn stops_until(&self) -> Option<Instant> {
        let until = self.signs().last? + QUIET;
        (until > Instant::now()).then_some(until)
    }

    /// The last foreign status write to a DaemonSet, once.
    pub(crate) fn take_unreported(&self, key: &Key) -> Option<ForeignStatus> {
        self.signs().unreported.remove(key)
    }

    /// Drops all about a DaemonSet that is gone.
    pub(crate) fn forget(&self, key: &Key) {
        let mut signs = self.signs();
        signs.sent.remove(key);
        signs.unreported.remove(key);
    }

    fn signs(&self) -> MutexGuard<'_, Signs> {
        self.signs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A change of the generation or of a counter that is not one of the sent statuses.
fn foreign_status(
    before: &DaemonSet,
    after: &DaemonSet,
    sent: Option<&mut VecDeque<StatusFigures>>,
) -> Option<ForeignStatus> {
    let (old, new) = (StatusFigures::of(&before.status), StatusFigures::of(&after.status));
    if before.metadata.uid != after.metadata.uid || old == new {
        return None;
    }
    if let Some(sent) = sent
        && let Some(position) = sent.iter().position(|figures| *figures == new)
    {
        // An earlier one can't follow any more: each write names the version that it changes.
        sent.drain(..position);
        return None;
    }
    let pairs = old.0.into_iter().zip(new.0).filter(|(old, new)| old != new);
    Some(ForeignStatus { changed: pairs.map(|((name, old), (_, new))| (name, old, new)).collect() })
}

impl StatusFigures {
    fn of(status: &DaemonSetStatus) -> Self {
        StatusFigures([
            ("observedGeneration", status.observed_generation),
            ("desiredNumberScheduled", status.desired_number_scheduled.into()),
            ("currentNumberScheduled", status.current_number_scheduled.into()),
            ("numberMisscheduled", status.number_misscheduled.into()),
            ("updatedNumberScheduled", status.updated_number_scheduled.into()),
            ("numberReady", status.number_ready.into()),
            ("numberAvailable", status.number_available.into()),
            ("numberUnavailable", status.number_unavailable.into()),
        ])
    }
}

impl ForeignStatus {
    /// The reason of the event about it.
    pub const REASON: &'static str = "AnotherController";
}

impl fmt::Display for ForeignStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the status was written by another controller (")?;
        for (i, (name, old, new)) in self.changed.iter().enumerate() {
            write!(f, "{}{name} {old} -> {new}", if i == 0 { "" } else { ", " })?;
        }
        let seconds = QUIET.as_secs();
        write!(
            f,
            "): this one does nothing until {seconds} s pass without that. Is Kubernetes' own DaemonSet controller off?"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use daemonset::StatusReason;
    use daemonset::model::ObjectRef;
    use serde_json::{from_value, json};
    use tokio::time::advance;

    fn web(uid: &str, ready: i32) -> DaemonSet {
        from_value(json!({
            "metadata": {"name": "web", "namespace": "ns", "uid": uid},
            "status": {"observedGeneration": 1, "numberReady": ready},
        }))
        .unwrap()
    }

    fn update(ds: &DaemonSet) -> Action {
        let about = ObjectRef::from(ds);
        Action::update_status(about, ds.status.clone(), StatusReason::Changed)
    }

    /// A process that has acted for a while.
    async fn other_controller(reaction: Reaction) -> OtherController {
        let other = OtherController::new(reaction);
        advance(LATE_WRITES + Duration::from_millis(1)).await;
        other
    }

    #[tokio::test(start_paused = true)]
    async fn a_foreign_write_stops_for_a_minute_and_a_further_one_for_longer() {
        let other = other_controller(Reaction::StopActing).await;
        other.observe(&web("u", 1), &web("u", 2));
        assert_eq!(other.stops_until(), Some(Instant::now() + QUIET));
        let foreign = other.take_unreported(&Key::from(&web("u", 2))).unwrap();
        assert!(foreign.to_string().contains("(numberReady 1 -> 2)"), "{foreign}");
        assert_eq!(other.take_unreported(&Key::from(&web("u", 2))), None);
        advance(QUIET - Duration::from_secs(1)).await;
        other.observe(&web("u", 2), &web("u", 3));
        advance(Duration::from_secs(2)).await;
        assert!(other.stops_until().is_some());
        advance(QUIET).await;
        assert_eq!(other.stops_until(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn an_own_write_stops_nothing_and_an_earlier_one_can_not_follow() {
        let other = other_controller(Reaction::StopActing).await;
        let ds = web("u", 1);
        other.sent(&ds, &[update(&web("u", 2)), update(&web("u", 3))]);
        other.observe(&ds, &web("u", 3));
        assert_eq!(other.stops_until(), None);
        other.observe(&web("u", 3), &web("u", 2));
        assert!(other.stops_until().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn many_writes_in_conflict_do_not_grow_without_bound() {
        let other = other_controller(Reaction::StopActing).await;
        let ds = web("u", 0);
        for ready in 1..1000 {
            other.sent(&ds, &[update(&web("u", ready))]);
        }
        assert_eq!(other.signs().sent[&Key::from(&ds)].figures.len(), MAX_SENT);
        other.observe(&ds, &web("u", 999));
        assert_eq!(other.stops_until(), None);
        other.forget(&Key::from(&ds));
        assert!(other.signs().sent.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn all_else_stops_nothing() {
        let other = other_controller(Reaction::StopActing).await;
        let mut conditions = web("u", 1);
        conditions.status.conditions = vec![json!({"type": "Stalled"})];
        conditions.status.collision_count = Some(1);
        other.observe(&web("u", 1), &conditions);
        other.observe(&web("before", 1), &web("u", 2));
        assert_eq!(other.stops_until(), None);
        let other = other_controller(Reaction::ActAnyway).await;
        other.observe(&web("u", 1), &web("u", 2));
        assert_eq!(other.stops_until(), None);
        // The last write of the process before arrives late.
        let other = OtherController::new(Reaction::StopActing);
        other.observe(&web("u", 1), &web("u", 2));
        assert_eq!(other.stops_until(), None);
    }
}
