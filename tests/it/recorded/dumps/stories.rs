//! The expected plan for each dump.

use super::words::{actions, fleet, outcome, outcomes};
use super::{Dump, stored_template};
use daemonset::model::{DaemonSetStatus, IntOrString, PodCondition};
use daemonset::report::{NodePlacement, RevisionOrigin, StrategyInForce};
use daemonset::{Plan, Recording, plan};
use insta::{allow_duplicates, assert_snapshot};
use serde_json::Value;
use std::collections::BTreeMap;

#[test]
fn fresh_gets_a_revision_and_a_pod_on_every_node() {
    for name in ["logging/fluent-bit", "monitoring/node-exporter"] {
        let plan = planned(&Dump::load("fresh").daemon_set(name));
        allow_duplicates!(assert_snapshot!(actions(&plan), @r"
        create revision 1 (NewTemplate)
        create a pod on node-1 in batch 0 (MissingPod)
        create a pod on node-2 in batch 1 (MissingPod)
        create a pod on node-3 in batch 1 (MissingPod)
        create a pod on node-4 in batch 2 (MissingPod)
        create a pod on node-5 in batch 2 (MissingPod)
        update the status (Changed)
        "));
        assert_eq!(current(&plan).1, RevisionOrigin::Created);
        // The figures of the snapshot, before this plan is executed.
        let expected = DaemonSetStatus {
            desired_number_scheduled: 5,
            number_unavailable: 5,
            observed_generation: 1,
            ..DaemonSetStatus::default()
        };
        assert_eq!(plan.status, Some(expected));
    }
}

#[test]
fn steady_has_nothing_to_do() {
    let dump = Dump::load("steady");
    let revisions = [
        ("logging/fluent-bit", "fluent-bit-6cc766b6b"),
        ("monitoring/node-exporter", "node-exporter-557c97bf74"),
    ];
    for (name, revision) in revisions {
        let recording = dump.daemon_set(name);
        let plan = planned(&recording);
        assert_eq!(plan.actions, []);
        assert_eq!(plan.warnings, []);
        assert_eq!(current(&plan), (revision, RevisionOrigin::Kept));
        assert_eq!(plan.status, Some(recording.daemon_set.status));
        assert_eq!(outcomes(&plan), BTreeMap::from([("UpToDate".to_owned(), 5)]));
    }
}

#[test]
fn steady_finds_any_revision_that_holds_the_template() {
    let mut recording = Dump::load("steady").daemon_set("monitoring/node-exporter");
    assert_eq!(recording.revisions.len(), 3);
    for revision in recording.revisions.clone() {
        recording.daemon_set.spec.template = stored_template(&revision.data);
        let origin = if revision.revision == 3 { RevisionOrigin::Kept } else { RevisionOrigin::CurrentAgain };
        assert_eq!(current(&planned(&recording)), (revision.metadata.name.as_str(), origin));
    }
}

#[test]
fn steady_stays_steady_over_revisions_that_an_older_server_stored() {
    let mut recording = Dump::load("steady").daemon_set("monitoring/node-exporter");
    for revision in &mut recording.revisions {
        revision.data["spec"]["template"]["metadata"]["creationTimestamp"] = Value::Null;
    }
    assert_eq!(planned(&recording).actions, []);
}

#[test]
fn midrollout_waits_because_the_budget_is_spent() {
    let recording = Dump::load("midrollout").daemon_set("monitoring/node-exporter");
    let plan = planned(&recording);
    assert_eq!(plan.actions, []);
    assert_snapshot!(fleet(&plan), @r"
    node-1: Run, hxw9r of revision 1 (OldRevision) Available: Waits(MaxUnavailable { used: 1, limit: 1 })
    node-2: Run, h446g of revision 2 (TemplateGeneration) Pending: Waits(Ready)
    node-3: Run, f7xm5 of revision 2 (TemplateGeneration) Available: UpToDate
    node-4: Run, ghwxh of revision 2 (TemplateGeneration) Available: UpToDate
    node-5: Run, h5v6t of revision 1 (OldRevision) Available: Waits(MaxUnavailable { used: 1, limit: 1 })
    ");
    assert_eq!(plan.status, Some(recording.daemon_set.status));
}

#[test]
fn midrollout_goes_on_when_the_new_pod_is_ready() {
    let mut recording = Dump::load("midrollout").daemon_set("monitoring/node-exporter");
    make_ready(&mut recording);
    let plan = planned(&recording);
    assert_snapshot!(actions(&plan), @r"
    delete hxw9r on node-1 (OutdatedAvailable)
    update the status (Changed)
    ");
    assert_snapshot!(plan.report.nodes[4].pods[0].pod.name, @"node-exporter-h5v6t");
    assert_snapshot!(outcome(&plan.report.nodes[4]), @"Waits(MaxUnavailable { used: 1, limit: 1 })");
}

#[test]
fn surge_waits_for_the_new_pod_beside_the_old_one() {
    let recording = Dump::load("surge").daemon_set("logging/fluent-bit");
    let plan = planned(&recording);
    assert_snapshot!(actions(&plan), @"update the status (Changed)");
    assert_snapshot!(fleet(&plan), @r"
    node-1: Run, gzlls of revision 2 (TemplateGeneration) Pending, r4cx9 of revision 1 (OldRevision) Available: Waits(Ready)
    node-2: Run, w2tfg of revision 1 (OldRevision) Available: Waits(MaxSurge { used: 1, limit: 1 })
    node-3: Run, lkmvf of revision 1 (OldRevision) Available: Waits(MaxSurge { used: 1, limit: 1 })
    node-4: Run, 2mdbf of revision 1 (OldRevision) Available: Waits(MaxSurge { used: 1, limit: 1 })
    node-5: Run, w4qrb of revision 2 (TemplateGeneration) Available: UpToDate
    ");
    // Kubernetes' controller stopped before it counted node-5, whose old pod had just gone. node-1 still has its own
    // pod and is not updated.
    let stored = recording.daemon_set.status;
    assert_eq!(stored.updated_number_scheduled, 0);
    assert_eq!(plan.status, Some(DaemonSetStatus { updated_number_scheduled: 1, ..stored }));
}

#[test]
fn surge_goes_on_when_the_new_pod_is_ready() {
    let mut recording = Dump::load("surge").daemon_set("logging/fluent-bit");
    make_ready(&mut recording);
    // The old pod holds its place in maxSurge until it is gone, so that no other node is next.
    assert_snapshot!(actions(&planned(&recording)), @r"
    delete r4cx9 on node-1 (SuccessorAvailable)
    update the status (Changed)
    ");
    recording.pods.retain(|pod| !pod.metadata.name.ends_with("r4cx9"));
    assert_snapshot!(actions(&planned(&recording)), @r"
    create a pod on node-2 in batch 0 (Surge)
    update the status (Changed)
    ");
}

#[test]
fn tainted_leaves_every_node_as_it_is() {
    let recording = Dump::load("tainted").daemon_set("logging/fluent-bit");
    let plan = planned(&recording);
    assert_eq!(plan.actions, []);
    assert_snapshot!(fleet(&plan), @r"
    node-1: Run, dmm2n of revision 1 (TemplateGeneration) Available: UpToDate
    node-2: ContinueOnly dedicated=gpu:NoSchedule: NotTarget
    node-3 (cordoned): Run, xlt5c of revision 1 (TemplateGeneration) Available: UpToDate
    node-4 (not Ready): ContinueOnly node.kubernetes.io/not-ready=:NoSchedule, vtfld of revision 1 (TemplateGeneration) Available: NotTarget
    node-5: ContinueOnly maintenance=true:NoSchedule, gwtqn of revision 1 (TemplateGeneration) Available: NotTarget
    node-6: UntoleratedNoExecute broken=true:NoExecute: NotTarget
    node-7: NodeSelectorMismatch: NotTarget
    node-8: Run, 8fsvg of revision 1 (TemplateGeneration) Available: UpToDate
    ");
    // The pods of node-4 and node-5 are older than the taints.
    assert_eq!(recording.daemon_set.status.number_misscheduled, 2);
    assert_eq!(plan.status, Some(recording.daemon_set.status));
}

#[test]
fn a_template_that_tolerates_everything_runs_on_all_tainted_nodes() {
    let recording = Dump::load("tainted").daemon_set("monitoring/node-exporter");
    let plan = planned(&recording);
    assert_eq!(plan.actions, []);
    assert!(plan.report.nodes.iter().all(|node| node.placement == NodePlacement::Run));
    assert_eq!(outcomes(&plan), BTreeMap::from([("UpToDate".to_owned(), 8)]));
    assert_eq!(plan.status, Some(recording.daemon_set.status));
}

#[test]
fn undo_makes_the_older_revision_current_again() {
    let recording = Dump::load("undo").daemon_set("monitoring/node-exporter");
    let plan = planned(&recording);
    assert_snapshot!(actions(&plan), @r"
    renumber node-exporter-6ddcdf997f to 4 (CurrentAgain)
    delete wg6gl on node-5 (OutdatedPending)
    update the status (Changed)
    ");
    assert_eq!(current(&plan), ("node-exporter-6ddcdf997f", RevisionOrigin::CurrentAgain));
    assert_snapshot!(fleet(&plan), @r"
    node-1: Run, r8qb6 of revision 4 (CurrentRevision) Available: UpToDate
    node-2: Run, 66b84 of revision 3 (OldRevision) Available: Waits(MaxUnavailable { used: 1, limit: 1 })
    node-3: Run, 669t5 of revision 4 (CurrentRevision) Available: UpToDate
    node-4: Run, 68lkb of revision 4 (CurrentRevision) Available: UpToDate
    node-5: Run, wg6gl of revision 3 (OldRevision) Pending: Delete { reason: OutdatedPending, rejected: None }
    ");
    let stored = recording.daemon_set.status;
    let expected = DaemonSetStatus { observed_generation: 4, updated_number_scheduled: 3, ..stored };
    assert_eq!(plan.status, Some(expected));
}

#[test]
fn large_waits_because_a_tenth_of_the_nodes_is_down() {
    let recording = Dump::load("large").daemon_set("monitoring/node-exporter");
    let plan = planned(&recording);
    assert_eq!(plan.actions, []);
    assert_eq!(plan.report.strategy, Some(StrategyInForce::Replace(IntOrString::Percent(10))));
    let expected =
        [("Waits(MaxUnavailable { used: 10, limit: 10 })", 50), ("UpToDate", 40), ("Waits(Ready)", 10)];
    assert_eq!(outcomes(&plan), expected.map(|(outcome, nodes)| (outcome.to_owned(), nodes)).into());
    assert_eq!(plan.status, Some(recording.daemon_set.status));
}

#[test]
fn large_goes_on_with_a_tenth_of_the_nodes() {
    let mut recording = Dump::load("large").daemon_set("monitoring/node-exporter");
    make_ready(&mut recording);
    let expected = [
        ("Delete { reason: OutdatedAvailable, rejected: None }", 10),
        ("Waits(MaxUnavailable { used: 10, limit: 10 })", 40),
        ("UpToDate", 50),
    ];
    let outcomes = outcomes(&planned(&recording));
    assert_eq!(outcomes, expected.map(|(outcome, nodes)| (outcome.to_owned(), nodes)).into());
}

#[test]
fn large_is_steady_for_the_other_daemon_set() {
    let recording = Dump::load("large").daemon_set("logging/fluent-bit");
    let plan = planned(&recording);
    assert_eq!(plan.actions, []);
    assert_eq!(current(&plan), ("fluent-bit-6cc766b6b", RevisionOrigin::Kept));
    assert_eq!(outcomes(&plan), BTreeMap::from([("UpToDate".to_owned(), 100)]));
    assert_eq!(plan.status, Some(recording.daemon_set.status));
}

fn planned(recording: &Recording) -> Plan {
    plan(&recording.snapshot().unwrap())
}

/// The next state: the pods that are not Ready become Ready.
fn make_ready(recording: &mut Recording) {
    let now = Some(recording.now);
    for pod in &mut recording.pods {
        let ready = pod.status.conditions.iter_mut().find(|condition| condition.kind == "Ready").unwrap();
        if ready.status != "True" {
            pod.status.phase = "Running".into();
            *ready = PodCondition { status: "True".into(), last_transition_time: now, ..ready.clone() };
        }
    }
}

fn current(plan: &Plan) -> (&str, RevisionOrigin) {
    let current = plan.report.current_revision.as_ref().unwrap();
    (&current.name, current.origin)
}
