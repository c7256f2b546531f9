//! For a node of which everything is known, `daemons_on` gives the planner's placement: in every recorded case, node by node.

use daemonset::report::{NodePlacement, Situation};
use daemonset::{Recording, plan};
use daemonset_placement::{NodeShape, Runs, WhyNot, daemons_on};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The cases and nodes that were compared.
#[derive(Debug, Default, PartialEq)]
struct Figures {
    cases: u32,
    nodes: u32,
    run: u32,
    continue_only: u32,
    excluded: u32,
    idle: u32,
    /// Cases whose DaemonSet both refuse.
    invalid: u32,
    /// Cases that the planner refuses or ends early for another reason.
    skipped: u32,
}

#[test]
fn each_node_of_the_recorded_cases_has_the_placement_of_the_plan() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let figures = compare(&[data.join("small.jsonl"), data.join("extra.jsonl")]);
    println!("{figures:?}");
    let Figures { run, continue_only, excluded, idle, invalid, .. } = figures;
    for reached in [run, continue_only, excluded, idle, invalid] {
        assert!(reached > 0, "{figures:?}");
    }
}

/// `DAEMONSET_CONFORMANCE=cases.jsonl:extra.jsonl cargo test daemons_on` compares files from elsewhere.
#[test]
fn each_node_of_the_named_files_has_the_placement_of_the_plan() {
    match std::env::var("DAEMONSET_CONFORMANCE") {
        Ok(files) => println!("{:?}", compare(&std::env::split_paths(&files).collect::<Vec<_>>())),
        Err(_) => println!("DAEMONSET_CONFORMANCE names no files: skipped"),
    }
}

fn compare(files: &[PathBuf]) -> Figures {
    let mut figures = Figures::default();
    for file in files {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            figures.cases += 1;
            let mut case: Value = serde_json::from_str(line).unwrap();
            // A policy decides nothing about placement, and another version's may be unknown.
            case.as_object_mut().unwrap().remove("policy");
            match Recording::from_json(case.to_string().as_bytes()) {
                Ok(recording) => figures.compare(&recording),
                Err(_) => figures.skipped += 1,
            }
        }
    }
    figures
}

impl Figures {
    fn compare(&mut self, recording: &Recording) {
        let name = &recording.name;
        let runs_on =
            |node| daemons_on([&recording.daemon_set], &NodeShape::from(node)).daemons.remove(0).runs;
        let snapshot = match recording.snapshot() {
            Ok(snapshot) => snapshot,
            Err(invalid) => {
                let of_daemon_set = invalid.problems.iter().any(|problem| {
                    problem.path.starts_with("spec.")
                        && !problem.path.contains("revisionHistoryLimit")
                        && !problem.path.contains("minReadySeconds")
                });
                if of_daemon_set {
                    self.invalid += 1;
                    let refused =
                        recording.nodes.iter().all(|node| matches!(runs_on(node), Runs::Invalid { .. }));
                    assert!(refused, "{name}: {invalid}");
                } else {
                    self.skipped += 1;
                }
                return;
            }
        };
        let report = plan(&snapshot).report;
        for node in &recording.nodes {
            let runs = runs_on(node);
            let verdict = report.node(node.metadata.name.as_str());
            let expected = match (report.situation, verdict.map(|verdict| verdict.placement.clone())) {
                (Situation::Synced, Some(NodePlacement::Run)) => Runs::Yes,
                (Situation::Synced, Some(placement)) => Runs::No { why: WhyNot::Placement { placement } },
                (Situation::SelectingAll, _) => Runs::No { why: WhyNot::SelectingAll },
                (Situation::BeingDeleted, _) => Runs::No { why: WhyNot::BeingDeleted },
                _ => {
                    self.skipped += 1;
                    return;
                }
            };
            assert_eq!(runs, expected, "{name}, node {}", node.metadata.name);
            self.count(&runs);
        }
    }

    fn count(&mut self, runs: &Runs) {
        self.nodes += 1;
        *match runs {
            Runs::Yes => &mut self.run,
            Runs::No { why: WhyNot::Placement { placement: NodePlacement::ContinueOnly { .. } } } => {
                &mut self.continue_only
            }
            Runs::No { why: WhyNot::Placement { .. } } => &mut self.excluded,
            _ => &mut self.idle,
        } += 1;
    }
}
