//! Random fleets, in the language of the stories.

mod story;
mod turns;

pub use turns::pull_name;

use crate::support::{on_delete, rolling, surging};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// A random snapshot that passes the check.
#[derive(Debug, Clone)]
pub struct World {
    strategy: Value,
    min_ready: i64,
    generation: Option<i64>,
    policy: Value,
    nodes: Vec<RandomNode>,
    strays: Vec<RandomPod>,
    history: RandomHistory,
    memory: Option<RandomMemory>,
    oddity: Oddity,
    /// `None` for a fleet that knows of none.
    turns: Option<turns::RandomTurns>,
}

/// The rare features of a fleet.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Oddity {
    None,
    EmptySelector,
    Deleted,
    TakenName,
    ReleasedRevision,
    HostPort,
    RightStatus,
    /// A status that was written for more nodes and pods.
    OldStatus,
}

#[derive(Debug, Clone)]
struct RandomNode {
    taint: Option<(&'static str, &'static str)>,
    /// Its condition Ready, with its age in seconds.
    ready: Option<(&'static str, Option<i64>)>,
    /// Another condition, and its age.
    leaves: Option<(&'static str, Option<i64>)>,
    pods: Vec<RandomPod>,
}

#[derive(Debug, Clone)]
struct RandomPod {
    version: &'static str,
    generation: Option<&'static str>,
    phase: &'static str,
    ready: Option<Option<i64>>,
    terminating: Option<i64>,
    grace: Option<i64>,
    bound: bool,
    target: bool,
    owner: Owner,
    created: i64,
    tolerates: bool,
}

#[derive(Debug, Clone, Copy)]
enum Owner {
    Ours,
    Orphan,
    Other,
    OursNoLongerMatching,
    OrphanOfOthers,
    Mirror,
    Elsewhere,
}

#[derive(Debug, Clone)]
struct RandomHistory {
    /// Version, number, labelled, owned.
    revisions: Vec<(&'static str, i64, bool, bool)>,
    /// The age of all revisions in seconds.
    age: Option<i64>,
    limit: Option<i32>,
}

#[derive(Debug, Clone)]
struct RandomMemory {
    creates: Vec<(usize, i64, bool)>,
    /// Nodes and their ages.
    taken: Vec<(usize, i64)>,
    refusals: Vec<(usize, i64)>,
    deletes: Vec<(usize, i64)>,
    failures: Vec<(usize, u32, i64)>,
}

pub fn world() -> impl Strategy<Value = World> {
    world_with(prop::option::weighted(0.33, turns::turns()))
}

/// A fleet that knows of turns.
pub fn turning() -> impl Strategy<Value = World> {
    world_with(turns::turns().prop_map(Some))
}

fn world_with(turns: impl Strategy<Value = Option<turns::RandomTurns>>) -> impl Strategy<Value = World> {
    let parts = (
        (strategy(), select(vec![0, 0, 60]), select(vec![None, Some(5)]), policy()),
        (prop::collection::vec(random_node(), 0..7), prop::collection::vec(random_pod(), 0..2)),
        (history(), prop::option::of(memory()), oddity(), turns),
    );
    parts.prop_map(
        |(
            (strategy, min_ready, generation, policy),
            (mut nodes, strays),
            (history, memory, oddity, turns),
        )| {
            if let Some(turns) = &turns {
                turns.make_candidates(&mut nodes);
            }
            World { strategy, min_ready, generation, policy, nodes, strays, history, memory, oddity, turns }
        },
    )
}

fn strategy() -> impl Strategy<Value = Value> {
    let limit = || {
        prop_oneof![
            4 => (0_u32..4).prop_map(|n| json!(n)),
            2 => select(vec!["0%", "1%", "34%", "50%", "100%", "150%"]).prop_map(|p| json!(p)),
        ]
    };
    prop_oneof![
        6 => limit().prop_map(rolling),
        6 => limit().prop_map(surging),
        2 => Just(on_delete()),
        1 => Just(json!({})),
        1 => Just(json!({"type": "SurgingRollingUpdate"})),
        1 => limit().prop_map(|l| json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": l, "maxSurge": 1}})),
    ]
}

fn policy() -> impl Strategy<Value = Value> {
    (
        select(vec!["TemplateGenerationFirst", "HashFirst"]),
        select(vec!["AtOnce", "WithinBudget"]),
        select(vec!["Generated", "Deterministic"]),
        prop_oneof![5 => Just(250), 1 => 1..4],
        (select(vec!["Count", "ExcuseIfDownBefore"]), select(vec!["Ignore", "Respect"])),
    )
        .prop_map(|(classification, unready, names, burst, (down, lifecycle))| {
            json!({
                "classification": classification, "unready": unready, "podNames": names, "burst": burst,
                "downNodes": down, "lifecycle": lifecycle,
            })
        })
}

fn random_node() -> impl Strategy<Value = RandomNode> {
    let taint = prop_oneof![
        10 => Just(None),
        2 => Just(Some(("dedicated", "NoSchedule"))),
        1 => Just(Some(("x", "NoExecute"))),
        1 => Just(Some(("node.kubernetes.io/not-ready", "NoSchedule"))),
    ];
    let pods = prop_oneof![
        2 => Just(0_usize), 6 => Just(1_usize), 4 => Just(2_usize), 1 => Just(3_usize),
    ];
    let pods = pods.prop_flat_map(|count| prop::collection::vec(random_pod(), count));
    let age = || select(vec![None, Some(5), Some(40), Some(1800)]);
    let ready = prop_oneof![
        4 => Just(None),
        4 => age().prop_map(|age| Some(("True", age))),
        2 => (select(vec!["False", "Unknown"]), age()).prop_map(Some),
    ];
    let kind = select(vec!["DrainInProgress", "Drained", "GracefulNodeShutdownInProgress", "MemoryPressure"]);
    let leaves = prop_oneof![8 => Just(None), 1 => (kind, age()).prop_map(Some)];
    (taint, ready, leaves, pods).prop_map(|(taint, ready, leaves, pods)| RandomNode {
        taint,
        ready,
        leaves,
        pods,
    })
}

fn random_pod() -> impl Strategy<Value = RandomPod> {
    let version = prop_oneof![
        6 => Just("new"), 6 => Just("old"), 2 => Just("older"), 1 => Just("twin"), 1 => Just("unknown"),
        1 => Just(""),
    ];
    let generation =
        prop_oneof![6 => Just(None), 2 => Just(Some("5")), 2 => Just(Some("4")), 1 => Just(Some("junk"))];
    let phase = prop_oneof![
        14 => Just("Running"), 2 => Just("Pending"), 2 => Just("Failed"), 1 => Just("Succeeded"), 1 => Just("Unknown"),
    ];
    let ready = prop_oneof![
        3 => Just(None),
        6 => Just(Some(Some(3600))),
        3 => select(vec![0, 10, 59, 60]).prop_map(|ago| Some(Some(ago))),
        1 => Just(Some(None)),
    ];
    let terminating =
        prop_oneof![9 => Just(None), 1 => Just(Some(30)), 1 => select(vec![Some(0), Some(-60)])];
    let terminating = (terminating, select(vec![None, Some(10), Some(30)]));
    let owner = prop_oneof![
        20 => Just(Owner::Ours), 2 => Just(Owner::Orphan), 1 => Just(Owner::Other),
        1 => Just(Owner::OursNoLongerMatching), 1 => Just(Owner::OrphanOfOthers), 1 => Just(Owner::Mirror),
        1 => Just(Owner::Elsewhere),
    ];
    let place = (prop::bool::weighted(0.9), prop::bool::weighted(0.97), 1_i64..9, any::<bool>());
    (version, generation, phase, ready, terminating, owner, place).prop_map(
        |(version, generation, phase, ready, (terminating, grace), owner, place)| {
            let (bound, target, created, tolerates) = place;
            RandomPod {
                version,
                generation,
                phase,
                ready,
                terminating,
                grace,
                bound,
                target,
                owner,
                created,
                tolerates,
            }
        },
    )
}

fn history() -> impl Strategy<Value = RandomHistory> {
    let number = || select(vec![-1_i64, 1, 2, 3, 4]);
    let exists = |likely| prop::bool::weighted(likely);
    let one = |version: &'static str, likely| {
        (exists(likely), number(), prop::bool::weighted(0.9), prop::bool::weighted(0.9)).prop_map(
            move |(there, number, labelled, owned)| there.then_some((version, number, labelled, owned)),
        )
    };
    let all = (one("older", 0.7), one("old", 0.9), one("twin", 0.2), one("new", 0.85), one("ancient", 0.3));
    let age = select(vec![None, Some(20), Some(600)]);
    (all, select(vec![None, None, Some(0), Some(1)]), age).prop_map(|((a, b, c, d, e), limit, age)| {
        RandomHistory { revisions: [a, b, c, d, e].into_iter().flatten().collect(), limit, age }
    })
}

fn memory() -> impl Strategy<Value = RandomMemory> {
    let ago = || select(vec![0_i64, 100, 299, 300, 1000]);
    (
        prop::collection::vec((0_usize..7, ago(), any::<bool>()), 0..3),
        prop::collection::vec((0_usize..12, ago()), 0..3),
        prop::collection::vec((0_usize..7, 1_u32..12, select(vec![0_i64, 1, 30, 2000])), 0..5),
        prop::collection::vec((0_usize..7, select(vec![0_i64, 30, 1000, 4000])), 0..3),
        prop::collection::vec((0_usize..7, select(vec![0_i64, 100, 2000])), 0..3),
    )
        .prop_map(|(creates, deletes, failures, taken, refusals)| RandomMemory {
            creates,
            taken,
            refusals,
            deletes,
            failures,
        })
}

fn oddity() -> impl Strategy<Value = Oddity> {
    prop_oneof![
        40 => Just(Oddity::None),
        1 => Just(Oddity::EmptySelector),
        1 => Just(Oddity::Deleted),
        2 => Just(Oddity::TakenName),
        1 => Just(Oddity::ReleasedRevision),
        2 => Just(Oddity::HostPort),
        5 => Just(Oddity::RightStatus),
        4 => Just(Oddity::OldStatus),
    ]
}
