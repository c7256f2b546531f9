//! Which watches fail, since when and why; each reason is logged once, and so is its end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often a failure is looked for that lasts too long.
const TICK: Duration = Duration::from_secs(1);

/// The watches that fail; clones share their state.
#[derive(Debug, Clone, Default)]
pub struct WatchHealth {
    /// By the plural name in the path, such as `pods`.
    failing: Arc<Mutex<BTreeMap<String, FailingWatch>>>,
    /// Until when the API server asks not to be asked again, by the same name.
    retry_after: Arc<Mutex<BTreeMap<String, Instant>>>,
}

/// How a failure of a watch appears in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogAs {
    /// A line of its own, once for each reason.
    Failure,
    /// The API server is unreachable, which is in the log already.
    Outage,
    /// A connection ended, as each one does at some time. It is a failure only if the next one fails, too.
    Routine,
}

#[derive(Debug)]
struct FailingWatch {
    since: Instant,
    last_error: String,
    logged: BTreeSet<String>,
    /// Whether the log says that the watch does not work.
    is_reported: bool,
}

impl WatchHealth {
    /// Records that a list or a watch of these objects failed.
    pub fn failed(&self, plural: &str, error: String, log_as: LogAs) {
        let mut failing = self.failing();
        let failing = failing.entry(plural.to_owned()).or_insert_with(|| FailingWatch {
            since: Instant::now(),
            last_error: String::new(),
            logged: BTreeSet::new(),
            is_reported: false,
        });
        failing.last_error.clone_from(&error);
        failing.is_reported |= log_as != LogAs::Routine;
        if log_as == LogAs::Failure && failing.logged.insert(error.clone()) {
            tracing::warn!(objects = plural, error, "the watch failed, retrying");
        } else {
            tracing::debug!(objects = plural, error, "the watch failed, retrying");
        }
    }

    /// Records that the list or the watch of these objects works: it was decoded, or it began.
    pub fn works(&self, plural: &str) {
        if let Some(failing) = self.failing().remove(plural).filter(|failing| failing.is_reported) {
            let seconds = failing.since.elapsed().as_secs();
            tracing::info!(objects = plural, seconds, "the watch works again");
        }
    }

    /// Records that the API server asks not to be asked for these objects again within this time. For this time the watch does
    /// not count as failing: another process would have to wait as well.
    pub fn retry_after(&self, plural: &str, delay: Duration) {
        lock(&self.retry_after).insert(plural.to_owned(), Instant::now() + delay);
    }

    /// How much longer the API server asks not to be asked for these objects; it is told once.
    pub fn take_retry_after(&self, plural: &str) -> Duration {
        let until = lock(&self.retry_after).remove(plural);
        let left = until.map(|until| until.saturating_duration_since(Instant::now())).unwrap_or_default();
        if let Some(failing) = self.failing().get_mut(plural) {
            failing.since += left;
        }
        left
    }

    /// Waits until a watch has failed for this time without a success; returns the objects and the last error.
    pub async fn failed_for(&self, limit: Duration) -> String {
        loop {
            let too_long = |(plural, failing): (&String, &FailingWatch)| {
                let seconds = failing.since.elapsed().as_secs();
                (failing.since.elapsed() >= limit)
                    .then(|| format!("no watch of {plural} for {seconds} s: {}", failing.last_error))
            };
            if let Some(reason) = self.failing().iter().find_map(too_long) {
                return reason;
            }
            sleep(TICK).await;
        }
    }

    fn failing(&self) -> MutexGuard<'_, BTreeMap<String, FailingWatch>> {
        lock(&self.failing)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The plural name at the end of the path of a collection.
pub(crate) fn last_segment(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}
