//! Lives with turns, gates, drains, pulls, changes in place and names that each node has one of.

mod beginning;
mod commands;
mod ending;
mod facts;
mod life;
#[cfg(daemonset_mutants)]
mod mutants;
mod other;
mod promises;
mod reach;

use super::commands as common;
use crate::random_lives::{LIVES, once_each};
use crate::support::{Reach, cases, draws, with_waits};
use beginning::{Beginning, Budgeted, Choices, Faults, RolloutChoice, TurnChoice};
use commands::{BROKEN, Command, NO_IMAGE, WIDE};
use daemonset::report::WaitKind;
use life::Life;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::{Union, ValueTree};

/// A command, and the time that passes after it.
#[derive(Debug, Clone, Copy)]
struct Step {
    command: Command,
    millis: u32,
}

fn life() -> impl Strategy<Value = (Beginning, Vec<Step>)> {
    let size = (2_u8..5, 1_u8..3, select(vec![0_u8, 0, 5]));
    let weighted = prop::bool::weighted;
    let kinds = (any::<bool>(), weighted(0.1), weighted(0.3));
    let workload = prop::option::weighted(0.3, any::<bool>().prop_map(Budgeted));
    let faults = prop_oneof![
        8 => Just(Faults::None),
        1 => Just(Faults::Refuses),
        1 => Just(Faults::LosesAnswers),
    ];
    let beginning = (any::<u64>(), size, kinds, (workload, faults), choices());
    let beginning = beginning.prop_map(|(seed, size, kinds, (workload, faults), choices)| {
        let ((nodes, limit, min_ready), (memory_survives, forgets, tolerates_all)) = (size, kinds);
        let workload = workload.filter(|_| choices.turn.is_some_and(TurnChoice::empties));
        Beginning {
            seed,
            nodes,
            limit,
            min_ready,
            memory_survives,
            forgets,
            tolerates_all,
            workload,
            faults,
            choices,
        }
    });
    (beginning, any::<bool>()).prop_flat_map(|(beginning, is_stale)| {
        (Just(beginning), prop::collection::vec(step(beginning, is_stale), 3..16))
    })
}

fn choices() -> impl Strategy<Value = Choices> {
    let before = (prop::option::weighted(0.8, turn()), prop::option::weighted(0.3, 1_u8..3));
    let way = (prop::bool::weighted(0.3), prop::bool::weighted(0.5), prop::bool::weighted(0.2));
    let nodes = (prop::bool::weighted(0.2), prop::bool::weighted(0.2));
    let rollout = prop::option::weighted(0.2, rollout());
    (before, way, nodes, prop::bool::weighted(0.2), rollout).prop_map(
        |(
            (turn, pull),
            (in_place, one_per_node, fit),
            (excuses_down, respects_lifecycle),
            drives,
            rollout,
        )| {
            Choices {
                turn,
                pull,
                in_place,
                one_per_node: one_per_node && !drives,
                fit,
                drives,
                excuses_down,
                respects_lifecycle,
                rollout,
            }
        },
    )
}

fn turn() -> impl Strategy<Value = TurnChoice> {
    let gates = (prop::bool::weighted(0.5), prop::bool::weighted(0.3));
    let timeout = prop::option::weighted(0.3, (5_u16..120, any::<bool>()));
    (prop::bool::weighted(0.7), gates, timeout).prop_map(|(cordon, (backup, drained), timeout)| {
        TurnChoice::Take { cordon, backup, drained, timeout }
    })
}

fn rollout() -> impl Strategy<Value = RolloutChoice> {
    (prop::bool::weighted(0.3), any::<bool>(), any::<bool>())
        .prop_map(|(paused, wave, undoes)| RolloutChoice { paused, wave, undoes })
}

fn step(beginning: Beginning, is_stale: bool) -> BoxedStrategy<Step> {
    let millis = prop_oneof![
        6 => 0_u32..3_000,
        12 => 3_000_u32..30_000,
        4 => 30_000_u32..120_000,
        1 => Just(330_000),
    ];
    (command(beginning, is_stale), millis).prop_map(|(command, millis)| Step { command, millis }).boxed()
}

/// `is_stale`: caches may be behind for long.
fn command(beginning: Beginning, is_stale: bool) -> impl Strategy<Value = Command> {
    let mut all = of_the_daemon_set(beginning.choices);
    all.extend(of_nodes(beginning));
    all.extend(of_controllers(beginning.choices, is_stale));
    if let Some(turn) = beginning.choices.turn {
        all.extend(of_turns(turn, beginning.workload.is_some()));
    }
    Union::new_weighted(all)
}

type Weighted = Vec<(u32, BoxedStrategy<Command>)>;

fn of_the_daemon_set(choices: Choices) -> Weighted {
    let mut versions = vec![0_u8, 1, 2, 3, BROKEN, BROKEN, 5];
    if choices.pull.is_some() || choices.in_place {
        versions.push(NO_IMAGE);
    }
    if choices.fit {
        versions.extend([WIDE, WIDE]);
    }
    let mut all: Weighted = vec![
        (18, select(versions).prop_map(|version| Command::Release { version }).boxed()),
        (2, (0_u8..3).prop_map(|value| Command::Metadata { value }).boxed()),
        (2, common(select(vec![0_u8, 5]).prop_map(|seconds| common::Command::MinReady { seconds }))),
        (3, (1_u8..4).prop_map(|nodes| Command::Limit { nodes }).boxed()),
        (3, any::<u8>().prop_map(|pod| Command::DeletePod { pod }).boxed()),
        (2, any::<u8>().prop_map(|pod| Command::CrashPod { pod }).boxed()),
        (1, any::<u8>().prop_map(|pod| Command::FailPod { pod }).boxed()),
    ];
    if choices.pull.is_some() {
        all.push((2, prop::option::weighted(0.7, 1_u8..3).prop_map(Command::Pull).boxed()));
    }
    if choices.in_place {
        all.push((1, any::<bool>().prop_map(Command::InPlace).boxed()));
    }
    if choices.rollout.is_some() {
        all.push((4, prop::option::weighted(0.8, rollout()).prop_map(Command::Rollout).boxed()));
        all.push((2, common(Just(common::Command::PutBack))));
    }
    all
}

fn of_nodes(beginning: Beginning) -> Weighted {
    use common::Command as C;
    let choices = beginning.choices;
    let node = any::<u8>;
    let taints = any::<bool>();
    let mut all: Weighted = vec![
        (3, common(node().prop_map(|node| C::TakeDown { node }))),
        (3, common(node().prop_map(|node| C::BringUp { node }))),
        (1, common(node().prop_map(|node| C::ShutDown { node }))),
        (1, common((node(), taints).prop_map(|(node, execute)| C::Taint { node, execute }))),
        (1, common(node().prop_map(|node| C::Untaint { node }))),
        (1, Just(Command::AddNode).boxed()),
        (2, common(node().prop_map(|node| C::RemoveNode { node }))),
    ];
    if choices.respects_lifecycle {
        let condition = (node(), any::<u8>(), any::<bool>());
        let set = condition.prop_map(|(node, kind, is_true)| C::Condition { node, kind, is_true });
        all.push((4, common(set)));
    }
    if choices.fit || choices.turn.is_some_and(TurnChoice::drains) {
        all.push((3, node().prop_map(|node| Command::AddLonelyPod { node }).boxed()));
        all.push((2, Just(Command::RemoveLonelyPods).boxed()));
    }
    all
}

/// Persons and others who take part in turns. Where there are `workloads`, a node that is drained stays cordoned: the replicas would come
/// back as fast as they are evicted, again and again.
fn of_turns(turn: TurnChoice, workloads: bool) -> Weighted {
    use common::Command as C;
    use other::Command as Other;
    let node = any::<u8>;
    let edits = prop_oneof![
        2 => Just(None),
        2 => Just(Some(TurnChoice::Keep)),
        4 => Just(Some(turn)),
        2 => self::turn().prop_map(move |other| Some(if workloads { turn } else { other })),
    ];
    let begins = (node(), any::<bool>()).prop_map(|(node, cordons)| Other::Begins { node, cordons });
    let mut all: Weighted = vec![
        (12, node().prop_map(|node| Command::Opens { node }).boxed()),
        (4, node().prop_map(|node| Command::AnswersAnother { node }).boxed()),
        (4, common(node().prop_map(|node| C::Cordon { node }))),
        (4, edits.prop_map(Command::Turn).boxed()),
        (5, begins.prop_map(Command::Other).boxed()),
        (3, node().prop_map(|node| Command::Other(Other::Ends { node })).boxed()),
        (1, Just(Command::Other(Other::IsDeleted)).boxed()),
    ];
    if !workloads {
        all.push((4, common(node().prop_map(|node| C::Uncordon { node }))));
    }
    all
}

fn of_controllers(choices: Choices, is_stale: bool) -> Weighted {
    use common::Command as C;
    let caches = || {
        let of_ours = vec![0_u8, 0, 1, 1, 1, 2, 3];
        select(if choices.drives { [of_ours, vec![4, 5, 6, 7]].concat() } else { of_ours })
    };
    let mut all: Weighted = vec![
        (5, common((0_u8..8).prop_map(|after| C::Crash { after }))),
        (2, common(select(vec![0_u8, 30]).prop_map(|percent| C::Refuse { percent }))),
        (2, common(select(vec![0_u8, 50]).prop_map(|percent| C::LoseAnswers { percent }))),
    ];
    if choices.drives {
        all.push((2, common((0_u8..8).prop_map(|after| C::CrashOther { after }))));
    }
    if is_stale {
        let lag = (caches(), 0_u8..90).prop_map(|(kind, seconds)| C::Lag { kind, seconds });
        all.push((4, common(lag)));
        all.push((8, common(caches().prop_map(|kind| C::Freeze { kind }))));
        all.push((4, common(caches().prop_map(|kind| C::Thaw { kind }))));
    }
    all
}

fn common(strategy: impl Strategy<Value = common::Command> + 'static) -> BoxedStrategy<Command> {
    strategy.prop_map(Command::Common).boxed()
}

fn live((beginning, steps): &(Beginning, Vec<Step>)) -> Life {
    let mut life = Life::begin(*beginning);
    for step in steps {
        life.perform(step.command, step.millis);
    }
    life
}

/// The life with this number: the same one each time. `None` if its beginning does not fit.
fn turning_life(fits: fn(&Beginning) -> bool, number: u64) -> Option<Life> {
    let life = life().new_tree(&mut draws(number)).unwrap().current();
    fits(&life.0).then(|| live(&life))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(40), failure_persistence: None, max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn promises_hold_in_every_life_with_turns(life in life()) {
        let mut life = live(&life);
        prop_assert_eq!(life.broken(), Vec::<String>::new());
        if let Err(unsettled) = life.settle() {
            prop_assert!(false, "{}", unsettled);
        }
        prop_assert_eq!(life.broken(), Vec::<String>::new());
    }
}

#[test]
fn the_turning_lives_reach_everything() {
    let everything = with_waits(reach::EVERYTHING, WaitKind::is_of_candidate);
    let reached = Reach::of(
        &everything,
        &[349, 299, 255, 210, 157, 116, 115, 112, 94, 86, 56, 47, 44, 43, 41, 26, 13, 12, 2],
        LIVES,
        |number| {
            let reached = turning_life(|_| true, number).map(|mut life| reach::reached(&mut life));
            once_each(reached.unwrap_or_default())
        },
    );
    reached.assert_has(&everything, &format!("{LIVES} lives"), "tests/it/random_lives/turning/mod.rs");
}
