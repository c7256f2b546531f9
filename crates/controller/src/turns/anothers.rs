//! Turns that another process begins, so that no two processes end and begin the same turn without end.
//!
//! Some turns look like nobody's and belong to another process: those of a custom kind, and those of a driver whose `--policy` this process
//! does not have. No annotation tells. But the turn of a key that has just ended here, and is there again, has an owner.

use daemonset::model::{Node, NodeName};
use daemonset::turns;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long the turns of a key are left alone after the last one has begun. A process that has gone meanwhile leaves a node cordoned for no
/// longer.
const MEMORY: Duration = Duration::from_secs(3600);

/// The keys of turns that this process has ended; clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnothersTurns(Arc<Mutex<HashMap<String, SeenPod>>>);

/// The turns of one key.
#[derive(Debug)]
struct SeenPod {
    /// The last request of each node.
    requests: HashMap<NodeName, String>,
    /// Whether one has begun after its end.
    has_begun_again: bool,
    /// The last end or begin.
    at: Instant,
}

impl AnothersTurns {
    /// Notes that this process ends the turn of this key on a node, for which nobody seems to plan.
    pub(crate) fn ends(&self, node: &Node, key: &str) {
        let Some(request) = turns::request(node, key) else { return };
        self.with(|by_key| {
            by_key.retain(|_, seen| seen.at.elapsed() < MEMORY);
            let new = || SeenPod { requests: HashMap::new(), has_begun_again: false, at: Instant::now() };
            let seen = by_key.entry(key.to_owned()).or_insert_with(new);
            seen.requests.insert(node.metadata.name.clone(), request.to_owned());
            seen.at = Instant::now();
        });
    }

    /// Whether turns of this key begin on these nodes after this process has ended them. Of most keys it has ended none, and no node is
    /// looked at.
    pub(crate) fn has(&self, key: &str, nodes: impl FnOnce() -> Vec<Arc<Node>>) -> bool {
        self.with(|by_key| {
            let Some(seen) = by_key.get_mut(key) else { return false };
            for node in nodes() {
                let Some(request) = turns::request(&node, key) else { continue };
                let before = seen.requests.get(&node.metadata.name);
                // On another node it may be one that waits for its end.
                let is_new = before.map_or(seen.has_begun_again, |before| before != request);
                if is_new {
                    seen.requests.insert(node.metadata.name.clone(), request.to_owned());
                    (seen.has_begun_again, seen.at) = (true, Instant::now());
                }
            }
            seen.has_begun_again && seen.at.elapsed() < MEMORY
        })
    }

    /// Turns of this key are this process's own.
    pub(crate) fn forget(&self, key: &str) {
        self.with(|by_key| by_key.remove(key));
    }

    fn with<T>(&self, look: impl FnOnce(&mut HashMap<String, SeenPod>) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    const KEY: &str = "agent.01234567";

    fn node(name: &str, turn: Option<&str>) -> Node {
        let mut node = Node::default();
        node.metadata.name = name.into();
        let annotations = turn.map(|turn| (format!("turn.daemonset/{KEY}"), turn.to_owned()));
        node.metadata.annotations = annotations.into_iter().collect();
        node
    }

    fn stored<const N: usize>(nodes: [&Node; N]) -> Vec<Arc<Node>> {
        nodes.map(|node| Arc::new(node.clone())).into()
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_comes_back_is_anothers_for_an_hour() {
        let anothers = AnothersTurns::default();
        let first = node("a", Some("1 2026-01-01T00:00:00Z"));
        let waits = node("b", Some("1 2026-01-01T00:00:01Z"));
        assert!(!anothers.has(KEY, || stored([&first])), "nothing has ended");
        anothers.ends(&first, KEY);
        assert!(!anothers.has(KEY, || stored([&first, &waits])), "the cache lags, and one has not ended yet");
        assert!(!anothers.has(KEY, || stored([&node("a", None)])));
        let again = node("a", Some("1 2026-01-01T00:00:09Z"));
        assert!(anothers.has(KEY, || stored([&again])));
        assert!(!anothers.has("other.01234567", || stored([&again])));
        advance(MEMORY - Duration::from_secs(1)).await;
        assert!(anothers.has(KEY, || stored([&again])), "a long gate");
        advance(Duration::from_secs(1)).await;
        assert!(!anothers.has(KEY, || stored([&again])), "the other process may have gone");
    }

    #[tokio::test(start_paused = true)]
    async fn the_memory_is_bounded() {
        let anothers = AnothersTurns::default();
        anothers.ends(&node("a", Some("1 2026-01-01T00:00:00Z")), KEY);
        advance(MEMORY).await;
        let other = Node { metadata: node("b", None).metadata, ..Node::default() };
        anothers.ends(&other, KEY);
        let mut other = other;
        other.metadata.annotations =
            [("turn.daemonset/other.01234567".to_owned(), "1 2026-01-01T00:00:00Z".to_owned())]
                .into_iter()
                .collect();
        anothers.ends(&other, "other.01234567");
        anothers.with(|by_key| assert_eq!(by_key.keys().collect::<Vec<_>>(), ["other.01234567"]));
        anothers.forget("other.01234567");
        anothers.with(|by_key| assert!(by_key.is_empty()));
    }
}
