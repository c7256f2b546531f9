//! The drain of one node in turn: it evicts pods until the node is empty, and then opens the gate `drained`.
//!
//! The pods of the node are watched for as long as the drain takes. Before the gate opens they are listed once more, after the node was
//! read with its turn, and the gate is written only if the node is still the same: so no pod that was bound before the cordon is missed.

use super::daemons::DaemonReader;
use super::drained_pod::{DrainedPod, WatchedPods, list, on_node};
use crate::caches::Caches;
use crate::clock::Clock;
use crate::executor::ActionExecutor;
use crate::executor::turns::{EvictionAnswer, GateAnswer};
use crate::other_controller::OtherController;
use crate::response::error_chain;
use crate::watches::{PAGE_SIZE, WATCH_SECONDS, WatchBackoff};
use daemonset::model::{DaemonSet, Node, NodeName, Uid};
use daemonset::policy::DrainPolicy;
use daemonset::{EventType, turns};
use daemonset_drain::{Drain, DrainState, EvictPod, EvictionOutcome, Pod, RETRY_AFTER, drain};
use futures::FutureExt;
use futures::stream::{self, StreamExt};
use jiff::Timestamp;
use kube::runtime::reflector::ObjectRef;
use kube::runtime::watcher;
use kube::runtime::watcher::{Config, Event};
use kube::{Api, Client};
use std::collections::{HashMap, HashSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// The gate that a drain opens.
pub(crate) const DRAINED: &str = "drained";

/// Evictions of one node that are under way at a time.
const MAX_CONCURRENT_EVICTIONS: usize = 8;

/// A drain looks again after this time at the latest: a DaemonSet may have been created for a pod that blocks.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// After a node has changed under the write of its gate, the cache needs a moment to show it.
const AFTER_CONFLICT: Duration = Duration::from_millis(250);

/// A pod that is not evicted after this time is told of: its budget may never allow it.
const LONG_WAIT: Duration = Duration::from_secs(60);

/// The objects that a drain reads, in the words of its events.
const ITS_PODS: &str = "its pods";
const DAEMON_SETS: &str = "the DaemonSets of the cluster";

/// Names that an event has at most.
const NAMES: usize = 5;

/// A node to drain, for one turn of a DaemonSet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DrainTarget {
    pub(crate) node: NodeName,
    pub(crate) uid: Uid,
    /// The turn's request, which is the answer of the gate.
    pub(crate) request: String,
    /// The turn's key.
    pub(crate) key: String,
    pub(crate) policy: DrainPolicy,
}

impl DrainTarget {
    /// The node in this turn of the DaemonSet with this key, if its gate is closed; `None` where nothing is to be drained.
    pub(crate) fn new(node: &Node, key: &str, policy: &DrainPolicy) -> Option<Self> {
        let request = turns::request(node, key)?.to_owned();
        let gate = turns::gate_annotation(DRAINED, key);
        let is_open = node.metadata.annotations.get(&gate) == Some(request.as_str());
        let (name, uid) = (node.metadata.name.clone(), node.metadata.uid.clone());
        (!is_open).then(|| DrainTarget {
            node: name,
            uid,
            request,
            key: key.to_owned(),
            policy: policy.clone(),
        })
    }
}

/// The parts of the process that each drain uses.
#[derive(Clone)]
pub(crate) struct Tools {
    pub(crate) caches: Caches,
    pub(crate) daemons: DaemonReader,
    pub(crate) reads: Client,
    pub(crate) executor: ActionExecutor,
    pub(crate) clock: Clock,
    pub(crate) other_controller: OtherController,
}

/// The drain of one node.
pub(crate) struct NodeDrain {
    target: DrainTarget,
    /// Events are about it.
    daemon_set: Arc<DaemonSet>,
    tools: Tools,
    /// The pods that were asked for.
    asked: HashMap<Uid, AskedEviction>,
    /// The messages of the events that were recorded.
    told: HashSet<String>,
    /// How often these objects could not be read, since they were read last.
    failures: HashMap<&'static str, u32>,
}

/// The eviction of a pod that was asked for.
struct AskedEviction {
    /// When it was asked for first.
    since: Instant,
    /// When it may be asked for again.
    again: Instant,
}

/// What follows a look at the node.
enum Next {
    /// Look again at this instant, or when a pod changes.
    Look(Instant),
    /// The drain is over.
    End,
}

impl NodeDrain {
    pub(crate) fn new(target: DrainTarget, daemon_set: Arc<DaemonSet>, tools: Tools) -> Self {
        let (asked, told, failures) = (HashMap::new(), HashSet::new(), HashMap::new());
        NodeDrain { target, daemon_set, tools, asked, told, failures }
    }

    /// Drains the node until its gate is open, or its turn is over.
    pub(crate) async fn run(mut self) {
        let pods: Api<DrainedPod> = Api::all(self.tools.reads.clone());
        let config = Config::default().timeout(WATCH_SECONDS).page_size(PAGE_SIZE);
        let mut events = pin!(watcher(pods, config.fields(&on_node(self.target.node.as_str()))));
        let (mut shown, mut backoff) = (WatchedPods::default(), WatchBackoff::default());
        let mut look_at = Instant::now() + LONGEST_WAIT;
        loop {
            let mut event = tokio::select! {
                event = events.next() => event,
                () = sleep_until(look_at) => None,
            };
            // One look at all changes that are there.
            while let Some(change) = event {
                match change {
                    Ok(change) => {
                        backoff.succeeded(&change);
                        // The begin of a list is no success yet.
                        if !matches!(change, Event::Init) {
                            self.failures.remove(ITS_PODS);
                        }
                        shown.take(change);
                    }
                    Err(error) => {
                        self.note_unread(ITS_PODS, &error_chain(&error));
                        sleep(backoff.next_delay()).await;
                    }
                }
                event = events.next().now_or_never().flatten();
            }
            look_at = match shown.all() {
                Some(pods) => match self.look(pods).await {
                    Next::Look(at) => at,
                    Next::End => return,
                },
                None => Instant::now() + LONGEST_WAIT,
            };
        }
    }

    /// Looks at the node and its pods, and does what is due.
    async fn look(&mut self, pods: Vec<Pod>) -> Next {
        // Beside another controller nothing is evicted, and no gate opened.
        if let Some(until) = self.tools.other_controller.stops_until() {
            return Next::Look(until);
        }
        let Some(node) = self.node() else { return Next::End };
        let decided = match self.decide(&node, &pods).await {
            Ok(decided) => decided,
            Err(next) => return next,
        };
        self.tell(&decided.state);
        match decided.state {
            DrainState::Drained => self.open_gate().await,
            _ => self.evict(&pods, decided).await,
        }
    }

    /// The node as the cache has it, while it is in this turn and the gate is closed.
    fn node(&self) -> Option<Arc<Node>> {
        let node = self.tools.caches.nodes.get(&ObjectRef::new(self.target.node.as_str()))?;
        let now = DrainTarget::new(&node, &self.target.key, &self.target.policy);
        (now.as_ref() == Some(&self.target)).then_some(node)
    }

    /// The list of all DaemonSets tells which pods are daemons: without it none is evicted.
    async fn decide(&mut self, node: &Node, pods: &[Pod]) -> Result<Drain, Next> {
        match self.tools.daemons.owners().await {
            Ok(owners) => {
                self.failures.remove(DAEMON_SETS);
                Ok(drain(node, pods, &owners, &self.target.policy, self.tools.clock.now()))
            }
            Err(error) => {
                self.note_unread(DAEMON_SETS, &error);
                Err(Next::Look(Instant::now() + retry_after()))
            }
        }
    }

    /// Opens the gate, if a list that is newer than the node's turn says the same as the watch.
    async fn open_gate(&mut self) -> Next {
        // In this order: the node, then its pods. A change of the node in between is refused.
        let Some(node) = self.node() else { return Next::End };
        let pods = match list(&self.tools.reads, self.target.node.as_str()).await {
            Ok(pods) => pods,
            Err(error) => {
                self.note_unread(ITS_PODS, &error_chain(&error));
                return Next::Look(Instant::now() + retry_after());
            }
        };
        match self.decide(&node, &pods).await {
            Ok(decided) if decided.state == DrainState::Drained => {}
            // The watch lags, and will show the pod.
            Ok(_) => return Next::Look(Instant::now() + AFTER_CONFLICT),
            Err(next) => return next,
        }
        let gate = turns::gate_annotation(DRAINED, &self.target.key);
        match self.tools.executor.open_gate(&node, &gate, &self.target.request).await {
            GateAnswer::Open => {
                self.event(EventType::Normal, "Drained", format!("Node {} is drained", self.target.node));
                Next::End
            }
            GateAnswer::Outdated => Next::Look(Instant::now() + AFTER_CONFLICT),
            GateAnswer::Failed(error) => {
                let message =
                    format!("Node {} is drained, and its gate can't be opened: {error}", self.target.node);
                self.event(EventType::Warning, "GateNotOpened", message);
                Next::Look(Instant::now() + retry_after())
            }
            GateAnswer::MayNotAct => Next::End,
        }
    }

    /// Sends the evictions that are due, several at a time.
    async fn evict(&mut self, pods: &[Pod], decided: Drain) -> Next {
        let here: HashSet<&Uid> = pods.iter().map(|pod| &pod.metadata.uid).collect();
        self.asked.retain(|uid, _| here.contains(uid));
        let now = Instant::now();
        let is_due = |evict: &EvictPod| self.asked.get(&evict.pod.uid).is_none_or(|asked| asked.again <= now);
        let due: Vec<EvictPod> = decided.evict.into_iter().filter(is_due).collect();
        let executor = &self.tools.executor;
        let asked = stream::iter(due).map(|evict| async move {
            let answer = executor.evict(&evict).await;
            (evict, answer)
        });
        let answers: Vec<_> = asked.buffer_unordered(MAX_CONCURRENT_EVICTIONS).collect().await;
        for (evict, answer) in answers {
            let EvictionAnswer::Known(outcome, message) = answer else { return Next::End };
            // Also where it was accepted: a pod that does not go is asked for again.
            let again = Instant::now() + retry_after();
            let asked =
                self.asked.entry(evict.pod.uid.clone()).or_insert(AskedEviction { since: now, again });
            asked.again = again;
            let is_long = outcome == EvictionOutcome::Rejected && asked.since.elapsed() > LONG_WAIT;
            let pod = format!("{}/{}", evict.pod.namespace, evict.pod.name);
            tracing::debug!(node = %self.target.node, pod, ?outcome, message, "an eviction was asked for");
            if outcome.is_reported() {
                let message = format!("Pod {pod} on node {} can't be evicted: {message}", self.target.node);
                self.event(EventType::Warning, "EvictionRefused", message);
            } else if is_long {
                let message = format!("Pod {pod} on node {} is not evicted yet: {message}", self.target.node);
                self.event(EventType::Warning, "DrainWaits", message);
            }
        }
        Next::Look(self.next_look(decided.look_again))
    }

    fn next_look(&self, look_again: Option<Timestamp>) -> Instant {
        let now = Instant::now();
        let wait = look_again.map(|at| at.duration_since(self.tools.clock.now()));
        let wait = wait.map(|wait| Duration::try_from(wait).unwrap_or_default());
        let next_eviction = self.asked.values().map(|asked| asked.again).filter(|at| *at > now).min();
        let look_again = wait.map(|wait| now + wait.max(Duration::from_millis(50)));
        look_again
            .into_iter()
            .chain(next_eviction)
            .min()
            .unwrap_or(now + LONGEST_WAIT)
            .min(now + LONGEST_WAIT)
    }

    /// A person has to do something about pods that block.
    fn tell(&mut self, state: &DrainState) {
        let blocked = state.blocked_by();
        if blocked.is_empty() {
            return;
        }
        let shown: Vec<String> = blocked.iter().take(NAMES).map(ToString::to_string).collect();
        let more = match blocked.len().saturating_sub(NAMES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message =
            format!("The drain of node {} is blocked by {}{more}", self.target.node, shown.join(", "));
        self.event(EventType::Warning, "DrainBlocked", message);
    }

    /// One failure is a matter of a moment; a person has to know of those that follow.
    fn note_unread(&mut self, objects: &'static str, error: &str) {
        tracing::debug!(node = %self.target.node, error, "{objects} can't be read");
        let failures = self.failures.entry(objects).or_default();
        *failures += 1;
        if *failures > 1 {
            let message = format!(
                "The drain of node {} waits, since {objects} can't be read: {error}",
                self.target.node
            );
            self.event(EventType::Warning, "DrainWaits", message);
        }
    }

    /// Records an event, each message once.
    fn event(&mut self, event_type: EventType, reason: &str, message: String) {
        if !self.told.contains(&message) {
            self.tools.executor.report(&self.daemon_set, event_type, reason, &message);
            self.told.insert(message);
        }
    }
}

fn retry_after() -> Duration {
    Duration::try_from(RETRY_AFTER).unwrap_or(LONGEST_WAIT)
}
