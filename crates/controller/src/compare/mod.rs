//! Our plans beside what another controller does: `--compare`.
//!
//! Nothing is changed in the cluster. `seen` tells from a changed object what the other controller did, `undone` is the
//! cluster without it, for which we plan; `ledger` puts the two together for one DaemonSet, and `verdict` is what comes of it.

pub mod act;
mod counters;
mod deliberate;
mod intent;
pub mod ledger;
pub mod seen;
mod standing;
pub mod undone;
pub mod verdict;
mod waiting;
pub mod watched;
mod words;

use crate::clock::Clock;
use crate::metrics::Metrics;
use crate::world::World;
use daemonset::Plan;
use daemonset::model::{ControllerRevision, DaemonSet, OwnerReference, Pod, Uid};
use ledger::{Ledger, Patience};
use seen::{Owner, Seen};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use undone::Undone;
use verdict::{Finding, Tally};

/// How often time alone is looked at.
const TICK: Duration = Duration::from_secs(1);
/// How often a summary is printed while something happens.
const SUMMARY: Duration = Duration::from_secs(60);

/// The comparison of all DaemonSets; clones are one.
#[derive(Clone)]
pub struct Comparison {
    book: Arc<Mutex<Book>>,
    begun: Instant,
    clock: Clock,
    metrics: Metrics,
}

struct Book {
    ledgers: BTreeMap<Uid, Ledger>,
    patience: Patience,
    tally: Tally,
    summarized: (Tally, Duration),
}

impl Comparison {
    /// Begins now.
    pub fn new(patience: Patience, metrics: Metrics) -> Self {
        let summarized = (Tally::default(), Duration::ZERO);
        let book = Book { ledgers: BTreeMap::new(), patience, tally: Tally::default(), summarized };
        Comparison {
            book: Arc::new(Mutex::new(book)),
            begun: Instant::now(),
            clock: Clock::default(),
            metrics,
        }
    }

    /// A pod has changed.
    pub fn pod(&self, before: Option<&Arc<Pod>>, after: Option<&Pod>) {
        let pods = after.into_iter().chain(before.map(|pod| &**pod));
        self.touched(pods.map(|pod| (&*pod.metadata.namespace, &*pod.metadata.owner_references)));
        self.saw(seen::pod(before, after));
    }

    /// A revision has changed.
    pub fn revision(&self, before: Option<&Arc<ControllerRevision>>, after: Option<&ControllerRevision>) {
        self.saw(seen::revision(before, after));
    }

    /// A DaemonSet has changed, or its status was written.
    pub fn daemon_set(&self, before: Option<&DaemonSet>, after: Option<&DaemonSet>) {
        let (Some(before), Some(after)) = (before, after) else { return };
        let now = self.now();
        let mut book = self.lock();
        if before.status != after.status {
            book.tally.saw_status();
        }
        if let Some(ledger) = book.ledgers.get_mut(&after.metadata.uid) {
            match before.status == after.status {
                true => ledger.touched(now),
                false => ledger.synced(now),
            }
        }
    }

    /// Plans the DaemonSet, with and without what is to be explained.
    pub fn look(&self, ds: &DaemonSet, decide: impl FnMut(&Undone) -> Option<Plan>) {
        let now = self.now();
        let owner = Owner {
            uid: ds.metadata.uid.clone(),
            name: format!("{}/{}", ds.metadata.namespace, ds.metadata.name),
        };
        let findings = self.lock().ledger(owner, now).look(now, decide);
        self.tell_theirs(findings);
    }

    /// Whether the other controller seems to have forgotten how often this DaemonSet's pods failed.
    pub fn take_forgotten(&self, ds: &DaemonSet) -> bool {
        self.lock().ledgers.get_mut(&ds.metadata.uid).is_some_and(Ledger::take_forgotten)
    }

    /// Looks at time alone each second, until the process ends.
    pub async fn run(self, world: World) {
        let mut ticks = tokio::time::interval(TICK);
        loop {
            ticks.tick().await;
            self.tick(&world);
            let summary = self.lock().summary_due(self.now(), &world);
            self.print(summary);
        }
    }

    fn tick(&self, world: &World) {
        let now = self.now();
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        let mut book = self.lock();
        for ds in world.daemon_sets.state() {
            if let Some(ledger) = book.ledgers.get_mut(&ds.metadata.uid) {
                theirs.extend(ledger.unexplained(now));
                ours.extend(ledger.unfollowed(now));
                ours.extend(ledger.status(&ds, now));
            }
        }
        theirs.extend(book.drop_gone(world, now));
        drop(book);
        self.tell_theirs(theirs);
        for finding in ours {
            self.tell(&finding);
        }
    }

    /// Prints the last summary; how many differences there were.
    pub fn end(&self, world: &World) -> u64 {
        self.tick(world);
        let book = self.lock();
        let (summary, differences) = (book.summary(world), book.tally.differences());
        drop(book);
        self.print(Some(summary));
        differences
    }

    fn touched<'o>(&self, objects: impl Iterator<Item = (&'o str, &'o [OwnerReference])>) {
        let now = self.now();
        let mut book = self.lock();
        for owner in objects.filter_map(|(namespace, references)| seen::owner(namespace, references)) {
            if let Some(ledger) = book.ledgers.get_mut(&owner.uid) {
                ledger.touched(now);
            }
        }
    }

    fn saw(&self, seen: Vec<(Owner, Seen)>) {
        let now = self.now();
        let mut book = self.lock();
        for (owner, seen) in seen {
            book.ledger(owner, now).saw(seen, now);
        }
    }

    fn tell_theirs(&self, findings: Vec<Finding>) {
        for finding in findings {
            self.lock().tally.saw();
            self.tell(&finding);
        }
    }

    fn tell(&self, finding: &Finding) {
        self.lock().tally.found(finding.verdict);
        self.metrics.compared(finding.verdict.name());
        match finding.verdict.heading() {
            Some(_) => self.print(Some(finding.told())),
            None => tracing::debug!("{}", finding.told()),
        }
    }

    fn print(&self, line: Option<String>) {
        if let Some(line) = line {
            // Whoever reads may have gone.
            let _ = writeln!(std::io::stdout(), "{:.3} {line}", self.clock.now());
        }
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn ledger(&mut self, owner: Owner, now: Duration) -> &mut Ledger {
        let patience = self.patience;
        self.ledgers.entry(owner.uid).or_insert_with(|| Ledger::new(owner.name, patience, now))
    }

    /// A pod may be seen before its DaemonSet is, so that what was never planned is kept for the window.
    fn drop_gone(&mut self, world: &World, now: Duration) -> Vec<Finding> {
        let there: Vec<Uid> = world.daemon_sets.state().iter().map(|ds| ds.metadata.uid.clone()).collect();
        let window = self.patience.window;
        let is_gone = |uid: &Uid, ledger: &Ledger| {
            !there.contains(uid) && (ledger.is_planned() || now.saturating_sub(ledger.last_change()) > window)
        };
        let gone = self.ledgers.iter().filter(|(uid, ledger)| is_gone(uid, ledger));
        let gone: Vec<Uid> = gone.map(|(uid, _)| uid.clone()).collect();
        gone.iter().filter_map(|uid| self.ledgers.remove(uid)).flat_map(Ledger::gone).collect()
    }

    /// A minute after the last one, if something has happened since.
    fn summary_due(&mut self, now: Duration, world: &World) -> Option<String> {
        let (tally, at) = &self.summarized;
        if *tally == self.tally || now.saturating_sub(*at) < SUMMARY {
            return None;
        }
        self.summarized = (self.tally.clone(), now);
        Some(self.summary(world))
    }

    fn summary(&self, world: &World) -> String {
        let waiting = self.ledgers.values().filter(|ledger| ledger.is_planned()).map(Ledger::waiting).sum();
        self.tally.told(world.daemon_sets.len(), waiting)
    }
}
