//! Unknown facts make an answer less certain, and never another one.

use super::{daemon_set, required};
use crate::support::cases;
use daemonset::model::{DaemonSet, Labels, Node, Taint};
use daemonset_placement::{LabelKnowledge, NodeShape, OtherLabels, Runs, UnknownFact, daemons_on};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

const KEYS: [&str; 4] = ["disk", "gen", "os", "zone"];
const VALUES: [&str; 3] = ["1", "2", "x"];
const NAMES: [&str; 2] = ["a", "b"];

fn expression() -> impl Strategy<Value = Value> {
    let with_values = (select(&["In", "NotIn"][..]), subsequence(&VALUES[..], 1..3));
    let without = select(&["Exists", "DoesNotExist"][..]).prop_map(|operator| (operator, vec![]));
    let bound = select(&["Gt", "Lt"][..]).prop_map(|operator| (operator, vec!["1"]));
    (select(&KEYS[..]), prop_oneof![3 => with_values, 2 => without, 1 => bound])
        .prop_map(|(key, (operator, values))| json!({"key": key, "operator": operator, "values": values}))
}

fn term() -> impl Strategy<Value = Value> {
    let field = (select(&["In", "NotIn"][..]), select(&NAMES[..])).prop_map(
        |(operator, name)| json!([{"key": "metadata.name", "operator": operator, "values": [name]}]),
    );
    let field = prop_oneof![5 => Just(json!([])), 1 => field];
    (vec(expression(), 0..3), field)
        .prop_map(|(expressions, fields)| json!({"matchExpressions": expressions, "matchFields": fields}))
}

fn template() -> impl Strategy<Value = DaemonSet> {
    let selector = prop::option::of((select(&KEYS[..]), select(&VALUES[..])));
    let terms = prop::option::of(vec(term(), 1..4));
    let name = prop_oneof![9 => Just(None), 1 => select(&NAMES[..]).prop_map(Some)];
    let tolerations = subsequence(&["gpu", "spot"][..], 0..=2);
    (selector, terms, name, tolerations).prop_map(|(selector, terms, name, tolerations)| {
        let mut spec = terms.map_or(json!({}), |terms| required(json!(terms)));
        if let Some((key, value)) = selector {
            spec["nodeSelector"] = json!({key: value});
        }
        spec["nodeName"] = json!(name);
        let tolerations: Vec<Value> =
            tolerations.iter().map(|key| json!({"key": key, "operator": "Exists"})).collect();
        spec["tolerations"] = json!(tolerations);
        daemon_set("agent", spec)
    })
}

fn complete() -> impl Strategy<Value = NodeShape> {
    let labels = subsequence(&KEYS[..], 0..=4).prop_flat_map(|keys| {
        let values = vec(select(&VALUES[..]), keys.len());
        values.prop_map(move |values| keys.iter().copied().zip(values).collect::<Labels>())
    });
    let taints = subsequence(&["gpu", "spot", "other"][..], 0..=1);
    (select(&NAMES[..]), labels, taints).prop_map(|(name, labels, taints)| {
        let taints: Vec<Value> =
            taints.iter().map(|key| json!({"key": key, "effect": "NoSchedule"})).collect();
        let node = json!({"metadata": {"name": name, "labels": labels}, "spec": {"taints": taints}});
        NodeShape::from(&serde_json::from_value::<Node>(node).unwrap())
    })
}

/// The facts that are forgotten, and how.
#[derive(Debug, Clone)]
struct Forgotten {
    name: bool,
    labels: Vec<(&'static str, u8)>,
    others: bool,
    taints: bool,
}

fn forgotten() -> impl Strategy<Value = Forgotten> {
    let labels = subsequence(&KEYS[..], 0..=4).prop_flat_map(|keys| {
        vec(0_u8..3, keys.len()).prop_map(move |how| keys.iter().copied().zip(how).collect())
    });
    (any::<bool>(), labels, any::<bool>(), any::<bool>())
        .prop_map(|(name, labels, others, taints)| Forgotten { name, labels, others, taints })
}

impl Forgotten {
    /// A shape that the complete one is a case of.
    fn from(&self, complete: &NodeShape) -> NodeShape {
        let mut shape = complete.clone();
        if self.name {
            shape = shape.name(None);
        }
        for (key, how) in &self.labels {
            let knowledge = match (how, complete.labels.get(key)) {
                (0, Some(_)) => LabelKnowledge::Present,
                (1, Some(value)) => LabelKnowledge::OneOf(vec![value.to_owned(), "1".to_owned()]),
                _ => LabelKnowledge::Unknown,
            };
            shape = shape.label(key, knowledge);
        }
        if self.others {
            shape = shape.other_labels(OtherLabels::Unknown);
        }
        if self.taints {
            let spot = serde_json::from_value(json!({"key": "spot", "effect": "NoSchedule"})).unwrap();
            shape.possible_taints = shape.taints.drain(..).chain([spot]).collect::<Vec<Taint>>();
        }
        shape
    }
}

fn runs(ds: &DaemonSet, shape: &NodeShape) -> Runs {
    daemons_on([ds], shape).daemons.remove(0).runs
}

/// The shape with these facts as they turn out to be.
fn learned(shape: &NodeShape, complete: &NodeShape, facts: &[UnknownFact]) -> NodeShape {
    let mut learned = shape.clone();
    for fact in facts {
        match fact {
            UnknownFact::Name => learned = learned.name(complete.name.clone()),
            UnknownFact::Label { key } => {
                learned.uncertain_labels.remove(key);
                match complete.labels.get(key) {
                    Some(value) => learned.labels = learned.labels.with(key, value),
                    None => learned = learned.label(key, LabelKnowledge::Absent),
                }
            }
            UnknownFact::Taint { taint } => {
                learned.possible_taints.retain(|possible| possible != taint);
                learned.taints.extend(complete.taints.iter().filter(|known| *known == taint).cloned());
            }
            other => panic!("{other:?}"),
        }
    }
    learned
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1500), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_certain_answer_stays_whatever_the_unknown_facts_turn_out_to_be(
        ds in template(), complete in complete(), forgotten in forgotten()
    ) {
        let shape = forgotten.from(&complete);
        let (before, after) = (runs(&ds, &shape), runs(&ds, &complete));
        let decided = matches!(after, Runs::Yes | Runs::No { .. });
        prop_assert!(decided, "{after:?}");
        match before {
            Runs::Yes => prop_assert_eq!(after, Runs::Yes),
            Runs::No { .. } => prop_assert!(matches!(after, Runs::No { .. }), "{after:?}"),
            Runs::Maybe { depends_on } => prop_assert!(!depends_on.is_empty()),
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn the_facts_that_an_answer_depends_on_decide_it(
        ds in template(), complete in complete(), forgotten in forgotten()
    ) {
        let shape = forgotten.from(&complete);
        if let Runs::Maybe { depends_on } = runs(&ds, &shape) {
            let learned = runs(&ds, &learned(&shape, &complete, &depends_on));
            let complete = runs(&ds, &complete);
            prop_assert_eq!(learned == Runs::Yes, complete == Runs::Yes);
            prop_assert!(!matches!(learned, Runs::Maybe { .. }), "{learned:?}");
        }
    }
}

#[test]
fn the_generators_reach_every_answer() {
    let mut runner = TestRunner::deterministic();
    let mut reached = [0_u32; 6];
    for _ in 0..2000 {
        let (ds, complete, forgotten) =
            (template(), complete(), forgotten()).new_tree(&mut runner).unwrap().current();
        let after = runs(&ds, &complete) == Runs::Yes;
        let answer = match runs(&ds, &forgotten.from(&complete)) {
            Runs::Yes => 0,
            Runs::No { .. } => 2,
            Runs::Maybe { .. } => 4,
            other => panic!("{other:?}"),
        };
        reached[answer + usize::from(after)] += 1;
    }
    let [yes_no, yes, no, no_yes, maybe_no, maybe_yes] = reached;
    assert_eq!((yes_no, no_yes), (0, 0));
    assert!([yes, no, maybe_no, maybe_yes].iter().all(|count| *count > 100), "{reached:?}");
}
