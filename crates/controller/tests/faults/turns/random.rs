//! Random faults, lags, kills and people during rollouts in turns: each ends, and no node is left in turn.

use super::{
    add_tenants, cordon, ends, events, fleet, is_cordoned, keep_rules, node, open_gates, taken, turn_key,
};
use crate::cluster::CONTROLLER;
use crate::faults::Fault;
use crate::random_faults::{ALL, Seed, seeds};
use crate::rollouts::NEW;
use crate::store::Kind;
use daemonset_controller::rollout::policy::ProcessRole;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::sleep;

const POLICY: &str = "turn: {cordon: true, gates: [backup, drained]}\n\
                      drain: {podSelector: {matchExpressions: [{key: tenant, operator: Exists}]}}";

#[test]
fn turns_survive_random_faults() {
    let mut reached = BTreeMap::<&str, usize>::new();
    for seed in seeds(16) {
        let paused = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        for (what, times) in paused.expect("a runtime").block_on(story(seed)) {
            *reached.entry(what).or_default() += times;
        }
    }
    println!("{reached:?}");
    let never: Vec<_> = reached.iter().filter(|(_, times)| **times == 0).collect();
    assert!(seeds(16).count() < 10 || never.is_empty(), "{never:?}");
}

/// How often the story has reached each of these.
async fn story(seed: u64) -> [(&'static str, usize); 8] {
    let _printed_on_panic = Seed(seed);
    let mut rng = fastrand::Rng::with_seed(seed);
    // Pulls and changes in place come in some of them.
    let further = *rng.choice(["", "\npull: {parallel: 2}", "\ninPlace: IfPossible"].iter()).expect("one");
    let mut cluster = fleet(6, 2, &format!("{POLICY}{further}")).await;
    keep_rules(&cluster, &["backup", "drained"], 2);
    open_gates(
        &cluster.api,
        "backup",
        &turn_key(&cluster.daemon_set()),
        Duration::from_millis(rng.u64(..3000)),
    );
    add_tenants(&cluster);
    let with_kills = rng.bool();
    // A call that is done long after the death of its process is beyond what a successor can know.
    let faults: Vec<Fault> = ALL.into_iter().filter(|fault| !with_kills || !is_late(*fault)).collect();
    cluster.api.state().faults.at_random(rng.fork(), &faults);
    if !with_kills {
        for kind in [Kind::DaemonSet, Kind::Pod, Kind::Node, Kind::Revision, Kind::Namespace] {
            cluster.lag(kind, Duration::from_millis(rng.u64(..3000)));
        }
    }
    cluster.release(NEW);
    let mut kills = 0;
    for number in 0..30 {
        sleep(Duration::from_millis(rng.u64(500..1500))).await;
        match rng.u32(..10) {
            0 => cluster.break_watches(),
            1 if number < 20 => cluster.release(&format!("agent:turn-{number}")),
            2 => {
                let name = format!("n{:02}", rng.u32(..6));
                cordon(&cluster, &name, !is_cordoned(&node(&cluster, &name)));
            }
            3 if with_kills => {
                cluster.start(CONTROLLER, ProcessRole::Controller).await;
                kills += 1;
            }
            _ => {}
        }
    }
    cluster.api.state().faults.end();
    cluster.done(crate::cluster::HOUR).await;
    sleep(Duration::from_secs(400)).await;
    for number in 0..6 {
        // A cordon that is left is a person's.
        cordon(&cluster, &format!("n{number:02}"), false);
    }
    ends(&cluster).await;
    let lost = |fault: Fault| fault.comes_afterwards() || fault == Fault::BrokenLongBefore;
    let lost =
        ALL.into_iter().filter(|fault| lost(*fault)).map(|fault| cluster.happened(fault) as usize).sum();
    [
        ("killed", kills),
        ("a lost answer", lost),
        ("a pod was taken", taken(&cluster)),
        ("a node was drained", events(&cluster, "Drained")),
        ("images were pulled", events(&cluster, "PullingImages")),
        ("a pod was changed in its place", events(&cluster, "ChangedInPlace")),
        ("a person has uncordoned a node in turn", events(&cluster, "TurnLostCordon")),
        ("a node has changed under a turn", cluster.happened(Fault::Conflict) as usize),
    ]
}

fn is_late(fault: Fault) -> bool {
    matches!(fault, Fault::BrokenLongBefore | Fault::Silent | Fault::SilentAfterwards)
}
