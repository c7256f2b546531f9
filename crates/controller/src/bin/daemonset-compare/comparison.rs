//! The comparison of all DaemonSets.

use crate::daemon_set::{DaemonSetComparison, Timeouts};
use crate::metrics::FindingMetrics;
use crate::observed::{self, ObservedAction, ObservedOwner};
use crate::verdict::{ComparisonFinding, FindingCounts};
use daemonset::Plan;
use daemonset::model::{ControllerRevision, DaemonSet, OwnerReference, Pod, Uid};
use daemonset_controller::caches::Caches;
use daemonset_controller::clock::Clock;
use daemonset_controller::comparison::{self, Reverted};
use daemonset_controller::output::Output;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How often overdue actions are looked for.
const TICK: Duration = Duration::from_secs(1);
/// How often a summary is printed while the counts change.
const SUMMARY_INTERVAL: Duration = Duration::from_secs(60);

/// The comparison of all DaemonSets; clones share their state.
#[derive(Clone)]
pub(crate) struct ActionComparison {
    state: Arc<Mutex<ComparisonState>>,
    start: Instant,
    clock: Clock,
    caches: Caches,
    metrics: FindingMetrics,
    output: Output,
}

struct ComparisonState {
    daemon_sets: BTreeMap<Uid, DaemonSetComparison>,
    timeouts: Timeouts,
    counts: FindingCounts,
    /// The counts and the time of the last summary.
    last_summary: (FindingCounts, Duration),
}

impl ActionComparison {
    /// A comparison that begins now.
    pub(crate) fn new(timeouts: Timeouts, caches: Caches, metrics: FindingMetrics, output: Output) -> Self {
        let state = ComparisonState {
            daemon_sets: BTreeMap::new(),
            timeouts,
            counts: FindingCounts::default(),
            last_summary: (FindingCounts::default(), Duration::ZERO),
        };
        ActionComparison {
            state: Arc::new(Mutex::new(state)),
            start: Instant::now(),
            clock: Clock::default(),
            caches,
            metrics,
            output,
        }
    }

    /// Reports overdue actions and summaries until the process ends.
    pub(crate) async fn run(self) {
        let mut ticks = tokio::time::interval(TICK);
        loop {
            ticks.tick().await;
            // Until then, a DaemonSet that is not in the cache may be there all the same.
            if !self.caches.are_filled() {
                continue;
            }
            self.report_overdue();
            let summary = self.lock().summary_if_due(self.now(), &self.caches);
            self.print(summary);
        }
    }

    fn report_overdue(&self) {
        let now = self.now();
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        let mut state = self.lock();
        for ds in self.caches.daemon_sets.state() {
            if let Some(daemon_set) = state.daemon_sets.get_mut(&ds.metadata.uid) {
                theirs.extend(daemon_set.take_overdue_theirs(now));
                ours.extend(daemon_set.report_overdue_ours(now));
                ours.extend(daemon_set.report_status(&ds, now));
            }
        }
        theirs.extend(state.take_deleted(&self.caches, now));
        drop(state);
        self.report_theirs(theirs);
        for finding in ours {
            self.report(&finding);
        }
    }

    /// Prints the last summary; returns the number of differences.
    pub(crate) fn finish(&self) -> u64 {
        self.report_overdue();
        let state = self.lock();
        let (summary, differences) = (state.summary(&self.caches), state.counts.differences());
        drop(state);
        self.print(Some(summary));
        differences
    }

    fn owners_changed<'o>(&self, objects: impl Iterator<Item = (&'o str, &'o [OwnerReference])>) {
        let now = self.now();
        let mut state = self.lock();
        for owner in objects.filter_map(|(namespace, references)| observed::owner(namespace, references)) {
            if let Some(daemon_set) = state.daemon_sets.get_mut(&owner.uid) {
                daemon_set.changed(now);
            }
        }
    }

    fn observe(&self, actions: Vec<(ObservedOwner, ObservedAction)>) {
        let now = self.now();
        let mut state = self.lock();
        for (owner, action) in actions {
            state.daemon_set(owner, now).observe(action, now);
        }
    }

    /// Reports findings on actions of the other controller, each of which counts as seen.
    fn report_theirs(&self, findings: Vec<ComparisonFinding>) {
        for finding in findings {
            self.lock().counts.add_action();
            self.report(&finding);
        }
    }

    fn report(&self, finding: &ComparisonFinding) {
        self.lock().counts.add_finding(finding.verdict);
        self.metrics.count(finding.verdict.name());
        match finding.verdict.heading() {
            Some(_) => self.print(Some(finding.line())),
            None => tracing::debug!("{}", finding.line()),
        }
    }

    fn print(&self, line: Option<String>) {
        if let Some(line) = line {
            self.output.write(&format!("{:.3} {line}\n", self.clock.now()));
        }
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn lock(&self) -> MutexGuard<'_, ComparisonState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl comparison::Comparison for ActionComparison {
    fn pod_changed(&self, before: Option<&Arc<Pod>>, after: Option<&Pod>) {
        let pods = after.into_iter().chain(before.map(|pod| &**pod));
        self.owners_changed(pods.map(|pod| (&*pod.metadata.namespace, &*pod.metadata.owner_references)));
        self.observe(observed::pod_actions(before, after));
    }

    fn revision_changed(&self, before: Option<&Arc<ControllerRevision>>, after: Option<&ControllerRevision>) {
        self.observe(observed::revision_actions(before, after));
    }

    /// Only the other controller writes the status.
    fn daemon_set_changed(&self, before: Option<&DaemonSet>, after: Option<&DaemonSet>) {
        let (Some(before), Some(after)) = (before, after) else { return };
        let now = self.now();
        let mut state = self.lock();
        if before.status != after.status {
            state.counts.add_status();
        }
        if let Some(daemon_set) = state.daemon_sets.get_mut(&after.metadata.uid) {
            match before.status == after.status {
                true => daemon_set.changed(now),
                false => daemon_set.synced(now),
            }
        }
    }

    /// Plans it with and without the actions that need an explanation.
    fn reconcile(&self, ds: &DaemonSet, plan: &mut dyn FnMut(&Reverted) -> Option<Plan>) {
        let now = self.now();
        let owner = ObservedOwner {
            uid: ds.metadata.uid.clone(),
            name: format!("{}/{}", ds.metadata.namespace, ds.metadata.name),
        };
        let findings = self.lock().daemon_set(owner, now).reconcile(now, plan);
        self.report_theirs(findings);
    }

    fn take_back_off_reset(&self, ds: &DaemonSet) -> bool {
        let mut state = self.lock();
        let daemon_set = state.daemon_sets.get_mut(&ds.metadata.uid);
        daemon_set.is_some_and(DaemonSetComparison::take_back_off_reset)
    }
}

impl ComparisonState {
    fn daemon_set(&mut self, owner: ObservedOwner, now: Duration) -> &mut DaemonSetComparison {
        let timeouts = self.timeouts;
        let new = || DaemonSetComparison::new(owner.name, timeouts, now);
        self.daemon_sets.entry(owner.uid).or_insert_with(new)
    }

    /// Drops the DaemonSets that are gone. A pod may appear before its DaemonSet does: a DaemonSet that was never planned is
    /// kept for the window.
    fn take_deleted(&mut self, caches: &Caches, now: Duration) -> Vec<ComparisonFinding> {
        let existing: Vec<Uid> =
            caches.daemon_sets.state().iter().map(|ds| ds.metadata.uid.clone()).collect();
        let window = self.timeouts.window;
        let is_deleted = |uid: &Uid, daemon_set: &DaemonSetComparison| {
            !existing.contains(uid)
                && (daemon_set.is_planned() || now.saturating_sub(daemon_set.last_change()) > window)
        };
        let all = std::mem::take(&mut self.daemon_sets).into_iter();
        let (deleted, kept): (BTreeMap<_, _>, _) =
            all.partition(|(uid, daemon_set)| is_deleted(uid, daemon_set));
        self.daemon_sets = kept;
        deleted.into_values().flat_map(|daemon_set| daemon_set.deleted()).collect()
    }

    /// The summary, a minute after the last one if the counts have changed since.
    fn summary_if_due(&mut self, now: Duration, caches: &Caches) -> Option<String> {
        let (counts, at) = &self.last_summary;
        if *counts == self.counts || now.saturating_sub(*at) < SUMMARY_INTERVAL {
            return None;
        }
        self.last_summary = (self.counts.clone(), now);
        Some(self.summary(caches))
    }

    fn summary(&self, caches: &Caches) -> String {
        let planned = self.daemon_sets.values().filter(|daemon_set| daemon_set.is_planned());
        let waiting = planned.map(DaemonSetComparison::unmatched).sum();
        self.counts.summary(caches.daemon_sets.len(), waiting)
    }
}
