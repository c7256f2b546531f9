//! Changes of pods in their place: each list breaks one rule.

use super::broken;
use crate::stories::turn::running;
use crate::support::{Given, PodStory, at, given, node, old, rolling};
use daemonset::Action;
use daemonset_audit::ViolationKind as Kind;
use serde_json::{Value, json};

fn fleet(pod: PodStory) -> Given {
    given(rolling(1)).node(node("a").has(pod)).policy(json!({"inPlace": "IfPossible"}))
}

/// The change of the pod, as it is planned where it is possible.
fn change() -> Action {
    let change = fleet(running()).plan().actions.into_iter();
    let mut change = change.filter(|action| matches!(action, Action::UpdatePodInPlace { .. }));
    change.next().unwrap()
}

#[test]
fn a_pod_is_changed_in_its_place_where_nothing_but_an_image_is_new() {
    let is_possible = |fleet: &Given| broken(fleet, &[change()]);
    assert_eq!(is_possible(&fleet(running())), []);
    let impossible = [Kind::NotInPlace];
    assert_eq!(is_possible(&fleet(running()).policy(json!({}))), impossible, "nobody asks for it");
    assert_eq!(is_possible(&fleet(running().phase("Pending"))), impossible, "it does not run");
    assert_eq!(is_possible(&fleet(old())), impossible, "its containers are not known");
    assert_eq!(is_possible(&fleet(running().runs("old", "", 0))), impossible, "nothing of it has run");
    assert_eq!(is_possible(&fleet(running().runs("new", "runtime://1", 60))), impossible, "it has the image");
    let settles = running().changed(10, "older", "runtime://1");
    assert_eq!(is_possible(&fleet(settles)), impossible, "it settles");
    let beside = given(rolling(1)).node(node("a").has(running()).has(running()));
    assert_eq!(is_possible(&beside.policy(json!({"inPlace": "IfPossible"}))), impossible, "it is not alone");
    let mut refused = fleet(running());
    refused.json["memory"] = json!({"turns": {"refusedInPlace": {"uid-a-1": at(-60)}}});
    assert_eq!(is_possible(&refused), impossible, "it was refused");
}

#[test]
fn another_part_of_the_template_needs_another_pod() {
    for (part, value) in [
        ("/revisions/0/data/spec/template/spec/hostNetwork", json!(true)),
        ("/revisions/0/data/spec/template/spec/containers/0/args", json!(["-v"])),
        ("/revisions/0/data/spec/template/metadata/finalizers", json!(["a/b"])),
        ("/revisions/0/data/spec/template/spec/containers/0/name", json!("other")),
    ] {
        assert_eq!(broken(&fleet(running()).with(part, value), &[change()]), [Kind::NotInPlace], "{part}");
    }
    let labelled =
        fleet(running()).with("/revisions/0/data/spec/template/metadata/annotations", json!({"a": "b"}));
    assert_eq!(broken(&labelled, &[change()]), [], "annotations may change");
}

#[test]
fn a_change_sets_what_the_new_template_says_and_nothing_else() {
    let wrong = |parent: &str, key: &str, value: Value| {
        let mut change = change();
        if let Action::UpdatePodInPlace { patch, .. } = &mut change {
            patch.pointer_mut(parent).unwrap()[key] = value;
        }
        match broken(&fleet(running()), &[change])[..] {
            [Kind::WrongChange { field }] => field,
            ref other => panic!("{other:?}"),
        }
    };
    assert_eq!(wrong("/metadata/labels", "controller-revision-hash", json!("old")), "metadata.labels");
    assert_eq!(wrong("/metadata/labels", "app", json!(null)), "metadata.labels");
    assert_eq!(wrong("/metadata/annotations", "note", json!("")), "metadata.annotations");
    let since = "metadata.annotations: in-place.daemonset/since";
    assert_eq!(wrong("/metadata/annotations", "in-place.daemonset/since", json!("{}")), since);
    assert_eq!(wrong("/spec/containers/0", "image", json!("newer")), "spec.containers");
    assert_eq!(wrong("/spec/containers/0", "args", json!([])), "spec.containers");
    assert_eq!(wrong("/spec", "hostNetwork", json!(true)), "field beside labels, annotations and containers");
}
