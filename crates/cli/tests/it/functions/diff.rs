//! The difference of two revisions.

use super::support::{stored, template, with};
use kubectl_daemonset::kubectl::{Diff, diff};
use serde_json::{Value, json};

fn between(old: Value, new: Value) -> Diff {
    diff(&stored("web-a", 1, old), &stored("web-b", 2, new))
}

fn paths(diff: &Diff) -> Vec<String> {
    let shown = |value: &Option<Value>| value.as_ref().map_or("-".to_owned(), Value::to_string);
    diff.differences
        .iter()
        .map(|found| format!("{} {} {}", found.path, shown(&found.old), shown(&found.new)))
        .collect()
}

#[test]
fn equal_revisions_have_no_difference() {
    let null = with(template("v1"), "/metadata/creationTimestamp", json!(null));
    assert_eq!(between(template("v1"), null), Diff::default());
}

#[test]
fn a_new_image_is_one_path_and_one_hunk() {
    let found = between(template("v1"), template("registry.example/web:v2"));
    assert_eq!(paths(&found), [r#"spec.template.spec.containers[web].image "v1" "registry.example/web:v2""#]);
    insta::assert_snapshot!(found.unified, @r"
    --- web-a (revision 1)
    +++ web-b (revision 2)
    @@ -3,7 +3,7 @@
         app: web
     spec:
       containers:
    -  - image: v1
    +  - image: registry.example/web:v2
         imagePullPolicy: IfNotPresent
         name: web
         resources: {}
    ");
}

#[test]
fn items_are_named_if_every_name_is_distinct() {
    let env = |env: Value| with(template("v1"), "/spec/containers/0/env", env);
    let old =
        env(json!([{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "C", "value": "3"}]));
    let new = env(json!([{"name": "C", "value": "3"}, {"name": "A", "value": "x"}, {"name": "D"}]));
    assert_eq!(
        paths(&between(old, new)),
        [
            r#"spec.template.spec.containers[web].env[A].value "1" "x""#,
            r#"spec.template.spec.containers[web].env[B] {"name":"B","value":"2"} -"#,
            r#"spec.template.spec.containers[web].env[D] - {"name":"D"}"#,
            r#"spec.template.spec.containers[web].env ["A","C"] ["C","A"]"#,
        ]
    );
    let twice = env(json!([{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]));
    let once = env(json!([{"name": "A", "value": "1"}]));
    assert_eq!(
        paths(&between(twice, once)),
        [r#"spec.template.spec.containers[web].env[1] {"name":"A","value":"2"} -"#]
    );
}

#[test]
fn members_of_maps_are_named_by_key() {
    let labels = |labels: Value| with(template("v1"), "/metadata/labels", labels);
    let found = between(labels(json!({"app": "web", "a.b/c": "1"})), labels(json!({"app": "x"})));
    assert_eq!(
        paths(&found),
        [r#"spec.template.metadata.labels[a.b/c] "1" -"#, r#"spec.template.metadata.labels.app "web" "x""#]
    );
}

#[test]
fn strings_that_yaml_would_misread_are_quoted() {
    let args = |args: Value| with(template("v1"), "/spec/containers/0/args", args);
    let found =
        between(args(json!([])), args(json!(["yes", "1", "a: b", "", "/x:y", "-c", [], {"a": null}])));
    let added: Vec<_> = found.unified.lines().filter(|line| line.starts_with('+')).skip(1).collect();
    assert_eq!(
        added,
        [
            "+  - args:",
            "+    - \"yes\"",
            "+    - \"1\"",
            "+    - \"a: b\"",
            "+    - \"\"",
            "+    - /x:y",
            "+    - \"-c\"",
            "+    - []",
            "+    - {}",
        ]
    );
}

#[test]
fn distant_changes_have_a_hunk_each() {
    let old = with(template("v1"), "/spec/args", json!(["a", "b"]));
    let new = with(template("v2"), "/spec/terminationGracePeriodSeconds", json!(5));
    let unified = between(old, new).unified;
    let heads: Vec<_> = unified.lines().filter(|line| line.starts_with("@@")).collect();
    assert_eq!(heads, ["@@ -2,11 +2,8 @@", "@@ -16,4 +13,4 @@"], "{unified}");
}

#[test]
fn very_long_templates_are_compared_line_by_line() {
    let args = |from: usize| {
        let args: Vec<String> = (from..from + 3000).map(|number| format!("a{number}")).collect();
        with(template("v1"), "/spec/containers/0/args", json!(args))
    };
    let unified = between(args(0), args(1)).unified;
    let changed = |sign: &str| unified.lines().filter(|line| line.starts_with(sign)).count();
    assert_eq!((changed("+  "), changed("-  ")), (1, 1));
}
