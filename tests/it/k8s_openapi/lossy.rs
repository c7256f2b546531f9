//! A typed DaemonSet has lost fields of its template. A plan must do nothing for that reason alone.

use super::{Planned, Typed};
use crate::properties::world;
use crate::support::{Given, given, new, node, old, pod, revision, rolling, steps, template};
use daemonset::Action;
use daemonset::model::DaemonSet;
use daemonset_placement::affected;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A field that no version of Kubernetes has.
fn future(mut template: Value, value: u8) -> Value {
    template["spec"]["containers"][0]["future"] = json!({"mode": value});
    template
}

/// A revision whose template has such a field.
fn stored(version: &str, number: i64, value: u8) -> Value {
    let mut revision = revision(version, number);
    let template = future(revision["data"]["spec"]["template"].take(), value);
    revision["data"]["spec"]["template"] = template;
    revision
}

/// The same template, stored under another name.
fn renamed(mut revision: Value, hash: &str) -> Value {
    revision["metadata"]["name"] = json!(format!("agent-{hash}"));
    revision["metadata"]["uid"] = json!(format!("uid-agent-{hash}"));
    revision["metadata"]["labels"]["controller-revision-hash"] = json!(hash);
    revision
}

/// A fleet whose template has the field; revision 2 holds the same.
fn with_future() -> Given {
    given(rolling(1))
        .with("/daemonSet/spec/template", future(template("new"), 1))
        .revisions([revision("old", 1), stored("new", 2, 1)])
        .nodes(["a", "b"], new())
}

/// Plans the recording with its typed DaemonSet, and checks that the plan's recording replays.
fn lossy(given: &Given) -> Planned {
    let typed = Typed::read(&given.json).unwrap();
    let planned = typed.planned(&typed.lossy());
    let replayed = planned.replayed();
    assert_eq!(replayed.plan_bytes(), planned.plan_bytes());
    assert_eq!(replayed, planned);
    planned
}

fn created_revisions(planned: &Planned) -> Vec<&Value> {
    let created = planned.plan.actions.iter().filter_map(|action| match action {
        Action::CreateRevision { revision, .. } => Some(revision),
        _ => None,
    });
    created.collect()
}

fn created_pods(planned: &Planned) -> Vec<Value> {
    let created = planned.plan.actions.iter().filter_map(|action| match action {
        Action::CreatePod { pod, .. } => Some(pod.to_value()),
        _ => None,
    });
    created.collect()
}

#[test]
fn an_unknown_field_in_template_and_revision_touches_no_pod() {
    let story = with_future();
    assert_eq!(story.steps(), Vec::<String>::new());
    assert_eq!(steps(&lossy(&story).plan), Vec::<String>::new());
    let typed = Typed::read(&story.json).unwrap();
    assert_eq!(typed.lossy().spec.template, template("new"), "the field is lost");
}

/// The revision that a plan recovers the template from may say more of the placement than the typed object.
#[test]
fn a_template_that_may_have_lost_fields_is_excluded_by_no_label() {
    let selector = json!({"pool": "gpu"});
    let story =
        given(rolling(1)).with("/daemonSet/spec/template/spec/nodeSelector", selector).node(node("a"));
    let recording = story.recording();
    let concerns = |ds: &DaemonSet| !affected([ds], [], None, recording.nodes.first()).is_empty();
    assert!(!concerns(&recording.daemon_set));
    assert!(concerns(&Typed::read(&story.json).unwrap().lossy()));
}

#[test]
fn a_change_of_an_unknown_field_is_a_new_template_and_invisible_in_typed_objects() {
    let story = with_future().with("/daemonSet/spec/template", future(template("new"), 2));
    assert_eq!(story.steps().len(), 2, "a revision, and the first pod goes: {:?}", story.steps());
    assert_eq!(steps(&lossy(&story).plan), Vec::<String>::new());
}

#[test]
fn a_change_of_a_known_field_makes_exactly_one_revision() {
    let story = with_future().with("/daemonSet/spec/template", future(template("newer"), 1));
    let planned = lossy(&story);
    let [created] = created_revisions(&planned)[..] else { panic!("{:?}", steps(&planned.plan)) };
    assert_eq!(created["revision"], 3);
    let mut expected = template("newer");
    expected["$patch"] = json!("replace");
    assert_eq!(created["data"]["spec"]["template"], expected);
    let mut next = story;
    let mut created = created.clone();
    created["metadata"]["uid"] = json!("uid-created");
    next.json["revisions"].as_array_mut().unwrap().push(created);
    assert!(created_revisions(&lossy(&next)).is_empty(), "a second revision");
}

#[test]
fn a_new_pod_has_the_field_again() {
    let story = with_future().node(node("c"));
    let pods = created_pods(&lossy(&story));
    assert_eq!(pods.len(), 1);
    assert_eq!(pods[0]["spec"]["containers"][0]["future"]["mode"], 1);
    assert_eq!(pods[0]["metadata"]["labels"]["controller-revision-hash"], "new");
}

/// Four revisions whose templates are equal after the lossy round trip; two of them are equal without it, too.
fn with_several() -> Given {
    let one = renamed(stored("new", 2, 1), "one");
    let two = renamed(stored("new", 5, 2), "two");
    let bare = renamed(revision("new", 4), "bare");
    let twin = renamed(stored("new", 3, 2), "twin");
    given(rolling(1)).revisions([revision("old", 1), one, two, bare, twin])
}

#[test]
fn the_newest_of_several_revisions_that_are_equal_after_the_round_trip_is_current() {
    let story = with_several().node(node("a").has(pod("two"))).node(node("b").has(pod("twin")));
    let planned = lossy(&story);
    assert_eq!(
        steps(&planned.plan),
        [
            r#"label b-1 {"controller-revision-hash": "two"}: DuplicateRevision"#,
            "delete agent-twin: Duplicate",
        ],
        "what differs in a lost field is no duplicate"
    );
    assert_eq!(
        planned.plan.report.current_revision.as_ref().map(|current| current.hash.as_str()),
        Some("two")
    );
}

#[test]
fn a_pod_of_another_revision_that_is_equal_only_after_the_loss_is_outdated() {
    let hashes = ["one", "bare"];
    for hash in hashes {
        let story = with_several().node(node("a").has(pod(hash))).revisions_without("twin");
        let planned = lossy(&story);
        assert_eq!(steps(&planned.plan).len(), 1, "{:?}", steps(&planned.plan));
        assert!(steps(&planned.plan)[0].contains("OutdatedAvailable"), "{:?}", steps(&planned.plan));
    }
}

impl Given {
    fn revisions_without(mut self, hash: &str) -> Given {
        let revisions = self.json["revisions"].as_array_mut().unwrap();
        revisions.retain(|revision| revision["metadata"]["name"] != format!("agent-{hash}"));
        self
    }
}

#[test]
fn a_revision_of_another_owner_restores_nothing() {
    let mut foreign = stored("new", 9, 7);
    foreign["metadata"]["ownerReferences"] = json!([{"uid": "uid-other", "controller": true}]);
    foreign["metadata"]["name"] = json!("foreign");
    let story = given(rolling(1)).revisions([revision("old", 1), foreign]).node(node("a"));
    let planned = lossy(&story);
    assert_eq!(created_revisions(&planned).len(), 1);
    assert_eq!(created_pods(&planned)[0]["spec"]["containers"][0].get("future"), None);
}

/// The revision of the exact DaemonSet, without labels and owner.
fn released() -> (String, Value) {
    let actions = with_future().revisions([revision("old", 1)]).plan().actions;
    let created = actions.into_iter().find_map(|action| match action {
        Action::CreateRevision { revision, .. } => Some(revision),
        _ => None,
    });
    let mut revision = created.unwrap();
    let hash = revision["metadata"]["labels"]["controller-revision-hash"].as_str().unwrap().to_owned();
    revision["metadata"]["uid"] = json!("uid-released");
    revision["metadata"]["labels"] = json!({"controller-revision-hash": hash});
    revision["metadata"]["ownerReferences"] = json!([]);
    (hash, revision)
}

#[test]
fn a_revision_that_was_released_is_found_by_its_own_template() {
    let (hash, revision) = released();
    let fleet = |revision: Value| {
        with_future().with("/pods", json!([])).revisions([revision]).node(node("c").has(pod(&hash)))
    };
    let label = format!(r#"label agent-{hash} {{"app": "agent"}}: LabelsLost"#);
    let steps_of = |story: &Given| steps(&lossy(story).plan);
    let creates = ["create on a in batch 0: MissingPod", "create on b in batch 1: MissingPod"];
    let expected = [label.as_str()].into_iter().chain(creates).collect::<Vec<_>>();
    assert_eq!(steps_of(&fleet(revision.clone())), expected);
    let new_one = |change: &dyn Fn(&mut Value)| {
        let mut other = revision.clone();
        change(&mut other);
        let planned = lossy(&fleet(other));
        let [created] = created_revisions(&planned)[..] else { panic!("{:?}", steps(&planned.plan)) };
        let container = &created["data"]["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(container.get("future"), None, "the revision restores no template");
    };
    new_one(&|r| r["metadata"]["name"] = json!("agent-x"));
    new_one(&|r| r["metadata"]["namespace"] = json!("elsewhere"));
    new_one(&|r| r["metadata"]["deletionTimestamp"] = json!("2026-01-01T12:00:00Z"));
    new_one(&|r| r["metadata"]["ownerReferences"] = json!([{"uid": "uid-other", "controller": true}]));
    let beside = with_future().revisions([revision.clone(), stored("new", 1, 2)]);
    assert_eq!(steps_of(&beside), [""; 0], "an owned revision comes first");
}

#[test]
fn templates_that_the_types_cannot_parse_are_compared_unchanged() {
    let mut odd = stored("new", 2, 1);
    odd["data"]["spec"]["template"]["spec"]["hostNetwork"] = json!("yes");
    let story = given(rolling(1)).revisions([revision("old", 1), odd]).node(node("a").has(old()));
    assert_eq!(created_revisions(&lossy(&story)).len(), 1, "the template differs");
    let nothing = json!({"metadata": {"name": "x", "namespace": "ns", "uid": "u", "labels": {"app": "agent"}}, "data": {}, "revision": 7});
    let story = given(rolling(1)).revisions([revision("new", 1), nothing]);
    assert!(created_revisions(&lossy(&story)).is_empty());
}

/// Adds the field to some revisions of a random fleet.
fn with_some_futures(world: &world::World, values: &[u8]) -> Value {
    let mut json = world.given().json;
    let revisions = json["revisions"].as_array_mut().unwrap();
    for (revision, value) in revisions.iter_mut().zip(values) {
        // A released revision is recognized by its name, which is made from its content.
        let released = revision["metadata"]["labels"].get("app").is_none();
        if *value > 0 && !released && revision["data"]["spec"]["template"].is_object() {
            let template = future(revision["data"]["spec"]["template"].take(), *value);
            revision["data"]["spec"]["template"] = template;
        }
    }
    json
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_lossy_plan_replays_and_creates_no_revision_for_a_loss(
        world in world::world(),
        values in prop::collection::vec(0_u8..3, 5),
    ) {
        let before = world.given();
        let exact = Planned::of(&before.recording().snapshot().unwrap());
        let typed = Typed::read(&with_some_futures(&world, &values)).unwrap();
        let ds = DaemonSet { template_fidelity: typed.lossy().template_fidelity, ..before.recording().daemon_set };
        let planned = typed.planned(&ds);
        prop_assert_eq!(planned.replayed().plan_bytes(), planned.plan_bytes());
        // Each revision is recognized with the field as well as without it.
        prop_assert_eq!(created_revisions(&planned).len(), created_revisions(&exact).len());
    }
}
