//! Which DaemonSet is to be reconciled next: each at most once at a time, soon after something changed, not more often than
//! it may, and later and later while it fails.
//!
//! `kube::runtime::Controller` has a queue, too. Its debounce starts anew with each event, so that a rollout of many nodes,
//! in which there is always another event, would wait for its end.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// The first wait after a failure; each further failure doubles it (client-go `DefaultTypedControllerRateLimiter`).
const FIRST_RETRY: Duration = Duration::from_millis(5);
const LONGEST_RETRY: Duration = Duration::from_secs(300);

/// A work queue of keys.
#[derive(Debug)]
pub struct Queue<K> {
    state: Mutex<State<K>>,
    changed: Notify,
    /// How long a key rests after it was worked on, so that what happens meanwhile is one change.
    rest: Duration,
}

#[derive(Debug)]
struct State<K> {
    due: HashMap<K, Instant>,
    running: HashSet<K>,
    resting_until: HashMap<K, Instant>,
    failures: HashMap<K, Failures>,
    closed: bool,
}

/// Failures in a row.
#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    /// When it is tried again for them.
    again: Instant,
}

impl<K: Clone + Eq + Hash> Queue<K> {
    /// An empty queue whose keys rest for so long after each time.
    pub fn new(rest: Duration) -> Self {
        let state = State {
            due: HashMap::new(),
            running: HashSet::new(),
            resting_until: HashMap::new(),
            failures: HashMap::new(),
            closed: false,
        };
        Queue { state: Mutex::new(state), changed: Notify::new(), rest }
    }

    /// Asks for this key as soon as it may be worked on.
    pub fn add(&self, key: K) {
        self.add_at(key, Instant::now());
    }

    /// Asks for this key after a time; the earliest time that was asked for counts.
    pub fn add_after(&self, key: K, delay: Duration) {
        let now = Instant::now();
        // A time that can't be told is no time at all.
        self.add_at(key, now.checked_add(delay).unwrap_or_else(|| now + LONGEST_RETRY));
    }

    /// Asks for this key at an instant; the earliest one that was asked for counts.
    pub fn add_at(&self, key: K, at: Instant) {
        let mut state = self.state();
        let at = state.resting_until.get(&key).copied().map_or(at, |rested| at.max(rested));
        let due = state.due.entry(key).or_insert(at);
        *due = at.min(*due);
        drop(state);
        self.changed.notify_one();
    }

    /// Asks for this key after a time, and gives it to nobody before, whatever happens meanwhile.
    pub fn hold(&self, key: K, delay: Duration) {
        let now = Instant::now();
        let until = now.checked_add(delay).unwrap_or_else(|| now + LONGEST_RETRY);
        let mut state = self.state();
        state.due.insert(key.clone(), until);
        state.resting_until.insert(key, until);
        drop(state);
        self.changed.notify_one();
    }

    /// Asks for this key again after a failure, later each time. Only what was tried for that reason counts: many events
    /// while it fails do not put the next attempt off.
    pub fn retry(&self, key: K) {
        let now = Instant::now();
        let mut state = self.state();
        let failures = state.failures.entry(key.clone()).or_insert(Failures { count: 0, again: now });
        if failures.again <= now {
            let delay = FIRST_RETRY.saturating_mul(1 << failures.count.min(20)).min(LONGEST_RETRY);
            *failures = Failures { count: failures.count + 1, again: now + delay };
        }
        let again = failures.again;
        drop(state);
        self.add_at(key, again);
    }

    /// The next key, once it is due; none when the queue is closed. Whoever takes it says [`done`](Queue::done).
    pub async fn next(&self) -> Option<K> {
        loop {
            let changed = self.changed.notified();
            let wake = match self.state().take() {
                Taken::Closed => return None,
                Taken::Key(key) => {
                    // Another one may be due for another worker.
                    self.changed.notify_one();
                    return Some(key);
                }
                Taken::Nothing(wake) => wake,
            };
            match wake {
                Some(at) => tokio::select! { () = changed => {}, () = sleep_until(at) => {} },
                None => changed.await,
            }
        }
    }

    /// The key was worked on; it may come again after its rest.
    pub fn done(&self, key: &K) {
        let mut state = self.state();
        let rested = Instant::now() + self.rest;
        let rested = state.resting_until.get(key).map_or(rested, |held| rested.max(*held));
        state.running.remove(key);
        if let Some(due) = state.due.get_mut(key) {
            *due = (*due).max(rested);
        }
        state.resting_until.insert(key.clone(), rested);
        drop(state);
        self.changed.notify_one();
    }

    /// It went well: the next failure is the first one again.
    pub fn succeeded(&self, key: &K) {
        self.state().failures.remove(key);
    }

    /// Nothing is remembered of a key that is gone.
    pub fn forget(&self, key: &K) {
        let mut state = self.state();
        state.due.remove(key);
        state.failures.remove(key);
        state.resting_until.remove(key);
    }

    /// How many keys wait.
    pub fn len(&self) -> usize {
        self.state().due.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Gives nobody anything any more.
    pub fn close(&self) {
        self.state().closed = true;
        self.changed.notify_waiters();
        self.changed.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Taken<K> {
    Key(K),
    /// Until when, if anything is due at all.
    Nothing(Option<Instant>),
    Closed,
}

impl<K: Clone + Eq + Hash> State<K> {
    fn take(&mut self) -> Taken<K> {
        if self.closed {
            return Taken::Closed;
        }
        let idle = self.due.iter().filter(|(key, _)| !self.running.contains(*key));
        let Some((key, at)) = idle.min_by_key(|(_, at)| **at).map(|(key, at)| (key.clone(), *at)) else {
            return Taken::Nothing(None);
        };
        if at > Instant::now() {
            return Taken::Nothing(Some(at));
        }
        self.due.remove(&key);
        self.running.insert(key.clone());
        Taken::Key(key)
    }
}

#[cfg(test)]
mod tests;
