//! Properties of all patches.

use daemonset_apiserver::patch::{json_merge, strategic_merge, two_way_merge};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Map, Value, json};

fn texts() -> impl Strategy<Value = Value> {
    btree_map("[ab]", "[xy]", 0..3).prop_map(|texts| json!(texts))
}

/// Items with distinct keys, in any order.
fn keyed(key: &'static str, rest: impl Strategy<Value = Map<String, Value>>) -> impl Strategy<Value = Value> {
    (subsequence(vec!["a", "b", "c"], 0..=3).prop_shuffle(), vec(rest, 3)).prop_map(move |(names, rest)| {
        let items = names.into_iter().zip(rest).map(|(name, mut item)| {
            item.insert(key.to_owned(), json!(name));
            Value::Object(item)
        });
        Value::Array(items.collect())
    })
}

fn fields(fields: Vec<(&'static str, BoxedStrategy<Value>)>) -> impl Strategy<Value = Map<String, Value>> {
    let present: Vec<_> = fields
        .into_iter()
        .map(|(name, value)| option::of(value).prop_map(move |value| (name, value)))
        .collect();
    present.prop_map(|fields| {
        let present = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        present.collect::<Map<_, _>>()
    })
}

fn container() -> impl Strategy<Value = Map<String, Value>> {
    fields(vec![
        ("image", "[xy]".prop_map(Value::from).boxed()),
        ("command", vec("[xy]", 0..3).prop_map(|command| json!(command)).boxed()),
        ("env", keyed("name", fields(vec![("value", "[xy]".prop_map(Value::from).boxed())])).boxed()),
        ("resources", fields(vec![("limits", texts().boxed())]).prop_map(Value::Object).boxed()),
    ])
}

fn daemon_set() -> impl Strategy<Value = Value> {
    let volume = fields(vec![("emptyDir", Just(json!({})).boxed()), ("hostPath", texts().boxed())]);
    let pod = fields(vec![
        ("containers", keyed("name", container()).boxed()),
        ("volumes", keyed("name", volume).boxed()),
        ("nodeSelector", texts().boxed()),
        ("tolerations", vec(texts(), 0..3).prop_map(Value::Array).boxed()),
        ("hostNetwork", any::<bool>().prop_map(Value::from).boxed()),
    ]);
    let finalizers = subsequence(vec!["a", "b", "c"], 0..=3).prop_shuffle().prop_map(|set| json!(set));
    let metadata = fields(vec![("labels", texts().boxed()), ("finalizers", finalizers.boxed())]);
    (pod, metadata)
        .prop_map(|(pod, metadata)| json!({"metadata": metadata, "spec": {"template": {"spec": pod}}}))
}

/// A set is merged in the order of the patch.
fn sort_finalizers(mut object: Value) -> Value {
    if let Some(finalizers) = object.pointer_mut("/metadata/finalizers").and_then(Value::as_array_mut) {
        finalizers.sort_by_key(Value::to_string);
    }
    object
}

proptest! {
    #[test]
    fn the_difference_turns_one_object_into_the_other(a in daemon_set(), b in daemon_set()) {
        let patch = two_way_merge(&a, &b).unwrap();
        let patched = strategic_merge(&a, &patch).unwrap();
        prop_assert_eq!(&patched, &b, "{}", patch);
        prop_assert_eq!(strategic_merge(&patched, &patch).unwrap(), b, "again: {}", patch);
    }

    #[test]
    fn an_object_has_no_difference_from_itself(a in daemon_set()) {
        prop_assert_eq!(two_way_merge(&a, &a).unwrap(), json!({}));
        prop_assert_eq!(&strategic_merge(&a, &json!({})).unwrap(), &a);
        prop_assert_eq!(sort_finalizers(strategic_merge(&a, &a).unwrap()), sort_finalizers(a));
    }

    #[test]
    fn merging_a_patch_twice_is_merging_it_once(a in daemon_set(), b in daemon_set()) {
        let merged = json_merge(&a, &b).unwrap();
        prop_assert_eq!(json_merge(&merged, &b).unwrap(), merged);
        let merged = strategic_merge(&a, &b).unwrap();
        prop_assert_eq!(strategic_merge(&merged, &b).unwrap(), merged);
    }

    #[test]
    fn no_patch_panics(a in daemon_set(), b in any_json()) {
        let _ = strategic_merge(&a, &b);
        let _ = strategic_merge(&b, &a);
        let _ = two_way_merge(&a, &b);
        let _ = json_merge(&b, &a);
    }
}

/// JSON with field names that patches know.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "delete|replace|merge|a|b".prop_map(Value::from),
    ];
    let names = "spec|template|metadata|containers|volumes|finalizers|name|env|\\$patch|\\$retainKeys|\
        \\$setElementOrder/(containers|finalizers)|\\$deleteFromPrimitiveList/(finalizers|volumes)";
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            btree_map(names, inner, 0..6).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}
