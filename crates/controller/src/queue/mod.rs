//! The work queue: a key is worked on once at a time, soon after a change, after a rest since its last time, and with a
//! growing delay while it fails.
//!
//! `kube::runtime::Controller` has a queue, too. Its debounce starts again with each event, so that the DaemonSet would wait
//! for the end of a rollout of many nodes, in which events never pause.

use daemonset_executor::internal::{BackOff, LONGEST_BACK_OFF};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// A work queue of keys.
#[derive(Debug)]
pub struct Queue<K> {
    state: Mutex<QueueState<K>>,
    changed: Notify,
    /// How long a key rests after its work, so that the changes meanwhile lead to one further piece of work.
    rest: Duration,
}

#[derive(Debug)]
struct QueueState<K> {
    due: HashMap<K, Instant>,
    running: HashSet<K>,
    /// Those of the running keys that were forgotten meanwhile.
    forgotten: HashSet<K>,
    resting_until: HashMap<K, Instant>,
    failures: HashMap<K, BackOff>,
    closed: bool,
}

impl<K: Clone + Eq + Hash> Queue<K> {
    /// An empty queue whose keys rest for this time after their work.
    pub fn new(rest: Duration) -> Self {
        let state = QueueState {
            due: HashMap::new(),
            running: HashSet::new(),
            forgotten: HashSet::new(),
            resting_until: HashMap::new(),
            failures: HashMap::new(),
            closed: false,
        };
        Queue { state: Mutex::new(state), changed: Notify::new(), rest }
    }

    /// Adds a key that is due at once.
    pub fn add(&self, key: K) {
        self.add_at(key, Instant::now());
    }

    /// Adds a key that is due after a delay; of several due times the earliest counts.
    pub fn add_after(&self, key: K, delay: Duration) {
        let now = Instant::now();
        // A delay beyond the clock's range becomes the longest one.
        self.add_at(key, now.checked_add(delay).unwrap_or_else(|| now + LONGEST_BACK_OFF));
    }

    /// Adds a key that is due at an instant; of several due times the earliest counts.
    pub fn add_at(&self, key: K, at: Instant) {
        let mut state = self.state();
        let at = state.resting_until.get(&key).copied().map_or(at, |rested| at.max(rested));
        let is_earlier = match state.due.entry(key) {
            Entry::Occupied(due) if *due.get() <= at => false,
            entry => {
                entry.insert_entry(at);
                true
            }
        };
        drop(state);
        // In a rollout most changes are of a key that waits already: its workers know the earlier instant.
        if is_earlier {
            self.changed.notify_one();
        }
    }

    /// Adds a key that is due after a delay, and delays all its other due times until then.
    pub fn hold(&self, key: K, delay: Duration) {
        let now = Instant::now();
        let until = now.checked_add(delay).unwrap_or_else(|| now + LONGEST_BACK_OFF);
        let mut state = self.state();
        state.due.insert(key.clone(), until);
        state.resting_until.insert(key, until);
        drop(state);
        self.changed.notify_one();
    }

    /// Adds a key again after a failure, with a growing delay. Only a failure of a due attempt doubles the delay: events that
    /// lead to further failures in between do not postpone the next attempt.
    pub fn retry(&self, key: K) {
        self.retry_within(key, LONGEST_BACK_OFF);
    }

    /// The same with another limit of the delay.
    pub fn retry_within(&self, key: K, longest: Duration) {
        let mut state = self.state();
        let retry_at = state.failures.entry(key.clone()).or_default().failed(longest);
        drop(state);
        self.add_at(key, retry_at);
    }

    /// Adds a key again after a failure that does not count: the next one has the same delay as this one would have had.
    pub fn retry_after(&self, key: K, delay: Duration) {
        let mut state = self.state();
        if let Some(failures) = state.failures.get_mut(&key) {
            failures.retry_by(Instant::now() + delay);
        }
        drop(state);
        self.add_after(key, delay);
    }

    /// Waits until a key is due and takes it; `None` when the queue is closed. The worker that takes a key must call
    /// [`done`](Queue::done).
    pub async fn next(&self) -> Option<K> {
        loop {
            let changed = self.changed.notified();
            let next_due = match self.state().take() {
                TakenKey::Closed => return None,
                TakenKey::Key(key) => {
                    // Another key may be due for another worker.
                    self.changed.notify_one();
                    return Some(key);
                }
                TakenKey::Nothing { next_due } => next_due,
            };
            match next_due {
                Some(at) => tokio::select! { () = changed => {}, () = sleep_until(at) => {} },
                None => changed.await,
            }
        }
    }

    /// Records that the work on a key has ended; it may be taken again after its rest.
    pub fn done(&self, key: &K) {
        let mut state = self.state();
        if state.forgotten.remove(key) {
            state.running.remove(key);
            drop(state);
            return self.changed.notify_one();
        }
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

    /// Records a success: the next failure counts as the first.
    pub fn succeeded(&self, key: &K) {
        self.state().failures.remove(key);
    }

    /// Drops a key that is gone, with its failures and its rest.
    pub fn forget(&self, key: &K) {
        let mut state = self.state();
        state.due.remove(key);
        state.failures.remove(key);
        state.resting_until.remove(key);
        if state.running.contains(key) {
            state.forgotten.insert(key.clone());
        }
    }

    /// The number of keys that wait.
    pub fn len(&self) -> usize {
        self.state().due.len()
    }

    /// How long a key has waited since it was due: its rest and its back-off do not count.
    pub fn longest_wait(&self) -> Option<Duration> {
        let first = self.state().due.values().min().copied()?;
        Instant::now().checked_duration_since(first)
    }

    /// Whether no key waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lets [`next`](Queue::next) return `None` from now on.
    pub fn close(&self) {
        self.state().closed = true;
        self.changed.notify_waiters();
        self.changed.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, QueueState<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum TakenKey<K> {
    Key(K),
    /// No key is due yet.
    Nothing {
        next_due: Option<Instant>,
    },
    Closed,
}

impl<K: Clone + Eq + Hash> QueueState<K> {
    fn take(&mut self) -> TakenKey<K> {
        if self.closed {
            return TakenKey::Closed;
        }
        let idle = self.due.iter().filter(|(key, _)| !self.running.contains(*key));
        let Some((key, at)) = idle.min_by_key(|(_, at)| **at).map(|(key, at)| (key.clone(), *at)) else {
            return TakenKey::Nothing { next_due: None };
        };
        if at > Instant::now() {
            return TakenKey::Nothing { next_due: Some(at) };
        }
        self.due.remove(&key);
        self.running.insert(key.clone());
        TakenKey::Key(key)
    }
}

#[cfg(test)]
mod tests;
