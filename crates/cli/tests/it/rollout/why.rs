//! `why` of nodes that a rollout has reached, and of those that wait for it.

use super::{Fleet, NOW, WAVES};
use crate::program::run;
use insta::assert_snapshot;
use serde_json::json;

/// The sentences about the rollout of a node.
fn why(fleet: &Fleet, name: &str, node: &str) -> String {
    let ran = run("why", &[node, "-f", &fleet.file(name), "--now", NOW], b"");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let of_others = |line: &&str| {
        let others = ["Node ", "Pod ", "The figures", "The next plan"];
        !others.iter().any(|start| line.starts_with(start)) && !line.ends_with(" should run a pod.")
    };
    ran.out.lines().filter(of_others).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_node_of_a_wave_that_bakes_and_of_the_waves_after_it() {
    let fleet = Fleet::with_policy(WAVES).updated("a", 60);
    assert_snapshot!(why(&fleet, "why-a", "a"), @"
    Nothing is to be done here: its pod is updated and available.
    It belongs to wave 0, which is baking until 2026-01-01T01:09:00Z (in 9m).
    ");
    assert_snapshot!(why(&fleet, "why-b", "b"), @"The rollout has not reached it: it keeps the old version. It belongs to wave 1. Wave 1 opens at 2026-01-01T01:09:00Z, in 9m, when wave 0 has baked.");
    assert_snapshot!(why(&fleet, "why-d", "d"), @"The rollout has not reached it: it keeps the old version. It belongs to wave 2, and wave 1 opens before it. Wave 1 opens at 2026-01-01T01:09:00Z, in 9m, when wave 0 has baked. Wave 2 needs approval, too: kubectl daemonset rollout approve logging/agent --wave 2 gives it in advance.");
    assert_snapshot!(why(&fleet, "why-e", "e"), @"The rollout has not reached it: it keeps the old version. It belongs to no wave, so this is for good: a wave that selects it, or a larger upTo, would reach it.");
}

#[test]
fn a_wave_waits_for_nodes_that_have_no_available_pod() {
    let fleet = Fleet::with_policy(WAVES).pulling("a");
    assert_snapshot!(why(&fleet, "why-waits", "b"), @"The rollout has not reached it: it keeps the old version. It belongs to wave 1. Wave 1 waits until wave 0 is done (a has no available updated pod yet).");
}

#[test]
fn a_wave_waits_for_time_and_for_approval() {
    let policy = "waves: [{upTo: 1, bakeSeconds: 600}, {upTo: 3, needsApproval: true}]";
    let fleet = Fleet::with_policy(policy).updated("a", 60);
    assert_snapshot!(why(&fleet, "why-both", "b"), @"The rollout has not reached it: it keeps the old version. It belongs to wave 1. Wave 1 waits until wave 0 is done (baking until 2026-01-01T01:09:00Z, in 9m), and then for approval: kubectl daemonset rollout approve logging/agent --wave 1 gives it in advance.");
}

#[test]
fn a_wave_waits_for_approval() {
    let fleet = Fleet::with_policy(WAVES).updated("a", 900).updated("b", 900).updated("c", 900);
    assert_snapshot!(why(&fleet, "why-approval", "d"), @"The rollout has not reached it: it keeps the old version. It belongs to wave 2. Wave 2 waits for approval: kubectl daemonset rollout approve logging/agent --wave 2 gives it.");
}

#[test]
fn paused_and_failed() {
    let paused = Fleet::with_policy(WAVES).annotated("paused", "true");
    assert_snapshot!(why(&paused, "why-paused", "b"), @"The rollout has not reached it: it keeps the old version. It belongs to wave 1. The rollout is paused: kubectl daemonset rollout resume logging/agent lets it go on.");
    let judged = format!("{WAVES}onFailure: {{waitingSeconds: 300}}");
    let failed = Fleet::with_policy(&judged).updated("a", 900).pulling("b");
    assert_snapshot!(why(&failed, "why-failed-b", "b"), @"
    It waits until new-b is Ready. Pod new-b can't pull the image of container agent: ImagePullBackOff, since 2026-01-01T00:30:00Z (for 30m).
    The node counts as failing under the new version: pod new-b: a container waits (ImagePullBackOff).
    Run        kubectl describe pod -n logging new-b
               kubectl rollout undo -n logging daemonset/agent
    ");
    assert_snapshot!(why(&failed, "why-failed-c", "c"), @"The rollout has not reached it: it keeps the old version. It belongs to wave 1. The new version has failed (TooManyFailures), so that no further node gets it: a new template is a new start, and kubectl annotate -n logging controllerrevision/new rollout.daemonset/failed- gives this one another chance.");
}

#[test]
fn undone() {
    let judged = format!("{WAVES}onFailure: {{action: Undo, waitingSeconds: 300}}");
    let fleet = Fleet::with_policy(&judged).updated("a", 900).pulling("b");
    assert_snapshot!(why(&fleet, "why-undone-c", "c"), @"The rollout has not reached it: it keeps the old version. It belongs to wave 1. The new version has failed (TooManyFailures), and the template before it comes back.");
}

#[test]
fn rolled_back() {
    let judged = format!("{WAVES}onFailure: {{action: RollBack, waitingSeconds: 300}}");
    let fleet = Fleet::with_policy(&judged).updated("a", 900).pulling("b");
    assert_snapshot!(why(&fleet, "why-back-a", "a"), @"
    Its outdated pod waits, because maxUnavailable is spent: 1 node may be without an available pod, and 1 is so. It is spent by b (pod new-b can't pull the image of container agent: ImagePullBackOff, since 2026-01-01T00:30:00Z, for 30m). It goes once b has an available pod again.
    The new version has failed (TooManyFailures), so that every node goes back to old: a new template is a new start, and kubectl annotate -n logging controllerrevision/new rollout.daemonset/failed- gives this one another chance.
    Run        kubectl describe pod -n logging new-b
               kubectl rollout undo -n logging daemonset/agent
    ");
    assert_snapshot!(why(&fleet, "why-back-c", "c"), @"
    Nothing is to be done here: its pod is of the base revision, and available.
    The new version has failed (TooManyFailures), so that every node goes back to old: a new template is a new start, and kubectl annotate -n logging controllerrevision/new rollout.daemonset/failed- gives this one another chance.
    ");
}

#[test]
fn a_node_that_takes_no_part_follows_at_the_end() {
    let mut fleet = Fleet::with_policy(WAVES);
    fleet.nodes[4]["spec"] = json!({"taints": [{"key": "gpu", "effect": "NoExecute"}]});
    fleet.revisions[0]["data"]["spec"]["template"]["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
    assert_snapshot!(why(&fleet, "why-outside", "e"), @"The rollout has not reached it: it keeps the old version. By the new template it does not take part, so it follows when all nodes that do are released.");
}

#[test]
fn a_policy_that_can_not_be_read_pauses() {
    let fleet = Fleet::with_policy("{waves: [{upto: 1}]}");
    assert_snapshot!(why(&fleet, "why-invalid", "a"), @"
    The rollout has not reached it: it keeps the old version. The rollout counts as paused until its policy is repaired.
    The policy of the rollout is invalid: annotation rollout.daemonset/policy: waves[0].upto: unknown field `upto`, expected one of `nodes`, `upTo`, `bakeSeconds`, `needsApproval`.
    ");
}

#[test]
fn a_held_node_without_a_base() {
    let mut fleet = Fleet::with_policy(WAVES);
    fleet.revisions.remove(0);
    assert_snapshot!(why(&fleet, "why-no-base", "e"), @"
    The rollout has not reached it: it keeps the old version. It belongs to no wave, so this is for good: a wave that selects it, or a larger upTo, would reach it.
    Warning: 4 nodes wait for the rollout, but there is no old revision: a missing pod there gets the new version at once.
    ");
}
