//! `why` of nodes that a rollout has reached, and of those that wait for it.

use super::{Fleet, NOW, WAVES, pod, revision};
use crate::program::run;
use insta::assert_snapshot;
use serde_json::{Value, json};

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
    assert_snapshot!(why(&fleet, "why-d", "d"), @"The rollout has not reached it: it keeps the old version. It belongs to wave 2, and wave 1 opens before it. Wave 1 opens at 2026-01-01T01:09:00Z, in 9m, when wave 0 has baked. Wave 2 needs approval, too: kubectl daemonset rollout approve logging/agent --wave 2 tells how to give it in advance.");
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
    assert_snapshot!(why(&fleet, "why-both", "b"), @"The rollout has not reached it: it keeps the old version. It belongs to wave 1. Wave 1 waits until wave 0 is done (baking until 2026-01-01T01:09:00Z, in 9m), and then for approval: kubectl daemonset rollout approve logging/agent --wave 1 tells how to give it in advance.");
}

#[test]
fn a_wave_waits_for_approval() {
    let fleet = Fleet::with_policy(WAVES).updated("a", 900).updated("b", 900).updated("c", 900);
    assert_snapshot!(why(&fleet, "why-approval", "d"), @"The rollout has not reached it: it keeps the old version. It belongs to wave 2. Wave 2 waits for approval: kubectl daemonset rollout approve logging/agent --wave 2 tells how to give it.");
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
    Its pod of another revision waits, because maxUnavailable is spent: 1 node may be without an available pod, and 1 is so. It is spent by b (pod new-b can't pull the image of container agent: ImagePullBackOff, since 2026-01-01T00:30:00Z, for 30m). It goes once b has an available pod again.
    The new version has failed (TooManyFailures), so that every node goes back to old: a new template is a new start, and kubectl annotate -n logging controllerrevision/new rollout.daemonset/failed- gives this one another chance.
    Run        kubectl describe pod -n logging new-b
               kubectl rollout undo -n logging daemonset/agent
    ");
    assert_snapshot!(why(&fleet, "why-back-c", "c"), @"
    Nothing is to be done here: its pod is of the stable revision, and available.
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
fn a_held_node_without_a_stable_revision() {
    let mut fleet = Fleet::with_policy(WAVES);
    fleet.revisions.remove(0);
    assert_snapshot!(why(&fleet, "why-no-stable", "e"), @"
    The rollout has not reached it: it keeps the old version. It belongs to no wave, so this is for good: a wave that selects it, or a larger upTo, would reach it.
    Warning: 4 nodes wait for the rollout, but there is no old revision: a missing pod there gets the new version at once.
    ");
}

/// All sentences about a node or a pod, without the commands.
fn all(fleet: &Fleet, name: &str, subject: &str) -> String {
    let printed = fleet.printed(name, &format!("why {subject} -f"));
    printed.lines().filter(|line| !line.contains("kubectl ")).collect::<Vec<_>>().join("\n")
}

const ROLL_BACK: &str = "{waves: [{upTo: 1}, {}], onFailure: {action: RollBack}}";
const FAILED: &str = "2 2026-01-01T00:50:00Z TooManyFailures";

#[test]
fn a_roll_back_replaces_pods_by_those_of_the_stable_revision_revision() {
    let mut fleet = Fleet::with_policy(ROLL_BACK).marked("failed", FAILED).updated("a", 900);
    assert_snapshot!(all(&fleet, "why-goes-back", "a"), @"
    Node a, DaemonSet logging/agent
    a should run a pod.
    Pod new-a is updated, of revision #2; it is Ready and available since 2026-01-01T00:45:00Z (for 15m). This plan deletes it: not of the stable revision, within the budget.
    A pod of the stable revision follows when it is gone.
    ");
    assert_snapshot!(all(&fleet, "why-goes-back-pod", "new-a"), @"
    Pod new-a, DaemonSet logging/agent
    It is on node a. Pod new-a is updated, of revision #2; it is Ready and available since 2026-01-01T00:45:00Z (for 15m). This plan deletes it: not of the stable revision, within the budget.
    a should run a pod.
    A pod of the stable revision follows when it is gone.
    ");
    fleet.pods.retain(|pod| pod["spec"]["nodeName"] != "a");
    fleet.pods.push(not_ready(pod("a", "old", 60)));
    assert_snapshot!(all(&fleet, "why-came-back", "a"), @"
    Node a, DaemonSet logging/agent
    a should run a pod.
    Pod old-a is outdated, of revision #1 (the current one is #2); it runs, but has not been Ready since 2026-01-01T00:59:00Z (for 60s).
    It waits until old-a is Ready.
    ");
    let mut going = pod("a", "new", 900);
    going["metadata"]["deletionTimestamp"] = json!("2026-01-01T01:00:10Z");
    *fleet.pods.last_mut().unwrap() = going;
    assert_snapshot!(all(&fleet, "why-going-back", "a"), @"
    Node a, DaemonSet logging/agent
    a should run a pod.
    Pod new-a is updated, of revision #2; it is terminating, and should be gone at 2026-01-01T01:00:10Z, in 10s.
    It waits until new-a is gone: a pod of the stable revision follows then.
    ");
}

#[test]
fn a_roll_back_under_surge_and_on_delete() {
    let mut fleet =
        Fleet::with_policy(ROLL_BACK).marked("failed", FAILED).updated("a", 900).updated("b", 900);
    fleet.daemon_set["spec"]["updateStrategy"] =
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}});
    assert_snapshot!(all(&fleet, "why-surges-back", "a"), @"
    Node a, DaemonSet logging/agent
    a should run a pod.
    Pod new-a is updated, of revision #2; it is Ready and available since 2026-01-01T00:45:00Z (for 15m).
    This plan creates its pod of the stable revision at once, beside the one of another revision, which goes when the new one is available.
    ");
    assert_snapshot!(all(&fleet, "why-surges-back-later", "b"), @"
    Node b, DaemonSet logging/agent
    b should run a pod.
    Pod new-b is updated, of revision #2; it is Ready and available since 2026-01-01T00:45:00Z (for 15m).
    Its pod of another revision waits, because maxSurge is spent: 1 node may have two pods, and 1 has. It is spent by a (CREATE: of the stable revision, beside the one of another revision). The pod of the stable revision comes beside it once a has a single pod again.
    ");
    fleet.pods.push(not_ready(pod("a", "old", 60)));
    assert_snapshot!(all(&fleet, "why-surged-back", "a"), @"
    Node a, DaemonSet logging/agent
    a should run a pod.
    Pod new-a is updated, of revision #2; it is Ready and available since 2026-01-01T00:45:00Z (for 15m).
    Pod old-a is outdated, of revision #1 (the current one is #2); it runs, but has not been Ready since 2026-01-01T00:59:00Z (for 60s).
    It waits until old-a is Ready. Its pod of another revision goes once the one of the stable revision is available.
    ");
    fleet.pods.pop();
    fleet.daemon_set["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
    assert_snapshot!(why(&fleet, "why-back-on-delete", "a"), @"
    The strategy is OnDelete: its pod of another revision stays until somebody deletes it, as by kubectl delete pod -n logging new-a.
    The new version has failed (TooManyFailures), so that every node goes back to old: a new template is a new start, and kubectl annotate -n logging controllerrevision/new rollout.daemonset/failed- gives this one another chance.
    ");
}

/// The table and the actions of a plan.
fn planned(fleet: &Fleet, name: &str) -> String {
    let printed = fleet.printed(name, "plan");
    let (_, table) = printed.split_once("\n\n").unwrap();
    table.split_once("\n\nNext").unwrap().0.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The table and the actions of a plan have the words of `why`.
#[test]
fn a_plan_that_rolls_back_names_the_stable_revision_revision() {
    let mut fleet =
        Fleet::with_policy(ROLL_BACK).marked("failed", FAILED).updated("a", 900).updated("b", 900);
    assert_snapshot!(planned(&fleet, "plan-goes-back"), @r#"
    NODE  PLACEMENT  POD    REVISION            STATE              NOW
    a     run        new-a  updated #2 by hash  available for 15m  DELETE: not of the stable revision, within the budget
    b     run        new-b  updated #2 by hash  available for 15m  waits: maxUnavailable spent (1 of 1)
    c     run        old-c  outdated #1         available for 30m  on the stable revision
    d     run        old-d  outdated #1         available for 30m  on the stable revision
    e     run        old-e  outdated #1         available for 30m  on the stable revision

    Actions, in order
      1. mark revision new rollout.daemonset/started="2 2026-01-01T01:00:00Z": the rollout begins
      2. delete pod new-a on a: not of the stable revision, within the budget
      3. write status as it has changed: updated 0 -> 2
    "#);
    fleet.daemon_set["spec"]["updateStrategy"] =
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}});
    assert_snapshot!(planned(&fleet, "plan-surges-back"), @r#"
    NODE  PLACEMENT  POD    REVISION            STATE              NOW
    a     run        new-a  updated #2 by hash  available for 15m  CREATE: of the stable revision, beside the one of another
                                                                   revision
    b     run        new-b  updated #2 by hash  available for 15m  waits: maxSurge spent (1 of 1)
    c     run        old-c  outdated #1         available for 30m  on the stable revision
    d     run        old-d  outdated #1         available for 30m  on the stable revision
    e     run        old-e  outdated #1         available for 30m  on the stable revision

    Actions, in order
      1. mark revision new rollout.daemonset/started="2 2026-01-01T01:00:00Z": the rollout begins
      2. create pod on a (batch 0): of the stable revision, beside the one of another revision
      3. write status as it has changed: updated 0 -> 2
    "#);
}

fn not_ready(mut pod: Value) -> Value {
    pod["status"]["conditions"][0]["status"] = json!("False");
    pod
}

#[test]
fn a_broken_pod_of_a_held_node_comes_back_as_the_stable_revision() {
    let mut failed = Fleet::with_policy(WAVES).updated("a", 60);
    failed.pods[0]["status"] = json!({"phase": "Failed"});
    assert_snapshot!(all(&failed, "why-held-failed", "b"), @"
    Node b, DaemonSet logging/agent
    b should run a pod.
    Pod old-b is outdated, of revision #1 (the current one is #2); it has failed. This plan deletes it: it has failed.
    A pod of the stable revision follows when it is gone.
    ");
    let mut abandoned = Fleet::with_policy(WAVES).updated("a", 60);
    abandoned.revisions[1]["revision"] = json!(3);
    abandoned.revisions.push(revision("abandoned", 2, "agent:broken"));
    abandoned.pods[0] = not_ready(pod("b", "abandoned", 60));
    assert_snapshot!(all(&abandoned, "why-abandoned", "b"), @"
    Node b, DaemonSet logging/agent
    b should run a pod.
    Pod abandoned-b is outdated, of revision #2 (the current one is #3); it runs, but has not been Ready since 2026-01-01T00:59:00Z (for 60s). This plan deletes it: not of the stable revision and not Ready, down anyway.
    A pod of the stable revision follows when it is gone.
    ");
    // The same pod on a node that the rollout reaches.
    let mut reached = Fleet::with_policy("waves: [{}]").updated("a", 60);
    reached.pods[0]["status"] = json!({"phase": "Failed"});
    assert_snapshot!(all(&reached, "why-reached-failed", "b"), @"
    Node b, DaemonSet logging/agent
    b should run a pod.
    Pod old-b is outdated, of revision #1 (the current one is #2); it has failed. This plan deletes it: it has failed.
    An updated pod follows when it is gone.
    It belongs to wave 0, which is updating.
    ");
}

#[test]
fn a_held_node_that_the_stable_revision_revision_does_not_want() {
    let mut fleet = Fleet::with_policy("paused: true");
    fleet.pods.retain(|pod| pod["spec"]["nodeName"] != "b");
    fleet.nodes[0]["metadata"]["labels"]["disk"] = json!("ssd");
    let stable = &mut fleet.revisions[0]["data"]["spec"]["template"]["spec"];
    stable["nodeSelector"] = json!({"disk": "ssd"});
    assert_snapshot!(all(&fleet, "why-stable-selector", "b"), @"
    Node b, DaemonSet logging/agent
    b must not run a pod: the stable template's nodeSelector does not match, as disk=ssd is wanted and the node has no label disk.
    It has no pod of the DaemonSet.
    Nothing is to be done here.
    ");
    let stable = &mut fleet.revisions[0]["data"]["spec"]["template"]["spec"];
    stable["nodeSelector"] = json!({});
    stable["nodeName"] = json!("a");
    assert_snapshot!(all(&fleet, "why-stable-name", "b"), @"
    Node b, DaemonSet logging/agent
    b must not run a pod: the stable template names the node a.
    It has no pod of the DaemonSet.
    Nothing is to be done here.
    ");
}

#[test]
fn a_taint_that_neither_template_tolerates() {
    let tainted = |policy: &str| {
        let mut fleet = Fleet::with_policy(policy);
        fleet.nodes[4]["spec"] = json!({"taints": [{"key": "gpu", "effect": "NoExecute"}]});
        fleet
    };
    assert_snapshot!(all(&tainted(WAVES), "why-taint-of-stable", "e"), @"
    Node e, DaemonSet logging/agent
    e must not run a pod: the stable template does not tolerate the taint gpu:NoExecute.
    Pod old-e is outdated, of revision #1 (the current one is #2); it is Ready and available since 2026-01-01T00:30:00Z (for 30m). This plan deletes it: the node must not run it.
    No other pod follows.
    ");
    // The nodes that take no part follow once all others are released.
    let mut released = tainted("waves: [{upTo: 2}, {}]").updated("a", 900).updated("b", 900);
    released.pods.retain(|pod| pod["spec"]["nodeName"] != "e");
    assert_snapshot!(all(&released, "why-taint-at-the-end", "e"), @"
    Node e, DaemonSet logging/agent
    e must not run a pod: the template does not tolerate the taint gpu:NoExecute.
    It has no pod of the DaemonSet.
    Nothing is to be done here.
    ");
}

#[test]
fn a_pod_of_a_daemon_set_without_verdicts() {
    let mut fleet = Fleet::with_policy(WAVES);
    fleet.daemon_set["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:59:00Z");
    fleet.daemon_set["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
    assert_snapshot!(all(&fleet, "why-deleted", "old-a"), @"
    Pod old-a, DaemonSet logging/agent
    Nothing is done for any node: the DaemonSet is being deleted.
    ");
    // A plan that is refused, beside another DaemonSet whose plan is not.
    let mut refused = Fleet::with_policy(WAVES);
    refused.daemon_set["spec"]["selector"] = json!({"matchLabels": {"app": "another"}});
    refused.nodes.push(crate::plan::daemon_set("beside"));
    assert_snapshot!(all(&refused, "why-refused", "old-a"), @r#"
    Pod old-a, DaemonSet logging/agent
    There is no plan: spec.template.metadata.labels: Invalid value: {"app": "agent"}: must match spec.selector, or each created pod would be released at once
    "#);
    // Another controller releases the pods of a driven update.
    let mut driven = Fleet::with_policy("drive: {type: RollingUpdate}");
    driven.daemon_set["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
    driven.pods[0]["metadata"]["labels"] = json!({});
    assert_snapshot!(all(&driven, "why-driven", "old-a"), @"
    Pod old-a, DaemonSet logging/agent
    The DaemonSet is its controller, and this plan leaves it alone.
    ");
    // The owner of the same name is another.
    driven.pods[0]["metadata"]["ownerReferences"][0]["uid"] = json!("before");
    assert_snapshot!(all(&driven, "why-of-before", "old-a"), @"
    Pod logging/old-a on a belongs to none of these DaemonSets: its controller is DaemonSet agent.
    ");
}
