//! Pull pods: those that a plan creates on the nodes of candidates, and those that nobody waits for any more.

use crate::input::Snapshot;
use crate::input::placement::Placement;
use crate::input::pod_wants::images;
use crate::input::policy::PullPolicy;
use crate::node::candidate::{Urgency, urgency};
use crate::node::evaluation::NodeEvaluation;
use crate::node::figures::{Figure, Sums};
use crate::node::fleet::{Fleet, Readiness};
use crate::plan::parts::Parts;
use crate::plan::pod_template::PodTemplate;
use crate::pod_manifest::{PodManifest, Shared};
use crate::pods::history::History;
use crate::position::NodeIx;
use crate::rules::goal_hash;
use crate::rules::pull;
use crate::rules::pull::{PullPod, container_name, pod_name};
use daemonset_objects::kubernetes::well_known::{PULL_OWNER_LABEL, PULL_REVISION_LABEL};
use daemonset_objects::model::NodeName;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The pull pods that a plan creates and deletes.
#[derive(Debug)]
pub struct Pulls<'s> {
    pub creates: Vec<NodeIx>,
    pub deletes: Vec<PullPod<'s>>,
    /// More are due than the caps leave room for.
    pub is_capped: bool,
    /// When the time of the next pull pod is over whose place another node waits for.
    pub place_free_at: Option<Timestamp>,
}

impl<'s> Pulls<'s> {
    /// `taken` are the nodes whose pods this plan takes; `room` is that of the caps, behind all other creates and deletes.
    pub(crate) fn new(
        parts: &Parts<'_, 's>,
        taken: impl Iterator<Item = NodeIx>,
        room: (usize, usize),
    ) -> Option<Box<Self>> {
        let (creates_room, deletes_room) = room;
        let (fleet, rest) = (parts.fleet, parts.rest.pulls);
        let snapshot = fleet.snapshot;
        let pods = fleet.pull_pods();
        // The names of pull pods are hashes: they are made where nothing cheaper decides.
        if (rest.pulling, rest.lacking) == (0, 0) && pods.is_empty() && lacking(parts).next().is_none() {
            return None;
        }
        let is_over = |pod: &&PullPod<'s>| is_over(fleet, parts.history, pod);
        let mut deletes: Vec<PullPod<'s>> = pods.iter().filter(is_over).copied().collect();
        deletes.sort_unstable_by_key(|pod| (pod.view.target, pod.view.name));
        let (mut parallel, mut place_free_at) = (0, None);
        if let Some(rules) = pull::rules(snapshot) {
            let limit = limit(rules, &parts.evaluations.sums);
            let pulling = || pods.iter().filter(|pod| is_pulling(snapshot, rules, pod));
            let all = pulling().count() + rest.pulling as usize + unseen_pulls(fleet).len();
            parallel = limit.saturating_sub(all);
            place_free_at = pulling().filter_map(|pod| pod.ends_at(rules)).chain(rest.ends_at).min();
        }
        let (mut creates, lacks_places) = wanted(parts, &taken.collect(), parallel);
        place_free_at = place_free_at.filter(|_| lacks_places);
        let is_capped = creates.len() > creates_room || deletes.len() > deletes_room;
        creates.truncate(creates_room);
        // The most urgent ones are chosen; all of them are created by name, as other pods are.
        creates.sort_unstable_by(|a, b| snapshot.index.by_name(*a, *b));
        deletes.truncate(deletes_room);
        Some(Box::new(Pulls { creates, deletes, is_capped, place_free_at }))
    }
}

/// How many nodes may pull at a time.
pub fn limit(rules: &PullPolicy, sums: &Sums) -> usize {
    planted::limit(rules.parallel.scaled(sums.get(Figure::Desired)) as usize)
}

/// Whether nobody waits for the images of a pull pod any more.
fn is_over(fleet: &Fleet<'_>, history: &History<'_>, pod: &PullPod<'_>) -> bool {
    let snapshot = fleet.snapshot;
    let deleted =
        snapshot.memory.as_ref().and_then(|memory| memory.pull_deleted_until(pod.view.uid, snapshot));
    if pod.is_terminating || deleted.is_some() {
        return false;
    }
    let Some(node) = pod.node.filter(|_| pull::rules(snapshot).is_some()) else { return true };
    let has_outdated = fleet.pods_of(node).any(|(_, pod)| pod.is_live() && !pod.of_goal);
    let is_of_goal = pod.hash == goal_hash(fleet, history, node);
    planted::is_over(fleet.placement(node) != Placement::Run || !has_outdated || !is_of_goal)
}

fn is_pulling(snapshot: &Snapshot<'_>, rules: &PullPolicy, pod: &PullPod<'_>) -> bool {
    !pod.is_terminating && !pod.is_done() && !pod.is_late(rules, snapshot.now)
}

/// The pull pods of one node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NodePulls {
    /// One of them is to be deleted.
    pub are_over: bool,
    /// How many pull.
    pub pulling: u32,
    /// When the time of the first of these is over.
    pub ends_at: Option<Timestamp>,
    /// When time alone changes any of these.
    pub changes_at: Option<Timestamp>,
}

impl NodePulls {
    pub fn new(fleet: &Fleet<'_>, history: &History<'_>, node: NodeIx) -> Self {
        let (pods, snapshot) = (fleet.pull_pods_of(node), fleet.snapshot);
        let mut pulls = NodePulls::default();
        if pods.is_empty() {
            return pulls;
        }
        pulls.are_over = pods.iter().any(|pod| is_over(fleet, history, pod));
        let Some(rules) = pull::rules(snapshot) else { return pulls };
        for pod in pods {
            let ends_at = pod.ends_at(rules);
            if is_pulling(snapshot, rules, pod) {
                pulls.pulling += 1;
                pulls.ends_at = pulls.ends_at.into_iter().chain(ends_at).min();
            }
            let ends_at = ends_at.filter(|at| snapshot.now < *at);
            pulls.changes_at = pulls.changes_at.into_iter().chain(ends_at).min();
        }
        pulls
    }
}

/// The pull pods that were created and that the snapshot does not show.
fn unseen_pulls<'f>(fleet: &'f Fleet<'_>) -> &'f BTreeSet<&'f str> {
    static NONE: BTreeSet<&str> = BTreeSet::new();
    fleet.rare.as_ref().map_or(&NONE, |rare| &rare.unseen_pulls)
}

/// The place of a node among those that need a pull pod, before its name. Nodes in turn go first: their place in the budget is taken
/// already. Then it is the order of the update, in which pods that are not Ready go first.
pub type PullRank = (bool, Reverse<Readiness>, Urgency);

/// The place of a candidate that needs a pull pod, and for which none is there yet.
pub fn pull_rank(
    fleet: &Fleet<'_>,
    history: &History<'_>,
    node: NodeIx,
    evaluation: &NodeEvaluation,
) -> Option<PullRank> {
    let pod = fleet.pod(evaluation.candidate.filter(|_| needs_pull_pod(fleet, history, node, evaluation))?);
    Some((fleet.turn(node).is_none(), Reverse(pod.readiness), urgency(fleet, history, node, pod)))
}

fn needs_pull_pod(
    fleet: &Fleet<'_>,
    history: &History<'_>,
    node: NodeIx,
    evaluation: &NodeEvaluation,
) -> bool {
    if !evaluation.hold.as_ref().is_some_and(|hold| hold.lacks_images) {
        return false;
    }
    let (hash, unseen) = (goal_hash(fleet, history, node), unseen_pulls(fleet));
    let spec = &fleet.snapshot.spec;
    // Most often nothing is unseen, and no name is made.
    let is_unseen = || unseen.contains(pod_name(spec, fleet.node_view(node).name, hash).as_str());
    let is_there = fleet.pull_pods_of(node).iter().any(|pod| pod.hash == hash);
    !is_there && (unseen.is_empty() || !is_unseen())
}

/// The candidates that need a pull pod.
fn lacking<'p>(parts: &'p Parts<'_, '_>) -> impl Iterator<Item = (NodeIx, &'p NodeEvaluation)> {
    let Parts { fleet, history, evaluations, .. } = parts;
    let nodes = evaluations.nodes.enumerated();
    nodes.filter(|(node, evaluation)| needs_pull_pod(fleet, history, *node, evaluation))
}

/// Of the candidates that need a pull pod and whose pods this plan does not take, the first `count`; and whether there are more.
fn wanted(parts: &Parts<'_, '_>, taken: &BTreeSet<NodeIx>, count: usize) -> (Vec<NodeIx>, bool) {
    let Parts { fleet, history, rest, .. } = parts;
    let elsewhere = rest.pulls.lacking as usize;
    let mut lacking = lacking(parts).filter(|(node, _)| !taken.contains(node));
    // Most plans of an update: as many pull as may, and the others are not ranked.
    if count == 0 {
        return (Vec::new(), elsewhere > 0 || lacking.next().is_some());
    }
    let ranked = lacking.filter_map(|(node, one)| {
        Some(((pull_rank(fleet, history, node, one)?, fleet.node_view(node).name), node))
    });
    let mut wanted: Vec<_> = ranked.collect();
    let lacks_places = count < wanted.len() + elsewhere;
    // A whole fleet may lack the images: the first ones are put in front in linear time, and only they are sorted.
    if count < wanted.len() {
        wanted.select_nth_unstable(count);
        wanted.truncate(count);
    }
    wanted.sort_unstable();
    (wanted.into_iter().map(|(_, node)| node).collect(), lacks_places)
}

/// The parts of a template's pod spec that a pull depends on: the registry's secrets, and the place where the pod may run.
const TAKEN_OVER: [&str; 6] =
    ["imagePullSecrets", "serviceAccountName", "hostNetwork", "os", "runtimeClassName", "priorityClassName"];

/// The command of each container. No image has it: the runtime pulls, fails to start it, and nothing of the image ever runs.
const NO_COMMAND: &str = "/pull-only";

/// The parts of the manifests of pull pods of a revision that do not depend on the node.
pub(crate) fn shared(snapshot: &Snapshot<'_>, template: &PodTemplate<'_>) -> Arc<Shared> {
    let (raw, hash) = (template.source.raw_template, template.source.hash);
    let of_template =
        |field: &str| raw.get("spec").and_then(|spec| spec.get(field)).filter(|value| !value.is_null());
    let taken_over =
        TAKEN_OVER.iter().filter_map(|field| Some(((*field).to_owned(), of_template(field)?.clone())));
    let mut spec: Map<String, Value> = taken_over.collect();
    let is_windows = raw.pointer("/spec/os/name").and_then(Value::as_str) == Some("windows");
    let containers: Vec<Value> = images(raw)
        .iter()
        .enumerate()
        .map(|(index, image)| {
            let mut container =
                json!({"name": container_name(index), "image": image.reference, "command": [NO_COMMAND]});
            if let Value::Object(members) = &mut container {
                if !image.pull_policy.is_empty() {
                    members.insert("imagePullPolicy".to_owned(), json!(image.pull_policy));
                }
                if !is_windows {
                    members.insert("securityContext".to_owned(), unprivileged());
                }
            }
            container
        })
        .collect();
    let timeout = pull::rules(snapshot).map_or(0, |rules| rules.timeout_seconds);
    let own = json!({
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "containers": containers,
    });
    spec.extend(own.as_object().cloned().unwrap_or_default());
    if timeout > 0 {
        spec.insert("activeDeadlineSeconds".to_owned(), json!(timeout));
    }
    let tie = template.place_only(&mut spec);
    let mut owner = json!(snapshot.spec.daemon_set.owner_reference());
    if let Value::Object(members) = &mut owner {
        // Without a controller: it is no pod of the DaemonSet, and the garbage collector takes it along.
        members.remove("controller");
    }
    let metadata = &snapshot.spec.daemon_set.metadata;
    let metadata = json!({
        "namespace": metadata.namespace,
        "labels": {PULL_OWNER_LABEL: metadata.uid, PULL_REVISION_LABEL: hash},
        "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"},
        "ownerReferences": [owner],
    });
    let metadata = metadata.as_object().cloned().unwrap_or_default();
    Arc::new(Shared {
        metadata,
        spec,
        tie,
        revision_hash: hash.to_owned(),
        is_stable: template.source.is_stable,
    })
}

/// The manifest of the pull pod of a node.
pub(crate) fn manifest(snapshot: &Snapshot<'_>, shared: &Arc<Shared>, node: &str) -> PodManifest {
    let name = Some(pod_name(&snapshot.spec, node, &shared.revision_hash));
    PodManifest { shared: Arc::clone(shared), node: NodeName::from(node), name, body: None }
}

fn unprivileged() -> Value {
    json!({
        "allowPrivilegeEscalation": false,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": true,
        "runAsUser": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    })
}

/// The deliberate errors in this file.
mod planted {
    crate::planted::planted! {
        limit(right: usize): PullsOffByOne => right + 1;
        is_over(right: bool): PullPodsLeft => false;
    }
}
