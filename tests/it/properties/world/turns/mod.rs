//! Random turns, pulls and changes in place: policies that ask for them, and nodes and pods that show them.

mod story;

pub use story::pull_name;

use super::{Owner, RandomNode};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// The turns of a fleet of up to seven nodes.
#[derive(Debug, Clone)]
pub struct RandomTurns {
    /// The fields of the policy that plans of older controllers do not know.
    policy: Value,
    nodes: Vec<TurningNode>,
    /// A pull pod on a node that is gone.
    stray_pull: Option<RandomPull>,
    /// Of each container.
    image_pull_policy: Option<&'static str>,
    memory: RandomTurnMemory,
    nodes_version: Option<u64>,
}

#[derive(Debug, Clone)]
struct TurningNode {
    /// The annotation of a turn of the DaemonSet, and of another one's.
    own: Option<RandomTurn>,
    other: Option<RandomTurn>,
    /// Each with the answer that it has.
    gates: Vec<(&'static str, Answer)>,
    unschedulable: bool,
    image: Option<&'static str>,
    free_pods: Option<&'static str>,
    pull: Option<RandomPull>,
    /// The containers of its first pod.
    runs: Option<RandomContainer>,
    /// Its first pod has the one name of the pods of this node.
    has_the_name: bool,
    /// Its only pod is outdated and runs: without a budget the update would take it.
    is_candidate: bool,
}

#[derive(Debug, Clone, Copy)]
enum RandomTurn {
    /// Since so many seconds, and whether it has cordoned the node.
    Since(i64, bool),
    Garbage(&'static str),
}

#[derive(Debug, Clone, Copy)]
enum Answer {
    ToThisTurn,
    ToAnother,
}

#[derive(Debug, Clone)]
struct RandomPull {
    revision: &'static str,
    /// Of its container.
    status: Option<Value>,
    created: i64,
    terminating: bool,
    phase: &'static str,
}

#[derive(Debug, Clone)]
struct RandomContainer {
    id: &'static str,
    /// `None`: as the pod's revision has it.
    image: Option<&'static str>,
    started: Option<i64>,
    restarts: u32,
    /// Since so many seconds, or an annotation of another form. It was `runtime://1` with the image `old`.
    changed: Option<Result<i64, &'static str>>,
}

/// Numbers of nodes, each with an age, and a version where one is known.
#[derive(Debug, Clone)]
struct RandomTurnMemory {
    patches: Vec<(usize, i64, Option<u64>)>,
    pulls: Vec<(usize, i64)>,
    pull_deletes: Vec<(usize, i64)>,
    refused_pulls: Vec<(usize, i64)>,
    changes: Vec<(usize, i64, i64)>,
    refused_changes: Vec<(usize, i64)>,
}

pub fn turns() -> impl Strategy<Value = RandomTurns> {
    let policy_of_containers = select(vec![None, Some("IfNotPresent"), Some("IfNotPresent"), Some("Never")]);
    (
        policy(),
        prop::collection::vec(node(), 7),
        prop::option::weighted(0.1, pull()),
        policy_of_containers,
        prop_oneof![2 => Just(RandomTurnMemory::empty()), 1 => memory(), 1 => refusals()],
        select(vec![None, None, Some(5)]),
    )
        .prop_map(|(policy, nodes, stray_pull, image_pull_policy, memory, nodes_version)| RandomTurns {
            policy,
            nodes,
            stray_pull,
            image_pull_policy,
            memory,
            nodes_version,
        })
}

fn policy() -> impl Strategy<Value = Value> {
    let gates = select(vec![
        json!([]),
        json!([]),
        json!(["drained"]),
        json!(["backup"]),
        json!(["drained", "backup"]),
    ]);
    let timeout = select(vec![
        json!({}),
        json!({"timeoutSeconds": 60}),
        json!({"timeoutSeconds": 4000}),
        json!({"timeoutSeconds": 60, "onTimeout": "Proceed"}),
    ]);
    let rules = (any::<bool>(), gates, timeout).prop_map(|(cordon, gates, mut rules)| {
        (rules["cordon"], rules["gates"]) = (json!(cordon), gates);
        rules
    });
    let turn = prop_oneof![6 => Just(Value::Null), 1 => Just(json!("Keep")), 8 => rules];
    let parallel = select(vec![json!(1), json!(2), json!("50%")]);
    let pull = (parallel, select(vec![600, 60, 0]))
        .prop_map(|(parallel, timeout)| json!({"parallel": parallel, "timeoutSeconds": timeout}));
    (
        turn,
        prop_oneof![1 => Just(Value::Null), 1 => pull],
        select(vec!["Never", "IfPossible", "IfPossible"]),
        select(vec!["Ignore", "Ignore", "Hold"]),
        select(vec![None, None, Some("OnePerNode")]),
    )
        .prop_map(|(turn, pull, in_place, fit, names)| {
            let mut policy = json!({"turn": turn, "pull": pull, "inPlace": in_place, "fit": fit});
            if let Some(names) = names {
                policy["podNames"] = json!(names);
            }
            policy
        })
}

fn node() -> impl Strategy<Value = TurningNode> {
    let turn = || {
        let since = (select(vec![0, 5, 5, 100, 4000]), any::<bool>())
            .prop_map(|(ago, cordoned)| RandomTurn::Since(ago, cordoned));
        prop_oneof![6 => since, 1 => select(vec!["", "2 yesterday", "two", "2"]).prop_map(RandomTurn::Garbage)]
    };
    let answer = || select(vec![Answer::ToThisTurn, Answer::ToThisTurn, Answer::ToAnother]);
    let gates = (prop::option::weighted(0.5, answer()), prop::option::weighted(0.5, answer())).prop_map(
        |(drained, backup)| {
            let gates = [("drained", drained), ("backup", backup)].into_iter();
            gates.filter_map(|(gate, answer)| Some((gate, answer?))).collect()
        },
    );
    (
        (prop::option::weighted(0.5, turn()), prop::option::weighted(0.2, turn()), gates),
        (
            prop::bool::weighted(0.3),
            select(vec![None, Some("new"), Some("old")]),
            select(vec![None, Some("0"), Some("-1")]),
        ),
        (
            prop::option::weighted(0.5, pull()),
            prop::option::weighted(0.7, container()),
            prop::bool::weighted(0.3),
            prop::bool::weighted(0.6),
        ),
    )
        .prop_map(
            |(
                (own, other, gates),
                (unschedulable, image, free_pods),
                (pull, runs, has_the_name, is_candidate),
            )| TurningNode {
                own,
                other,
                gates,
                unschedulable,
                image,
                free_pods,
                pull,
                runs,
                has_the_name,
                is_candidate,
            },
        )
}

fn pull() -> impl Strategy<Value = RandomPull> {
    let status = select(vec![
        None,
        Some(json!({"state": {"waiting": {"reason": "ContainerCreating"}}})),
        Some(json!({"state": {"waiting": {"reason": "ImagePullBackOff"}}})),
        Some(json!({"state": {"waiting": {"reason": "CreateContainerError"}}})),
        Some(json!({"state": {"terminated": {"reason": "StartError"}}})),
        Some(json!({"imageID": "sha256:new"})),
    ]);
    let revision = select(vec!["new", "new", "new", "old", "older", ""]);
    let phase = select(vec!["Pending", "Pending", "Failed", "Succeeded"]);
    (revision, status, select(vec![10, 59, 60, 601]), prop::bool::weighted(0.1), phase).prop_map(
        |(revision, status, created, terminating, phase)| RandomPull {
            revision,
            status,
            created,
            terminating,
            phase,
        },
    )
}

fn container() -> impl Strategy<Value = RandomContainer> {
    let changed = prop_oneof![
        8 => Just(None),
        4 => select(vec![0, 5, 59, 60, 700]).prop_map(|ago| Some(Ok(ago))),
        1 => select(vec!["", "{}", "{\"at\": 1}"]).prop_map(|text| Some(Err(text))),
    ];
    let started = select(vec![None, Some(3), Some(3600)]);
    (
        select(vec!["runtime://1", "runtime://1", "runtime://2", "runtime://2", ""]),
        select(vec![None, None, Some("other")]),
        started,
        0_u32..3,
        changed,
    )
        .prop_map(|(id, image, started, restarts, changed)| RandomContainer {
            id,
            image,
            started,
            restarts,
            changed,
        })
}

impl RandomTurns {
    /// Most random pods are no candidates: they do not run, are others', or several on a node.
    pub fn make_candidates(&self, nodes: &mut [RandomNode]) {
        for (node, _) in nodes.iter_mut().zip(&self.nodes).filter(|(_, turning)| turning.is_candidate) {
            node.taint = None;
            node.pods.truncate(1);
            if let Some(pod) = node.pods.first_mut() {
                (pod.version, pod.phase, pod.owner) = ("old", "Running", Owner::Ours);
                (pod.bound, pod.target, pod.terminating, pod.generation) = (true, true, None, None);
            }
        }
    }
}

impl RandomTurnMemory {
    fn empty() -> Self {
        RandomTurnMemory {
            patches: Vec::new(),
            pulls: Vec::new(),
            pull_deletes: Vec::new(),
            refused_pulls: Vec::new(),
            changes: Vec::new(),
            refused_changes: Vec::new(),
        }
    }
}

/// Pulls and changes in place that were refused, and that are tried again soon or late: beside anything else in flight that would be the
/// next wake-up.
fn refusals() -> impl Strategy<Value = RandomTurnMemory> {
    let entries = || {
        let ago = prop::collection::vec(select(vec![60_i64, 1_760, 1_795]), 7);
        ago.prop_map(|ago| ago.into_iter().enumerate().collect::<Vec<_>>())
    };
    (entries(), entries()).prop_map(|(refused_pulls, refused_changes)| RandomTurnMemory {
        refused_pulls,
        refused_changes,
        ..RandomTurnMemory::empty()
    })
}

fn memory() -> impl Strategy<Value = RandomTurnMemory> {
    let ago = || select(vec![0_i64, 100, 299, 300, 2000]);
    let entries = move || prop::collection::vec((0_usize..7, ago()), 0..2);
    let version = select(vec![None, Some(5_u64), Some(9)]);
    (
        prop::collection::vec((0_usize..7, ago(), version), 0..3),
        entries(),
        entries(),
        entries(),
        prop::collection::vec((0_usize..12, ago(), select(vec![0_i64, 59, 700])), 0..2),
        prop::collection::vec((0_usize..12, ago()), 0..2),
    )
        .prop_map(|(patches, pulls, pull_deletes, refused_pulls, changes, refused_changes)| {
            RandomTurnMemory { patches, pulls, pull_deletes, refused_pulls, changes, refused_changes }
        })
}
