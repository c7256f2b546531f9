//! The ends of turns that nobody plans for any more: of DaemonSets that are gone, and of those that a driver no longer drives.

use super::anothers::AnothersTurns;
use super::daemons::DaemonReader;
use crate::caches::Caches;
use crate::executor::ActionExecutor;
use crate::other_controller::OtherController;
use crate::rollout::policy::Policies;
use daemonset::kubernetes::well_known::TURN_PREFIX;
use daemonset::model::{DaemonSet, Node, Uid};
use daemonset::{Action, turns};
use kube::runtime::reflector::ObjectRef;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{sleep, sleep_until, timeout};

/// How often they are looked for.
const INTERVAL: Duration = Duration::from_secs(600);
/// After a DaemonSet has gone, the watches have a moment to show all that goes with it.
const AFTER_CHANGE: Duration = Duration::from_secs(2);

/// Looks for them at the start, every ten minutes, and a moment after `changed`.
pub(crate) struct Leftovers {
    pub(crate) caches: Caches,
    pub(crate) daemons: DaemonReader,
    pub(crate) executor: ActionExecutor,
    pub(crate) policies: Policies,
    pub(crate) anothers: AnothersTurns,
    pub(crate) other_controller: OtherController,
    pub(crate) changed: Arc<Notify>,
}

impl Leftovers {
    pub(crate) async fn run(self) {
        loop {
            // Beside another controller nothing is written.
            while let Some(until) = self.other_controller.stops_until() {
                sleep_until(until).await;
            }
            self.look().await;
            // An error: nothing has changed for that long.
            if timeout(INTERVAL, self.changed.notified()).await.is_ok() {
                sleep(AFTER_CHANGE).await;
            }
        }
    }

    async fn look(&self) {
        let nodes = self.caches.nodes.state();
        let no_longer_driven = self.no_longer_driven();
        if !self.has_some(&nodes, &no_longer_driven) {
            return;
        }
        // Only a list that is newer than the nodes tells that a DaemonSet is gone: the cache may lack one that is new, and a process that
        // works on one namespace lacks all others.
        let mut daemon_sets = match self.daemons.list().await {
            Ok(daemon_sets) => daemon_sets,
            Err(error) => {
                return tracing::warn!(error, "turns of DaemonSets that are gone can't be told from others");
            }
        };
        daemon_sets.retain(|ds| !no_longer_driven.contains(&ds.metadata.uid));
        let actions = turns::abandoned_turns(nodes.iter().map(|node| &**node), &daemon_sets);
        let keys: HashSet<&str> = actions.iter().flat_map(turn_keys).collect();
        let has = |key: &&str| self.anothers.has(key, || nodes.clone());
        let anothers: HashSet<&str> = keys.into_iter().filter(has).collect();
        for action in &actions {
            let node = action.subject_name().unwrap_or_default();
            if turn_keys(action).any(|key| anothers.contains(key)) {
                tracing::debug!(node, "another process carries out the turn that seemed to be nobody's");
                continue;
            }
            if let Some(node) = self.caches.nodes.get(&ObjectRef::new(node)) {
                turn_keys(action).for_each(|key| self.anothers.ends(&node, key));
            }
            match self.executor.end_turns(action).await {
                Ok(()) => tracing::info!(node, "a turn has ended that was nobody's any more"),
                Err(error) => {
                    tracing::warn!(node, error, "a turn that is nobody's any more can't be ended yet")
                }
            }
        }
    }

    /// Most of the time no node has a turn that the cache does not explain, and nothing is listed.
    fn has_some(&self, nodes: &[Arc<Node>], no_longer_driven: &HashSet<Uid>) -> bool {
        let known = self.caches.daemon_sets.state();
        let known = known.iter().filter(|ds| !no_longer_driven.contains(&ds.metadata.uid));
        let known: HashSet<String> = known.map(|ds| turns::key(ds)).collect();
        let annotations = nodes.iter().flat_map(|node| node.metadata.annotations.iter());
        let mut keys = annotations.filter_map(|(annotation, _)| annotation.strip_prefix(TURN_PREFIX));
        keys.any(|key| !known.contains(key))
    }

    /// The DaemonSets whose turns this process has begun at a time when it drove them, and which ask for none any more.
    fn no_longer_driven(&self) -> HashSet<Uid> {
        let all = self.caches.daemon_sets.state();
        let gone = all.iter().filter(|ds: &&Arc<DaemonSet>| self.policies.has_stopped_driving(ds));
        gone.map(|ds| ds.metadata.uid.clone()).collect()
    }
}

/// The keys of the turns that a patch ends.
fn turn_keys(action: &Action) -> impl Iterator<Item = &str> {
    let annotations = match action {
        Action::PatchNode { annotations, .. } => Some(annotations),
        _ => None,
    };
    annotations.into_iter().flat_map(BTreeMap::keys).filter_map(|key| key.strip_prefix(TURN_PREFIX))
}
