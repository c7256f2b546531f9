//! For any events in a cluster: no plan breaks a rule of the audit, the budget holds on the actual state of the
//! cluster, and the rollout ends once all disturbances stop.
//!
//! An input is text, so that findings are readable and seeds can be written by hand; all bytes are accepted. A number
//! is one character, counted from `0`: `9` is 9, `a` is 49; numbers beyond a range wrap around. Missing numbers are 0,
//! and surplus ones are ignored.
//!
//! - The first line is the initial state: seed, nodes, strategy and its limit, minReadySeconds, flags in one number
//!   (1: memory survives a crash, 2: nodes are tainted for the daemon's absence, 4: the policy excuses nodes that were down
//!   before, 8: it respects lifecycle states; 16: it begins with recorded objects, 32: whose resource versions are texts, 48:
//!   which have none), and the allowed events: only those that keep caches quick, also stale caches, or also events after which
//!   no promise holds.
//! - Each following line is a step: a command (a letter of [`COMMANDS`], counted from `a`), two numbers for it, and the
//!   time that passes after it (a number of [`TIMES`]).

#![no_main]

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../tests/it/random_lives/commands.rs"]
mod commands;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../tests/it/random_lives/rollout/mod.rs"]
mod rollout;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../tests/it/random_lives/steering.rs"]
mod steering;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../tests/it/random_lives/trial/mod.rs"]
mod trial;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../tests/it/random_lives/watcher.rs"]
mod watcher;

use commands::{Command, Limits};
use libfuzzer_sys::fuzz_target;
use trial::{Beginning, Choices, Origin, Trial, Versions};

const MOST_NODES: u8 = 6;
const MOST_STEPS: usize = 24;

/// The commands by letter: release is `a`; after `z` come the characters that follow it.
const COMMANDS: [fn(u8, u8) -> Command; 28] = [
    |version, _| Command::Release { version: version % 6 },
    |kind, limit| Command::Strategy(limits(kind, limit)),
    |seconds, _| Command::MinReady { seconds: seconds % 61 },
    |flag, _| Command::Tolerate { dedicated: is_odd(flag) },
    |flag, _| Command::Select { ssd: is_odd(flag) },
    |revisions, _| Command::HistoryLimit { revisions: revisions % 3 },
    |pod, _| Command::DeletePod { pod },
    |pod, _| Command::FailPod { pod },
    |pod, _| Command::CrashPod { pod },
    |node, flag| Command::Taint { node, execute: is_odd(flag) },
    |node, _| Command::Untaint { node },
    |node, _| Command::Cordon { node },
    |node, _| Command::Uncordon { node },
    |node, _| Command::TakeDown { node },
    |node, _| Command::BringUp { node },
    |_, _| Command::AddNode,
    |node, _| Command::RemoveNode { node },
    |node, flag| Command::Label { node, ssd: is_odd(flag) },
    |after, _| Command::Crash { after: after % 8 },
    |tenths, _| Command::Refuse { percent: tenths % 4 * 10 },
    |tenths, _| Command::LoseAnswers { percent: tenths % 4 * 10 },
    |kind, seconds| Command::Lag { kind, seconds: seconds % 90 },
    |kind, _| Command::Freeze { kind },
    |kind, _| Command::Thaw { kind },
    |_, _| Command::LoseMemory,
    |seconds, _| Command::ListThePast { seconds: seconds % 120 },
    |node, _| Command::ShutDown { node },
    |node, kind| Command::Condition { node, kind: kind / 2, is_true: !is_odd(kind) },
];

/// The time that passes, in milliseconds, by digit; each further ten adds 70 ms.
const TIMES: [u32; 10] = [0, 100, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 45_000, 90_000];

fn limits(kind: u8, limit: u8) -> Limits {
    match kind % 5 {
        0 => Limits::MaxUnavailable(limit % MOST_NODES),
        1 => Limits::MaxSurge(1 + limit % 3),
        2 => Limits::MaxUnavailablePercent(limit % 11 * 10),
        3 => Limits::OnDelete,
        _ => Limits::Surging(1 + limit % 3),
    }
}

fn is_odd(number: u8) -> bool {
    number % 2 == 1
}

/// The allowed events of a run.
#[derive(PartialEq)]
enum Scope {
    QuickCaches,
    StaleCaches,
    BeyondPromises,
}

impl Scope {
    fn allows(&self, command: Command) -> bool {
        (!makes_stale(command) || *self != Scope::QuickCaches)
            && (!command.is_beyond_promises() || *self == Scope::BeyondPromises)
    }
}

fn beginning([seed, nodes, kind, limit, min_ready, flag, scope]: [u8; 7]) -> (Beginning, Scope) {
    let beginning = Beginning {
        seed: seed.into(),
        nodes: 1 + nodes.wrapping_sub(1) % MOST_NODES,
        limits: limits(kind, limit),
        min_ready: min_ready % 31,
        memory_survives: is_odd(flag),
        taints_absence: is_odd(flag / 2),
        policy: Choices {
            excuses_down: is_odd(flag / 4),
            respects_lifecycle: is_odd(flag / 8),
            steering: None,
            drives: false,
        },
        origin: match flag / 16 % 4 {
            0 => Origin::Empty,
            1 => Origin::Recorded(Versions::Numbers),
            2 => Origin::Recorded(Versions::Opaque),
            _ => Origin::Recorded(Versions::Absent),
        },
    };
    let scope = match scope % 3 {
        0 => Scope::QuickCaches,
        1 => Scope::StaleCaches,
        _ => Scope::BeyondPromises,
    };
    (beginning, scope)
}

fn step([letter, first, second, time]: [u8; 4]) -> (Command, u32) {
    // Letters count from `0` as numbers do, so that `a` must become 0.
    let letter = letter.wrapping_sub(b'a' - b'0');
    let command = COMMANDS[usize::from(letter) % COMMANDS.len()];
    let (tens, digit) = (time / 10, time % 10);
    (command(first, second), TIMES[usize::from(digit)] + 70 * u32::from(tens))
}

fn numbers<const N: usize>(line: Option<&[u8]>) -> [u8; N] {
    let mut numbers = [0; N];
    for (number, letter) in numbers.iter_mut().zip(line.unwrap_or_default()) {
        *number = letter.wrapping_sub(b'0');
    }
    numbers
}

fuzz_target!(|text: &[u8]| {
    let mut lines = text.split(|letter| *letter == b'\n');
    let (beginning, scope) = beginning(numbers(lines.next()));
    let mut trial = Trial::begin(beginning);
    for line in lines.take(MOST_STEPS) {
        let (command, millis) = step(numbers(Some(line)));
        if scope.allows(command) && has_room(&trial, command) {
            trial.perform(command, millis);
        }
        holds(&trial);
    }
    if let Err(unsettled) = trial.settle() {
        panic!("{unsettled}");
    }
    holds(&trial);
});

/// Asserts that no promise is broken.
fn holds(trial: &Trial) {
    let broken = trial.broken();
    assert!(broken.is_empty(), "{broken:#?}");
}

fn has_room(trial: &Trial, command: Command) -> bool {
    command != Command::AddNode || trial.cluster.nodes().count() < usize::from(MOST_NODES)
}

/// Whether a command makes caches lag.
fn makes_stale(command: Command) -> bool {
    matches!(command, Command::Lag { .. } | Command::Freeze { .. })
}
