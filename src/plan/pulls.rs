//! Pull pods: those that a plan creates on the nodes of candidates, and those that nobody waits for any more.

use crate::input::Snapshot;
use crate::input::placement::Placement;
use crate::node::candidate::{eligible, urgency};
use crate::node::figures::Figure;
use crate::node::fleet::Readiness;
use crate::node::pull;
use crate::node::pull::{Images, PullPod, container_name, pod_name};
use crate::plan::parts::Parts;
use crate::plan::pod_template::PodTemplate;
use crate::pod_manifest::{PodManifest, Shared};
use crate::position::NodeIx;
use daemonset_objects::kubernetes::well_known::{PULL_OWNER_LABEL, PULL_REVISION_LABEL};
use daemonset_objects::model::NodeName;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
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
        let snapshot = parts.fleet.snapshot;
        let pods = parts.fleet.pull_pods();
        if pods.is_empty() && parts.waits.found().is_none_or(|found| found.not_pulled.is_empty()) {
            return None;
        }
        let mut deletes: Vec<PullPod<'s>> = pods.iter().filter(|pod| is_over(parts, pod)).copied().collect();
        deletes.sort_unstable_by_key(|pod| (pod.view.target, pod.view.name));
        let (mut parallel, mut place_free_at) = (0, None);
        if let Some(rules) = pull::rules(snapshot) {
            let limit =
                planted::limit(rules.parallel.scaled(parts.counts.sums.get(Figure::Desired)) as usize);
            let is_pulling = |pod: &&PullPod<'_>| {
                !pod.is_terminating && !pod.is_done() && !pod.is_late(rules, snapshot.now)
            };
            let pulling = pods.iter().filter(is_pulling);
            parallel = limit.saturating_sub(pulling.clone().count() + unseen_pulls(parts).len());
            place_free_at = pulling.filter_map(|pod| pod.ends_at(rules)).min();
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

/// Whether nobody waits for the images of a pull pod any more.
fn is_over(parts: &Parts<'_, '_>, pod: &PullPod<'_>) -> bool {
    let fleet = parts.fleet;
    let snapshot = fleet.snapshot;
    let deleted =
        snapshot.memory.as_ref().and_then(|memory| memory.pull_deleted_until(pod.view.uid, snapshot));
    if pod.is_terminating || deleted.is_some() {
        return false;
    }
    let Some(node) = pod.node.filter(|_| pull::rules(snapshot).is_some()) else { return true };
    let has_outdated = fleet.pods_of(node).any(|(_, pod)| pod.is_live() && !pod.of_goal);
    planted::is_over(
        fleet.placement(node) != Placement::Run || !has_outdated || pod.hash != parts.goal_hash(node),
    )
}

/// The pull pods that were created and that the snapshot does not show.
fn unseen_pulls<'p>(parts: &Parts<'p, '_>) -> &'p BTreeSet<&'p str> {
    static NONE: BTreeSet<&str> = BTreeSet::new();
    parts.fleet.rare.as_ref().map_or(&NONE, |rare| &rare.unseen_pulls)
}

/// The candidates that need a pull pod: the first `count`, in their order; and whether there are more.
fn wanted(parts: &Parts<'_, '_>, taken: &BTreeSet<NodeIx>, count: usize) -> (Vec<NodeIx>, bool) {
    let fleet = parts.fleet;
    let snapshot = fleet.snapshot;
    let unseen = unseen_pulls(parts);
    let has_pod = |node: NodeIx| {
        let hash = parts.goal_hash(node);
        let is_unseen = || unseen.contains(pod_name(snapshot, snapshot.node(node).name, hash).as_str());
        // Most often nothing is unseen, and no name is made.
        fleet.pull_pods_of(node).iter().any(|pod| pod.hash == hash) || (!unseen.is_empty() && is_unseen())
    };
    let not_pulled = parts.waits.found().into_iter().flat_map(|found| &found.not_pulled).copied();
    let mut lacks_pod = not_pulled.filter(|node| !taken.contains(node) && !has_pod(*node));
    // Most plans of an update: as many pull as may, and the others are not ranked.
    if count == 0 {
        return (Vec::new(), lacks_pod.next().is_some());
    }
    let ranked = lacks_pod.map(|node| {
        let eligible = eligible(fleet, parts.node_sync, node);
        // The order of the update: pods that are not Ready go first.
        let group = eligible.map(|(_, pod)| match pod.readiness {
            Readiness::Pending => 0,
            Readiness::NotReady => 1,
            Readiness::NotYetAvailable => 2,
            Readiness::Available => 3,
        });
        let urgency = eligible.map(|(_, pod)| urgency(fleet, parts.history, node, pod));
        // Nodes in turn go first: their place in the budget is taken already.
        ((fleet.turn(node).is_none(), group, urgency, snapshot.node(node).name), node)
    });
    let mut wanted: Vec<_> = ranked.collect();
    let lacks_places = count < wanted.len();
    // A whole fleet may lack the images: the first ones are put in front in linear time, and only they are sorted.
    if lacks_places {
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
    let images = Images::of_template(raw, hash);
    let containers: Vec<Value> = images
        .list
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
    Arc::new(Shared { metadata, spec, tie, revision_hash: hash.to_owned(), is_base: template.source.is_base })
}

/// The manifest of the pull pod of a node.
pub(crate) fn manifest(snapshot: &Snapshot<'_>, shared: &Arc<Shared>, node: &str) -> PodManifest {
    let name = Some(pod_name(snapshot, node, &shared.revision_hash));
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
