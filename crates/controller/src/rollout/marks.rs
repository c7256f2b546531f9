//! Revisions whose marks this process has written, until the watch shows them.
//!
//! A plan that does not see a mark sets it again, with a later instant: a wave would seem to open twice.

use daemonset::model::{ControllerRevision, Uid};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long a written revision may be newer than the cached one. After a restore of storage, versions begin in the past, and the
/// cache never reaches the written one.
const LONGEST_LAG: Duration = Duration::from_secs(60);

/// The revisions that were written, as the API server has returned them.
#[derive(Debug, Clone, Default)]
pub struct WrittenRevisions(HashMap<Uid, MarksWritten>);

#[derive(Debug, Clone)]
struct MarksWritten {
    revision: Arc<ControllerRevision>,
    at: Instant,
}

impl WrittenRevisions {
    /// Keeps the revisions that the API server has returned for writes.
    pub fn extend(&mut self, revisions: impl IntoIterator<Item = ControllerRevision>) {
        for revision in revisions {
            let written = MarksWritten { revision: Arc::new(revision), at: Instant::now() };
            self.0.insert(written.revision.metadata.uid.clone(), written);
        }
    }

    /// These revisions, each as it was written where the cache lags behind.
    pub fn newest(&mut self, mut cached: Vec<Arc<ControllerRevision>>) -> Vec<Arc<ControllerRevision>> {
        // Not once a list shows it: the next one may come from a cache that lags, after one from storage.
        self.0.retain(|_, written| written.at.elapsed() < LONGEST_LAG);
        for revision in &mut cached {
            if let Some(written) = self.0.get(&revision.metadata.uid)
                && version(revision) < version(&written.revision)
            {
                *revision = written.revision.clone();
            }
        }
        cached
    }

    /// The written revisions that the cache has, as [`newest`](Self::newest) gives them, and those that it gives as cached since
    /// this call.
    pub fn refresh(
        &mut self,
        cached: impl Fn(&ControllerRevision) -> Option<Arc<ControllerRevision>>,
    ) -> Vec<Arc<ControllerRevision>> {
        let is_same =
            |one: &ControllerRevision, other: &ControllerRevision| one.metadata.uid == other.metadata.uid;
        let revisions = self.0.values().filter_map(|written| {
            cached(&written.revision).filter(|cached| is_same(cached, &written.revision))
        });
        let revisions = revisions.collect();
        self.newest(revisions)
    }
}

/// A number that grows with each write (KEP-5504); `None` compares as the oldest one.
fn version(revision: &ControllerRevision) -> Option<u64> {
    revision.metadata.resource_version.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};
    use tokio::time::advance;

    fn revision(uid: &str, version: &str) -> ControllerRevision {
        from_value(json!({"metadata": {"name": uid, "uid": uid, "resourceVersion": version}})).unwrap()
    }

    fn newest(written: &mut WrittenRevisions, cached: &[(&str, &str)]) -> Vec<String> {
        let cached = cached.iter().map(|(uid, version)| Arc::new(revision(uid, version))).collect();
        written.newest(cached).iter().map(|revision| revision.metadata.resource_version.clone()).collect()
    }

    #[test]
    fn a_written_revision_replaces_an_older_cached_one() {
        let mut written = WrittenRevisions::default();
        written.extend([revision("a", "9")]);
        written.extend([revision("a", "10")]);
        assert_eq!(newest(&mut written, &[("a", "8"), ("b", "7")]), ["10", "7"]);
        assert_eq!(newest(&mut written, &[("a", "9"), ("b", "7")]), ["10", "7"], "numbers, not texts");
        assert_eq!(newest(&mut written, &[("a", "11")]), ["11"]);
        assert_eq!(newest(&mut written, &[("a", "8")]), ["10"], "the newer one was read from storage");
    }

    #[test]
    fn a_revision_that_the_cache_does_not_show_is_not_added() {
        let mut written = WrittenRevisions::default();
        written.extend([revision("a", "9")]);
        assert!(newest(&mut written, &[]).is_empty());
        assert_eq!(newest(&mut written, &[("a", "3")]), ["9"], "the cache shows its creation at last");
    }

    #[tokio::test(start_paused = true)]
    async fn a_written_revision_is_refreshed_until_it_counts_no_more() {
        let mut written = WrittenRevisions::default();
        written.extend([revision("a", "9"), revision("gone", "5")]);
        let mut refreshed = |version: &str| {
            let cached =
                |of: &ControllerRevision| (of.metadata.name == "a").then(|| Arc::new(revision("a", version)));
            let revisions = written.refresh(cached);
            revisions.iter().map(|revision| revision.metadata.resource_version.clone()).collect::<Vec<_>>()
        };
        assert_eq!(refreshed("3"), ["9"]);
        assert_eq!(refreshed("11"), ["11"]);
        advance(Duration::from_secs(60)).await;
        assert_eq!(refreshed("3"), ["3"], "the last refresh gave the written one");
        assert!(refreshed("3").is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_cache_that_never_reaches_the_version_counts_after_a_minute() {
        let mut written = WrittenRevisions::default();
        written.extend([revision("a", "9")]);
        advance(Duration::from_secs(59)).await;
        assert_eq!(newest(&mut written, &[("a", "3")]), ["9"]);
        advance(Duration::from_secs(1)).await;
        assert_eq!(newest(&mut written, &[("a", "3")]), ["3"]);
    }
}
