//! `--time`: how long each step takes, in nanoseconds.

use super::{printed, recording, refused};
use serde_json::{Value, json};

fn times(arguments: &[&str], stdin: &str) -> Value {
    let out = printed(arguments, stdin);
    assert_eq!(out.lines().count(), 1);
    serde_json::from_str(&out).unwrap()
}

#[test]
fn the_figures_of_each_step_are_integers_and_the_least_is_not_above_the_median() {
    for times in
        [times(&["--time", "4"], ""), times(&["--time", "1", "-"], &recording("monday", &["a"]).to_string())]
    {
        let members: Vec<&String> = times.as_object().unwrap().keys().collect();
        assert_eq!(members, ["actions", "check", "nodes", "parse", "plan", "pods", "reconcile"]);
        for step in ["parse", "check", "reconcile", "plan"] {
            let (min, median) =
                (times[step]["min"].as_u64().unwrap(), times[step]["median"].as_u64().unwrap());
            assert!(0 < min && min <= median, "{times}");
            assert_eq!(times[step].as_object().unwrap().len(), 2);
        }
    }
}

#[test]
fn it_counts_nodes_pods_and_actions() {
    let built_in = times(&["--time", "1"], "");
    assert_eq!(
        (&built_in["nodes"], &built_in["pods"], &built_in["actions"]),
        (&json!(5), &json!(5), &json!(0))
    );
    let monday = times(&["-", "--time", "2"], &recording("monday", &["a", "b"]).to_string());
    assert_eq!((&monday["nodes"], &monday["pods"], &monday["actions"]), (&json!(2), &json!(0), &json!(4)));
}

#[test]
fn bad_input_is_refused_as_ever() {
    assert_eq!(
        refused(&["--time", "5", "-"], "{}"),
        "error: stdin: neither a List (items) nor a Recording (daemonSet)"
    );
}

#[test]
fn plans_from_events_equal_those_of_all_objects() {
    let figures = times(&["--time-events", "40"], "");
    assert_eq!(figures["events"], 240, "six events a round");
    assert_eq!(figures["same"], true);
    for step in ["apply", "plan"] {
        assert!(figures[step]["p99"].as_u64() >= figures[step]["median"].as_u64(), "{figures}");
    }
    assert!(figures["build"]["min"].as_u64() > Some(0), "{figures}");
    assert_eq!(refused(&["--time-events", "5", "-"], "{}"), refused(&["--time", "5", "-"], "{}"),);
}
