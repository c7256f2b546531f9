//! The table of revisions, and which revisions it contains.

use super::support::{stored, template, three, web, with};
use kubectl_daemonset::kubectl::{
    ObjectFormat, RolloutError, RolloutHistory, history, history_of, history_text,
};
use serde_json::{Value, json};

fn caused(number: i64, cause: &str) -> Value {
    let revision = stored(&format!("web-{number}"), number, template("v1"));
    with(revision, "/metadata/annotations", json!({"kubernetes.io/change-cause": cause}))
}

fn table(revisions: &[Value]) -> String {
    history(&web(template("v1")), revisions).unwrap().to_string()
}

fn numbers(daemon_set: &Value, revisions: &[Value]) -> Vec<i64> {
    history(daemon_set, revisions).unwrap().revisions.iter().map(|entry| entry.revision).collect()
}

#[test]
fn revisions_are_sorted_by_number_with_their_cause() {
    let revisions = [caused(10, "to v2"), caused(9, ""), caused(1, "kubectl apply --filename=web.yaml")];
    insta::assert_snapshot!(table(&revisions), @r"
    REVISION  CHANGE-CAUSE
    1         kubectl apply --filename=web.yaml
    9         <none>
    10        to v2
    ");
}

#[test]
fn a_cause_may_have_columns_and_lines_of_its_own() {
    for (cause, text) in [
        ("a\tb", "REVISION  CHANGE-CAUSE\n1         a  b\n"),
        ("two\nlines", "REVISION  CHANGE-CAUSE\n1         two\nlines\n"),
        ("x\ty\nlonger than\tz", "REVISION     CHANGE-CAUSE\n1            x  y\nlonger than  z\n"),
        ("ends\u{c}here", "REVISION  CHANGE-CAUSE\n1         ends\nhere\n"),
        ("vertical\u{b}tab", "REVISION  CHANGE-CAUSE\n1         vertical  tab\n"),
    ] {
        assert_eq!(table(&[caused(1, cause)]), text, "{cause:?}");
    }
}

#[test]
fn a_line_without_columns_ends_those_above_it() {
    let revisions = [caused(1, "a\nb"), caused(123_456_789, "c")];
    assert_eq!(table(&revisions), "REVISION  CHANGE-CAUSE\n1         a\nb\n123456789  c\n");
    let letters = [caused(1, "\u{e9}\u{e9}\tx"), caused(2, "abc\tx")];
    assert!(
        table(&letters).ends_with("1         \u{e9}\u{e9}   x\n2         abc  x\n"),
        "letters, not bytes"
    );
}

#[test]
fn without_revisions_there_is_no_table() {
    assert_eq!(table(&[]), "No rollout history found.");
    assert_eq!(history_of(&web(template("v1")), &[], 3), Ok(None), "for any revision");
}

#[test]
fn only_revisions_of_this_daemon_set_are_its_history() {
    let (daemon_set, revisions) = three();
    let second = |pointer: &str, value: Value| {
        let mut changed = revisions.clone();
        changed[1] = with(changed[1].clone(), pointer, value);
        numbers(&daemon_set, &changed)
    };
    assert_eq!(second("/metadata/uid", json!("x")), [1, 2, 3]);
    assert_eq!(second("/metadata/namespace", json!("other")), [1, 3]);
    assert_eq!(second("/metadata/labels", json!({"app": "other"})), [1, 3]);
    assert_eq!(second("/metadata/ownerReferences", json!([])), [1, 3]);
    assert_eq!(second("/metadata/ownerReferences/0/uid", json!("other")), [1, 3]);
    assert_eq!(second("/metadata/ownerReferences/0/controller", json!(false)), [1, 3]);
    let anything = with(daemon_set.clone(), "/spec/selector", json!(null));
    let mut changed = revisions.clone();
    changed[1]["metadata"]["labels"] = json!({});
    assert_eq!(numbers(&anything, &changed), [1, 2, 3], "without a selector, all controlled revisions");
}

#[test]
fn with_one_number_the_last_by_name_is_shown() {
    let (daemon_set, _) = three();
    let revisions = [stored("web-b", 1, template("b")), stored("web-a", 1, template("a"))];
    assert_eq!(history(&daemon_set, &revisions).unwrap().revisions[0].name, "web-b");
    let shown = history_of(&daemon_set, &revisions, 1).unwrap().unwrap();
    assert_eq!(
        (shown.name.as_str(), &shown.template["spec"]["containers"][0]["image"]),
        ("web-b", &json!("b"))
    );
}

#[test]
fn one_revision_is_described() {
    let (daemon_set, revisions) = three();
    let shown = history_of(&daemon_set, &revisions, 2).unwrap().unwrap();
    assert_eq!(shown.template, template("v2"));
    insta::assert_snapshot!(shown.to_string().replace('\t', "→"), @r"
    Pod Template:
      Labels:→app=web
      Containers:
       web:
        Image:→v2
        Port:→<none>
        Host Port:→<none>
        Environment:→<none>
        Mounts:→<none>
      Volumes:→<none>
      Node-Selectors:→<none>
      Tolerations:→<none>
    ");
}

#[test]
fn errors_are_kubectls() {
    let (daemon_set, revisions) = three();
    assert_eq!(history_of(&daemon_set, &revisions, 9), Err(RolloutError::NoSuchRevision));
    assert_eq!(history_of(&daemon_set, &revisions, -1), Err(RolloutError::NotPositive(-1)));
    let broken = with(revisions[0].clone(), "/data/spec/template/spec/hostNetwork", json!("yes"));
    let printed = history_of(&daemon_set, &[broken], 1).unwrap_err();
    assert_eq!(printed.to_string(), "unable to parse history web-1");
    let RolloutError::Unparsable { reason, .. } = printed else { panic!("{printed:?}") };
    assert!(reason.contains("cannot unmarshal string"), "{reason}");
    let selector =
        with(daemon_set, "/spec/selector", json!({"matchExpressions": [{"key": "a", "operator": "Like"}]}));
    let printed = history(&selector, &revisions).unwrap_err().to_string();
    assert!(printed.starts_with("failed to create selector for DaemonSet web: "), "{printed}");
}

#[test]
fn control_characters_are_no_yaml() {
    let (daemon_set, revisions) = three();
    let printed = |c: char, format| {
        let image = format!("web{c}");
        let path = "/data/spec/template/spec/containers/0/image";
        history_text(&daemon_set, &[with(revisions[0].clone(), path, json!(image))], 0, format)
    };
    for c in ['\u{7f}', '\u{80}', '\u{84}', '\u{86}', '\u{9f}', '\u{fffe}', '\u{ffff}'] {
        let refused = printed(c, ObjectFormat::Yaml).unwrap_err();
        assert_eq!(refused.to_string(), "yaml: control characters are not allowed", "{c:?}");
        assert!(printed(c, ObjectFormat::Json).unwrap().contains(c), "{c:?}");
    }
    for c in ['\0', '\t', '\u{1f}', '~', '\u{85}', '\u{a0}', '\u{feff}', '\u{fffd}', '\u{10ffff}'] {
        assert!(printed(c, ObjectFormat::Yaml).is_ok(), "{c:?}");
    }
}

#[test]
fn a_history_goes_through_json() {
    let (daemon_set, mut revisions) = three();
    revisions.truncate(2);
    revisions[1]["metadata"]["annotations"] = json!({"kubernetes.io/change-cause": "to v2"});
    revisions[1]["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
    let summary = history(&daemon_set, &revisions).unwrap();
    insta::assert_json_snapshot!(summary, @r#"
    {
      "name": "web",
      "revisions": [
        {
          "revision": 1,
          "name": "web-1"
        },
        {
          "revision": 2,
          "name": "web-2",
          "changeCause": "to v2",
          "creationTimestamp": "2026-01-01T00:00:00Z"
        }
      ]
    }
    "#);
    let back: RolloutHistory = serde_json::from_value(json!(summary)).unwrap();
    assert_eq!(back, summary);
}
