//! The parts of a node's turn that its verdict leaves out: instants, gates, images, amounts. They are looked up where a person asks.

use crate::bug;
use crate::input::Snapshot;
use crate::node::notes::foreign;
use crate::node::wait::Wait;
use crate::plan::rest_of_cluster::RestOfCluster;
use crate::plan::steps::{Decision, Steps, decide};
use crate::position::NodeIx;
use crate::report::explain::plan_decided;
use crate::report::{Plan, Warning};
use crate::rules::pull::PullPod;
use crate::rules::turn::{self, NodeTurn};
use crate::rules::{fit, goal_hash, pull, wants};
use daemonset_objects::internal::{is_default, quantity};
use daemonset_objects::model::NodeName;
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

/// More of a node than its verdict: its turn, the images and the room that its new pod lacks, and its pods that were changed in place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NodeDetail {
    /// Its turn, if it is in one after this plan's ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnDetail>,
    /// The images that its Ready outdated pod waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull: Option<PullDetail>,
    /// The first resource, by name, of which the node has too little.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<FitDetail>,
    /// Its pods that settle after a change in place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub in_place: Vec<InPlaceDetail>,
    /// The pod of another owner that has the name of its pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_taken: Option<String>,
}

/// The turn of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TurnDetail {
    /// When it began.
    pub since: Timestamp,
    /// The key of its annotations on the node: `turn.daemonset/<key>`, and `<gate>.gate.daemonset/<key>` for each gate.
    pub key: String,
    /// The value of a gate's annotation that opens it; `None` while the snapshot does not show the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The turn has cordoned the node.
    pub cordoned: bool,
    /// The gates of the policy that are open, in its order.
    pub open: Vec<String>,
    /// The gates of the policy that are not open.
    pub closed: Vec<String>,
    /// When closed gates are overdue; `None` if none is closed, or the policy has no timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overdue_at: Option<Timestamp>,
}

/// The images that a node waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PullDetail {
    /// The images that are not there.
    pub images: Vec<String>,
    /// The pod that pulls them, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// When this pod was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// When it is waited for no longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_at: Option<Timestamp>,
}

/// A resource of which a node has too little. Amounts are quantities such as `1500m` and `2Gi`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FitDetail {
    /// Its name.
    pub resource: String,
    /// How much the new pod requests.
    pub requested: String,
    /// How much is free, with the requests of the node's own pods, which go.
    pub free: String,
}

/// A pod that was changed in its place, and whose new containers do not all run yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InPlaceDetail {
    /// Its name.
    pub pod: String,
    /// When it was changed.
    pub since: Timestamp,
    /// That was so long ago that a person should look.
    pub stuck: bool,
}

/// The [`plan`](crate::plan), and the details of the nodes that have any, by name: for a person who asks about turns, pulls, changes in place
/// and fit. Both are from one decision; a DaemonSet that is left alone has no details.
///
/// ```
/// use daemonset::{Policy, Recording, turns::plan_with_details};
/// use daemonset::policy::PullPolicy;
///
/// let mut recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
/// recording.policy = Policy::default().pull(PullPolicy::default());
/// let (_, details) = plan_with_details(&recording.snapshot()?);
/// let pull = details["c"].pull.as_ref().unwrap();
/// assert_eq!((pull.images.as_slice(), &pull.pod), (&["agent:v2".to_owned()][..], &None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a plan does nothing by itself: execute its actions"]
pub fn plan_with_details(snapshot: &Snapshot<'_>) -> (Plan, BTreeMap<NodeName, NodeDetail>) {
    let ((plan, details), has_bug) = bug::watch(|| {
        let decision = decide(snapshot, RestOfCluster::none());
        let plan = plan_decided(snapshot, &decision);
        let details = match &decision {
            // A decision without any of these costs nothing here.
            Decision::Synced(steps) if turn::needs_whole_objects(snapshot) => of_steps(snapshot, steps),
            Decision::Synced(_)
            | Decision::SelectingAll
            | Decision::BeingDeleted
            | Decision::NameCollision(_) => BTreeMap::new(),
        };
        (plan, details)
    });
    if has_bug { (plan.without_actions(Warning::Bug), BTreeMap::new()) } else { (plan, details) }
}

fn of_steps(snapshot: &Snapshot<'_>, steps: &Steps<'_>) -> BTreeMap<NodeName, NodeDetail> {
    let fleet = &steps.fleet;
    let details = fleet.nodes.positions().map(|node| {
        let detail = NodeDetail {
            turn: fleet.turn(node).map(|turn| of_turn(snapshot, turn)),
            pull: of_pull(snapshot, steps, node),
            fit: of_fit(steps, node),
            in_place: in_place(snapshot, steps, node),
            name_taken: steps.node_sync.name_taken_by(node).and_then(|pod| foreign(snapshot, pod)),
        };
        (NodeName::from(fleet.node_view(node).name), detail)
    });
    details.filter(|(_, detail)| !is_default(detail)).collect()
}

fn of_turn(snapshot: &Snapshot<'_>, turn: &NodeTurn<'_>) -> TurnDetail {
    let rules = turn::rules(&snapshot.spec);
    let closed: Vec<String> =
        rules.into_iter().flat_map(|rules| turn::closed_gates(snapshot, turn, rules)).cloned().collect();
    let gates = rules.into_iter().flat_map(|rules| &rules.gates);
    TurnDetail {
        since: turn.at,
        key: snapshot.spec.turn_key().to_owned(),
        request: turn.written.map(|written| written.request.to_owned()),
        cordoned: turn.written.is_some_and(|written| written.cordoned),
        open: gates.filter(|gate| !closed.contains(gate)).cloned().collect(),
        overdue_at: rules.and_then(|rules| turn::overdue_at(turn, rules)).filter(|_| !closed.is_empty()),
        closed,
    }
}

/// A pod that is not Ready goes without them.
fn of_pull(snapshot: &Snapshot<'_>, steps: &Steps<'_>, node: NodeIx) -> Option<PullDetail> {
    let (fleet, rules) = (&steps.fleet, pull::rules(snapshot)?);
    let evaluation = steps.evaluations.nodes.at(node);
    let waits = evaluation.hold.as_ref().is_some_and(|hold| hold.lacks_images);
    let is_ready = || evaluation.candidate.is_some_and(|pod| fleet.pod(pod).readiness.is_ready());
    if !waits || !is_ready() {
        return None;
    }
    let images = &wants(fleet, node).images;
    let hash = goal_hash(fleet, &steps.history, node);
    let is_its_own = |pod: &&PullPod<'_>| pod.hash == hash;
    let pod = fleet.pull_pods_of(node).iter().find(is_its_own);
    let missing = pull::missing(snapshot, node, images, pod);
    Some(PullDetail {
        images: missing.into_iter().map(str::to_owned).collect(),
        pod: pod.map(|pod| pod.view.name.to_owned()),
        since: pod.and_then(|pod| pod.view.created_at),
        ends_at: pod.and_then(|pod| pod.ends_at(rules)),
    })
}

fn of_fit(steps: &Steps<'_>, node: NodeIx) -> Option<FitDetail> {
    let Some(Wait::Fit { .. }) = steps.evaluations.nodes.at(node).wait() else { return None };
    let goal = wants(&steps.fleet, node).pod.as_ref()?;
    let fit::Lacking { resource, requested, room } = fit::lacking(&steps.fleet, node, goal)?;
    Some(FitDetail { resource, requested: quantity::text(requested), free: quantity::text(room) })
}

fn in_place(snapshot: &Snapshot<'_>, steps: &Steps<'_>, node: NodeIx) -> Vec<InPlaceDetail> {
    let fleet = &steps.fleet;
    if fleet.rare.is_none() {
        return Vec::new();
    }
    let pods = fleet.pods_of(node).filter(|(_, pod)| pod.is_live());
    let settling = pods.filter_map(|(_, pod)| {
        let change = fleet.in_place(pod).filter(|change| change.settles)?;
        let (since, stuck) = (change.since.at, change.is_stuck(snapshot.now));
        Some(InPlaceDetail { pod: fleet.view(pod).name.to_owned(), since, stuck })
    });
    let mut settling: Vec<InPlaceDetail> = settling.collect();
    settling.sort_unstable_by(|a, b| a.pod.cmp(&b.pod));
    settling
}
