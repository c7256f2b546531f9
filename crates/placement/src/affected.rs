//! The DaemonSets that a changed node concerns.
//!
//! v1.36 `daemon_controller.go updateNode, addNode` compares the placement before and after for each DaemonSet. Its plans
//! read more of a node than its placement, and so do these.

use crate::daemon::Daemon;
use daemonset::internal::{Mismatch, Placement};
use daemonset::model::{DaemonSet, Node, NodeCondition, OwnerReference, Pod, TemplateFidelity, Uid};
use daemonset::{NodeView, turns};

/// The DaemonSets whose plan may change because a node joined (no `before`), left (no `after`), or changed.
///
/// A DaemonSet that is not in the answer has the same actions before and after. The answer may name more: it holds every
/// DaemonSet that the node's labels and name do not exclude, whenever anything changes that a plan reads (labels, taints,
/// cordon, condition Ready, conditions of the node's lifecycle, and annotations of turns, but not the kubelet's pressure conditions). A
/// DaemonSet that they exclude before and after is concerned only if the node is in its turn, or joins or leaves while a pod is on it that
/// is the DaemonSet's, or that it may adopt. Images on the node are left out: with [`Policy::pull`](field@daemonset::Policy::pull), plan anew
/// when those change, too.
///
/// `pods` are all pods that the plans read, such as those of the caller's cache; they are read only when a node joins or
/// leaves. A create that the API server has accepted and no list shows yet is in no such list: the plan that follows
/// its pod's first event counts it. A [`Memory`](daemonset::Memory) may wait for any node: plan all DaemonSets anew when a node
/// leaves. The template of a rollout's stable revision may select other nodes than the current one, and no revision is read here: while
/// [`Policy::rollout`](field@daemonset::Policy::rollout) steers one whose placement has changed, plan its DaemonSet anew when any node changes.
///
/// ```
/// use daemonset::model::{DaemonSet, Node};
/// use daemonset_placement::affected;
/// use serde_json::{from_value, json};
///
/// let daemon_set = |pool: &str| -> Result<DaemonSet, serde_json::Error> {
///     from_value(json!({
///         "metadata": {"name": pool, "namespace": "ns", "uid": pool},
///         "spec": {
///             "selector": {"matchLabels": {"app": pool}},
///             "template": {"metadata": {"labels": {"app": pool}}, "spec": {"nodeSelector": {"pool": pool}}},
///         },
///     }))
/// };
/// let daemon_sets = [daemon_set("gpu")?, daemon_set("batch")?];
/// let before: Node = from_value(json!({"metadata": {"name": "a", "labels": {"pool": "gpu"}}}))?;
/// let mut after = before.clone();
/// after.metadata.resource_version = "2".to_owned();
/// assert!(affected(&daemon_sets, [], Some(&before), Some(&after)).is_empty());
///
/// after.spec.unschedulable = true;
/// let names: Vec<&str> = affected(&daemon_sets, [], Some(&before), Some(&after))
///     .iter()
///     .map(|daemon_set| daemon_set.metadata.name.as_str())
///     .collect();
/// assert_eq!(names, ["gpu"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[doc(alias = "shouldIgnoreNodeUpdate")]
#[must_use]
pub fn affected<'d, 'p>(
    daemon_sets: impl IntoIterator<Item = &'d DaemonSet>,
    pods: impl IntoIterator<Item = &'p Pod>,
    before: Option<&Node>,
    after: Option<&Node>,
) -> Vec<&'d DaemonSet> {
    let Some(change) = NodeChange::new(pods, before, after) else { return Vec::new() };
    daemon_sets.into_iter().filter(|ds| change.affects(&CompiledPlacement::new(ds))).collect()
}

/// A change of a node that a plan may read, for who keeps [`CompiledPlacement`]s: [`affected`] compiles each anew.
///
/// ```
/// use daemonset::model::{DaemonSet, Node};
/// use daemonset_placement::{CompiledPlacement, NodeChange};
/// use serde_json::{from_value, json};
///
/// let agent: DaemonSet = from_value(json!({
///     "metadata": {"name": "agent", "namespace": "ns", "uid": "u", "generation": 1},
///     "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": {"metadata": {"labels": {"app": "a"}}}},
/// }))?;
/// let placement = CompiledPlacement::new(&agent);
/// let node: Node = from_value(json!({"metadata": {"name": "a"}}))?;
/// let joins = NodeChange::new([], None, Some(&node));
/// assert!(joins.is_some_and(|change| change.affects(&placement)));
/// assert!(NodeChange::new([], Some(&node), Some(&node)).is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct NodeChange<'a>(Kind<'a>);

#[derive(Debug, Clone)]
enum Kind<'a> {
    Update(&'a Node, &'a Node),
    /// Nodes that join or leave, and the pods that have one of them as their target.
    JoinOrLeave([Option<&'a Node>; 2], Vec<&'a Pod>),
}

impl<'a> NodeChange<'a> {
    /// The change from `before` to `after`, with `pods` as in [`affected`]; `None` where no plan reads the difference.
    pub fn new<'p: 'a>(
        pods: impl IntoIterator<Item = &'p Pod>,
        before: Option<&'a Node>,
        after: Option<&'a Node>,
    ) -> Option<Self> {
        match (before, after) {
            (None, None) => None,
            (Some(before), Some(after)) if before.metadata.name == after.metadata.name => {
                inputs_differ(before, after).then_some(NodeChange(Kind::Update(before, after)))
            }
            (before, after) => {
                let nodes = [before, after];
                Some(NodeChange(Kind::JoinOrLeave(nodes, pods_on(pods, nodes))))
            }
        }
    }

    /// Whether the DaemonSet's plan may change: [`affected`] names it.
    #[must_use]
    pub fn affects(&self, placement: &CompiledPlacement) -> bool {
        // A DaemonSet that can't be planned has no actions before and after.
        let Some(daemon) = &placement.daemon else { return false };
        let excluded = |node: &Node| placement.is_exact && excludes(daemon, node);
        match &self.0 {
            Kind::Update(before, after) => {
                [before, after].into_iter().any(|node| !excluded(node) || placement.has_turn(node))
            }
            Kind::JoinOrLeave(nodes, pods) => {
                nodes.iter().flatten().any(|node| !excluded(node) || placement.has_turn(node))
                    || pods.iter().any(|pod| placement.may_own(pod))
            }
        }
    }
}

/// The parts of a DaemonSet that say which changes of nodes concern it, compiled once. They are the same for each
/// `metadata.generation` of a `metadata.uid`.
#[derive(Debug, Clone)]
pub struct CompiledPlacement {
    /// `None` for a DaemonSet that can't be planned.
    daemon: Option<Daemon>,
    is_exact: bool,
    namespace: String,
    uid: Uid,
    turn_key: String,
}

impl CompiledPlacement {
    /// Compiles the template.
    #[must_use]
    pub fn new(ds: &DaemonSet) -> Self {
        CompiledPlacement {
            daemon: Daemon::new(ds).ok(),
            is_exact: is_exact(ds),
            namespace: ds.metadata.namespace.clone(),
            uid: ds.metadata.uid.clone(),
            turn_key: turns::key(ds),
        }
    }

    /// Whether the node is in a turn of the DaemonSet, which ends where no pod belongs.
    fn has_turn(&self, node: &Node) -> bool {
        !node.metadata.annotations.is_empty() && turns::request(node, &self.turn_key).is_some()
    }

    /// Whether the pod is the DaemonSet's, or an orphan that it may adopt.
    fn may_own(&self, pod: &Pod) -> bool {
        let controller = OwnerReference::controller_of(&pod.metadata.owner_references);
        pod.metadata.namespace == self.namespace
            && controller.is_none_or(|controller| controller == self.uid.as_str())
    }
}

/// A template that lost fields says too little of its placement: a plan recovers it from the revisions.
fn is_exact(ds: &DaemonSet) -> bool {
    ds.template_fidelity == TemplateFidelity::Exact
}

/// Whether name and labels exclude the node: then a plan reads nothing more of it.
fn excludes(daemon: &Daemon, node: &Node) -> bool {
    match daemon.decide(&NodeView::from(node)).placement {
        Placement::Exclude(Mismatch::NodeName | Mismatch::NodeSelector | Mismatch::NodeAffinity) => true,
        Placement::Exclude(Mismatch::NoExecuteTaint(_)) | Placement::ContinueOnly(_) | Placement::Run => {
            false
        }
    }
}

/// Conditions that no plan reads: a pressure reaches the pods as a taint (v1.36 `core/v1 NodeConditionType`).
const NOT_READ: [&str; 4] = ["MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"];

/// Labels count even where they change no placement: a policy may group nodes by them.
fn inputs_differ(before: &Node, after: &Node) -> bool {
    let is_read = |condition: &NodeCondition| !NOT_READ.contains(&condition.kind.as_ref());
    before.inputs(is_read) != after.inputs(is_read)
}

fn pods_on<'p>(pods: impl IntoIterator<Item = &'p Pod>, nodes: [Option<&Node>; 2]) -> Vec<&'p Pod> {
    let names = nodes.map(|node| node.map(|node| &node.metadata.name));
    let targets = |pod: &Pod| pod.target().is_some_and(|target| names.contains(&Some(target)));
    pods.into_iter().filter(|pod| targets(pod)).collect()
}
