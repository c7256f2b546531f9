//! Each opt-in rule is where it must be: a place that no compiler asks for is asked for here.

use crate::support::{on, whole};
use daemonset::Policy;
use daemonset::model::DaemonSet;
use daemonset::policy::{Permissions, Rule};
use serde_json::{from_value, json};
use std::fs;
use std::path::Path;

#[test]
fn each_rule_is_switched_on_and_off_by_its_member() {
    for rule in Rule::ALL {
        let mut policy: Policy = from_value(json!({rule.member(): on(*rule)})).unwrap();
        let are_on = Rule::ALL.iter().filter(|other| other.is_on(&policy));
        assert!(are_on.eq([rule]), "{rule:?} and no other one");
        rule.switch_off(&mut policy);
        assert_eq!(policy, Policy::default(), "{rule:?}");
    }
}

#[test]
fn the_annotation_has_each_rule() {
    let daemon_set: DaemonSet = from_value(json!({
        "metadata": {"annotations": {"rollout.daemonset/policy": whole()["policy"].to_string()}},
        "spec": {"updateStrategy": {"type": "OnDelete"}},
    }))
    .unwrap();
    let policy = Policy::from_annotations(&daemon_set, &Permissions::all()).unwrap();
    for rule in Rule::ALL {
        assert!(rule.is_on(&policy), "{rule:?}");
    }
}

/// All texts of the files below a folder.
fn texts(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { texts(&path) } else { fs::read_to_string(path).unwrap() }).collect()
}

fn path(of: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(of)
}

#[test]
fn each_rule_has_stories_and_a_row_in_the_documents() {
    let stories = texts(&path("tests/it/stories"));
    let rows = fs::read_to_string(path("docs/turns.md")).unwrap();
    let help = fs::read_to_string(path("crates/controller/src/args/common.rs")).unwrap();
    for rule in Rule::ALL {
        assert!(stories.contains(&format!("\"{}\": ", rule.member())), "{rule:?} has a story");
        assert!(rows.contains(&format!("\n| `{}", rule.member())), "{rule:?} has a row in docs/turns.md");
        assert!(help.contains(&format!("\n{}: ", rule.member())), "{rule:?} is in the help of --policy");
    }
}
