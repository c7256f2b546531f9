//! The API server executes requests, or refuses them for the same reasons as a real one.

use super::{agent, cluster, exists, pod_on, seconds, settings, template, uid_on};
use daemonset::model::{Labels, ObjectRef, Uid};
use daemonset::policy::PodNames;
use daemonset::{Action, ActionOutcome, ClaimReason, DeleteReason, LabelReason, Snapshot, StatusReason};
use daemonset_sim::{Cluster, Planner};
use serde_json::json;
use std::cell::RefCell;
use std::rc::Rc;

/// A controller that executes a script once, and nothing else.
#[derive(Clone, Default)]
struct Script {
    todo: Rc<RefCell<Vec<Action>>>,
    outcomes: Rc<RefCell<Vec<ActionOutcome>>>,
}

impl Planner for Script {
    fn plan(&mut self, _: &Snapshot<'_>) -> Vec<Action> {
        self.todo.take()
    }

    fn record(&mut self, _: &Action, outcome: &ActionOutcome) {
        self.outcomes.borrow_mut().push(outcome.clone());
    }
}

/// A cluster of one node whose controller executes its first plan, and then a script.
fn scripted() -> (Cluster, Script) {
    let mut settings = settings();
    settings.controller.policy.pod_names = PodNames::Deterministic;
    let mut cluster = cluster(settings, &["a"]);
    let script = Script::default();
    cluster.set_planner(script.clone());
    cluster.create_daemon_set(agent(template("v1")));
    cluster.run_for(seconds(1));
    (cluster, script)
}

/// The outcomes of these actions, up to the first that fails.
fn outcomes(cluster: &mut Cluster, script: &Script, actions: &[Action]) -> Vec<ActionOutcome> {
    script.todo.replace(actions.to_vec());
    script.outcomes.take();
    // A change of an object, so that the controller reconciles.
    let poke = cluster.history().len().to_string();
    cluster.label_node("a", "poke", &poke);
    cluster.run_for(seconds(1));
    assert!(script.todo.borrow().is_empty(), "the controller has not reconciled");
    script.outcomes.take()
}

fn planned(cluster: &Cluster) -> Vec<Action> {
    cluster.plan().unwrap().unwrap().actions
}

fn reference(cluster: &Cluster, node: &str) -> ObjectRef {
    let metadata = pod_on(cluster, node).metadata;
    ObjectRef {
        namespace: metadata.namespace,
        name: metadata.name,
        uid: metadata.uid,
        ..ObjectRef::default()
    }
}

fn delete(pod: ObjectRef) -> Action {
    Action::delete_pod("a".into(), pod, DeleteReason::ExcessPod)
}

#[test]
fn a_name_is_unique() {
    let (mut cluster, script) = scripted();
    let actions = planned(&cluster);
    let [Action::CreateRevision { revision, reason, .. }, create @ Action::CreatePod { .. }, ..] =
        &actions[..]
    else {
        panic!("{actions:#?}")
    };
    let done = outcomes(&mut cluster, &script, &actions);
    assert!(
        matches!(done[..], [ActionOutcome::Done, ActionOutcome::Created(_), ActionOutcome::Done]),
        "{done:?}"
    );
    let create = std::slice::from_ref(create);
    assert_eq!(outcomes(&mut cluster, &script, create), [ActionOutcome::Rejected], "AlreadyExists");
    assert_eq!(
        outcomes(&mut cluster, &script, &actions[..1]),
        [ActionOutcome::Done],
        "a revision a revision of the same content"
    );
    let mut other = revision.clone();
    other["data"]["spec"]["template"]["spec"]["containers"][0]["image"] = json!("v2");
    let other = Action::create_revision(other, *reason);
    assert_eq!(outcomes(&mut cluster, &script, &[other]), [ActionOutcome::Rejected], "AlreadyExists");
    assert_eq!((cluster.pods().count(), cluster.revisions().count()), (1, 1));
}

#[test]
fn a_stale_status_conflicts() {
    let (mut cluster, script) = scripted();
    let status = |cluster: &Cluster, number| {
        let ds = cluster.daemon_set().unwrap();
        let status = daemonset::model::DaemonSetStatus { number_misscheduled: number, ..ds.status.clone() };
        Action::update_status(named(ds), status, StatusReason::Changed)
    };
    let stale = status(&cluster, 7);
    cluster.edit(|ds| ds.spec.min_ready_seconds = 1);
    let fresh = status(&cluster, 8);
    assert_eq!(outcomes(&mut cluster, &script, std::slice::from_ref(&stale)), [ActionOutcome::Rejected]);
    let twice = [fresh.clone(), fresh];
    assert_eq!(
        outcomes(&mut cluster, &script, &twice),
        [ActionOutcome::Done, ActionOutcome::Rejected],
        "it is stale by itself"
    );
    assert_eq!(cluster.status().number_misscheduled, 8);
}

fn named(ds: &daemonset::model::DaemonSet) -> ObjectRef {
    ObjectRef {
        namespace: ds.metadata.namespace.clone(),
        name: ds.metadata.name.clone(),
        uid: ds.metadata.uid.clone(),
        resource_version: ds.metadata.resource_version.clone(),
    }
}

#[test]
fn uids_are_preconditions_and_missing_objects_count_as_deleted() {
    let (mut cluster, script) = scripted();
    let actions = planned(&cluster);
    outcomes(&mut cluster, &script, &actions);
    let pod = reference(&cluster, "a");
    let yesterdays = ObjectRef { uid: Uid::from("yesterday"), ..pod.clone() };
    let mut ask = |action: Action| outcomes(&mut cluster, &script, &[action]);
    assert_eq!(ask(delete(yesterdays.clone())), [ActionOutcome::Done], "the object is gone");
    let labels = Labels::from_iter([("x", "y")]);
    let (reason, yes) = (LabelReason::HashMissing, yesterdays.clone());
    assert_eq!(ask(Action::label_pod(yes, labels.clone(), reason)), [ActionOutcome::Rejected]);
    let reason = ClaimReason::SelectorMatches;
    assert_eq!(ask(Action::adopt_pod(yesterdays.clone(), reason)), [ActionOutcome::Rejected]);
    assert_eq!(ask(Action::release_pod(yesterdays, reason)), [ActionOutcome::Rejected]);
    let owned = pod.clone();
    assert_eq!(ask(Action::adopt_pod(owned, reason)), [ActionOutcome::Rejected], "it has a controller");
    let gone = ObjectRef { uid: Uid::from("yesterday"), name: "agent-x".to_owned(), ..pod.clone() };
    let reason = daemonset::RevisionReason::HistoryLimit;
    assert_eq!(ask(Action::delete_revision(gone.clone(), reason)), [ActionOutcome::Done]);
    assert_eq!(ask(Action::renumber_revision(gone, 9, reason)), [ActionOutcome::Rejected]);
    assert!(exists(&cluster, &pod.uid) && pod_on(&cluster, "a").metadata.deletion_timestamp.is_none());
    assert_eq!(
        outcomes(&mut cluster, &script, &[delete(pod.clone()), delete(pod.clone())]),
        [ActionOutcome::Done, ActionOutcome::Done]
    );
    cluster.run_for(seconds(10));
    assert!(!exists(&cluster, &pod.uid));
}

#[test]
fn a_claim_changes_the_owners() {
    let (mut cluster, script) = scripted();
    let actions = planned(&cluster);
    outcomes(&mut cluster, &script, &actions);
    let pod = reference(&cluster, "a");
    let reason = ClaimReason::SelectorNoLongerMatches;
    let owners = |cluster: &Cluster| pod_on(cluster, "a").metadata.owner_references.len();
    assert_eq!(
        outcomes(&mut cluster, &script, &[Action::release_pod(pod.clone(), reason)]),
        [ActionOutcome::Done]
    );
    assert_eq!(owners(&cluster), 0);
    let adopt = Action::adopt_pod(pod, reason);
    assert_eq!(
        outcomes(&mut cluster, &script, &[adopt.clone(), adopt]),
        [ActionOutcome::Done, ActionOutcome::Rejected]
    );
    assert_eq!(owners(&cluster), 1);
}

#[test]
fn an_edit_raises_the_generations_that_it_should() {
    let mut cluster = super::running(&["a"]);
    let generations = |cluster: &Cluster| {
        let metadata = &cluster.daemon_set().unwrap().metadata;
        let template = metadata.annotations.get("deprecated.daemonset.template.generation");
        (metadata.generation, template.unwrap().to_owned())
    };
    assert_eq!(generations(&cluster), (1, "1".to_owned()));
    cluster.edit(|ds| ds.spec.min_ready_seconds = 3);
    assert_eq!(generations(&cluster), (2, "1".to_owned()));
    cluster.edit(|ds| ds.spec.template = template("v2"));
    assert_eq!(generations(&cluster), (3, "2".to_owned()));
    let before = cluster.daemon_set().unwrap().clone();
    cluster.edit(|ds| ds.status.number_ready = 99);
    assert_eq!(*cluster.daemon_set().unwrap(), before, "a user can't write the status");
    let uid = uid_on(&cluster, "a");
    assert_eq!(uid.as_str().len(), 36);
}
