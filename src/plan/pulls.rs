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
use crate::pod_manifest::{CustomBody, PodManifest, Shared, Tie};
use crate::position::NodeIx;
use daemonset_objects::kubernetes::well_known::{PULL_OWNER_LABEL, PULL_REVISION_LABEL};
use daemonset_objects::model::NodeName;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The pull pods that a plan creates and deletes.
#[derive(Debug, Default)]
pub struct Pulls<'s> {
    pub creates: Vec<NodeIx>,
    pub deletes: Vec<PullPod<'s>>,
    /// More are due than the caps leave room for.
    pub is_capped: bool,
}

impl<'s> Pulls<'s> {
    /// `taken` are the nodes whose pods this plan takes; `room` is that of the caps, behind all other creates and deletes.
    pub(crate) fn new(
        parts: &Parts<'_, 's>,
        taken: impl FnOnce() -> BTreeSet<NodeIx>,
        room: (usize, usize),
    ) -> Self {
        let (creates_room, deletes_room) = room;
        let snapshot = parts.fleet.snapshot;
        let pods = &parts.fleet.pull_pods;
        if pods.is_empty() && parts.waits.not_pulled.is_empty() {
            return Pulls::default();
        }
        let mut deletes: Vec<PullPod<'s>> = pods.iter().filter(|pod| is_over(parts, pod)).copied().collect();
        deletes.sort_unstable_by_key(|pod| (pod.view.target, pod.view.name));
        let wanted = wanted(parts, &taken());
        let parallel = pull::rules(snapshot).map_or(0, |rules| {
            let limit = rules.parallel.scaled(parts.counts.sums.get(Figure::Desired)) as usize;
            let is_pulling = |pod: &&PullPod<'_>| {
                !pod.is_terminating && !pod.is_done() && !pod.is_late(rules, snapshot.now)
            };
            let unseen = snapshot.memory.as_ref().map_or(0, |memory| memory.unseen_pulls(snapshot).count());
            limit.saturating_sub(pods.iter().filter(is_pulling).count() + unseen)
        });
        let mut creates: Vec<NodeIx> = wanted.into_iter().take(parallel).collect();
        let is_capped = creates.len() > creates_room || deletes.len() > deletes_room;
        creates.truncate(creates_room);
        // The most urgent ones are chosen; all of them are created by name, as other pods are.
        creates.sort_unstable_by(|a, b| snapshot.index.by_name(*a, *b));
        deletes.truncate(deletes_room);
        Pulls { creates, deletes, is_capped }
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
    fleet.placement(node) != Placement::Run || !has_outdated || pod.hash != parts.goal_hash(node)
}

/// The candidates that need a pull pod, the first one first.
fn wanted(parts: &Parts<'_, '_>, taken: &BTreeSet<NodeIx>) -> Vec<NodeIx> {
    let fleet = parts.fleet;
    let snapshot = fleet.snapshot;
    let has_pod = |node: NodeIx| {
        let is_its_own = |pod: &PullPod<'_>| pod.node == Some(node) && pod.hash == parts.goal_hash(node);
        let name = || pod_name(snapshot, snapshot.node(node).name, parts.goal_hash(node));
        let is_unseen =
            |memory: &crate::Memory| memory.unseen_pulls(snapshot).any(|unseen| *unseen == name());
        fleet.pull_pods.iter().any(is_its_own) || snapshot.memory.as_ref().is_some_and(is_unseen)
    };
    let mut wanted: Vec<NodeIx> = parts.waits.not_pulled.iter().copied().collect();
    wanted.retain(|node| !taken.contains(node) && !has_pod(*node));
    wanted.sort_by_cached_key(|node| {
        let eligible = eligible(fleet, parts.node_sync, *node);
        // The order of the update: pods that are not Ready go first.
        let group = eligible.map(|(_, pod)| match pod.readiness {
            Readiness::Pending => 0,
            Readiness::NotReady => 1,
            Readiness::NotYetAvailable => 2,
            Readiness::Available => 3,
        });
        let urgency = eligible.map(|(_, pod)| urgency(fleet, parts.history, *node, pod));
        // Nodes in turn go first: their place in the budget is taken already.
        (fleet.turn(*node).is_none(), group, urgency, snapshot.node(*node).name)
    });
    wanted
}

/// The parts of a template's pod spec that a pull depends on: the registry's secrets, and the place where the pod may run.
const TAKEN_OVER: [&str; 6] =
    ["imagePullSecrets", "serviceAccountName", "hostNetwork", "os", "runtimeClassName", "priorityClassName"];

/// The command of each container. No image has it: the runtime pulls, fails to start it, and nothing of the image ever runs.
const NO_COMMAND: &str = "/pull-only";

/// The manifest of the pull pod of a node.
pub(crate) fn manifest(snapshot: &Snapshot<'_>, template: &PodTemplate<'_>, node: &str) -> PodManifest {
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
    template.place_only(&mut spec, node);
    let mut owner = json!(snapshot.spec.daemon_set.owner_reference());
    if let Value::Object(members) = &mut owner {
        // Without a controller: it is no pod of the DaemonSet, and the garbage collector takes it along.
        members.remove("controller");
    }
    let metadata = &snapshot.spec.daemon_set.metadata;
    let mut value = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": pod_name(snapshot, node, hash),
            "namespace": metadata.namespace,
            "labels": {PULL_OWNER_LABEL: metadata.uid, PULL_REVISION_LABEL: hash},
            "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"},
            "ownerReferences": [owner],
        },
        "spec": spec,
    });
    value.sort_all_objects();
    let shared = Shared {
        metadata: Map::new(),
        spec: Map::new(),
        tie: Tie::NodeName,
        revision_hash: hash.to_owned(),
        is_base: false,
    };
    let body = Some(Arc::new(CustomBody { value, pod_spec: "/spec" }));
    PodManifest { shared: Arc::new(shared), node: NodeName::from(node), name: None, body }
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
