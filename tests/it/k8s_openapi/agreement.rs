//! Objects parsed as the model and as k8s-openapi's types give the same plan: for objects of an API server, for the
//! cases that were recorded with Kubernetes' controller, and for random fleets.

use super::{Planned, Typed};
use crate::properties::world;
use crate::recorded::dumps::{DUMPS, Dump};
use daemonset::Recording;
use daemonset::model::TemplateFidelity;
use proptest::prelude::*;
use serde_json::Value;
use std::path::Path;

/// The number of plans that agree with the plan of the model.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    /// With the DaemonSet of the model.
    compared: u32,
    /// With the typed DaemonSet, if it has all fields of the model.
    lossy: u32,
    /// Inputs that the model refuses.
    refused: u32,
    /// Inputs that the types can't parse.
    unreadable: u32,
}

impl Tally {
    fn compare(&mut self, name: &str, json: &Value) {
        let Ok(model) = Recording::from_json(json.to_string().as_bytes()) else {
            self.refused += 1;
            return;
        };
        let Ok(snapshot) = model.snapshot() else {
            self.refused += 1;
            return;
        };
        let Ok(typed) = Typed::read(json) else {
            self.unreadable += 1;
            return;
        };
        let expected = Planned::of(&snapshot).bytes();
        self.compared += 1;
        assert!(typed.planned(&model.daemon_set).bytes() == expected, "{name}: typed views");
        let mut lossy = typed.lossy();
        lossy.template_fidelity = TemplateFidelity::Exact;
        if lossy == model.daemon_set {
            self.lossy += 1;
            assert!(typed.planned(&typed.lossy()).bytes() == expected, "{name}: typed DaemonSet");
        }
    }
}

#[test]
fn typed_and_model_plans_agree_for_every_daemon_set_of_a_real_cluster() {
    let mut tally = Tally::default();
    for name in DUMPS {
        let dump = Dump::load(name);
        for ds in dump.daemon_sets() {
            tally.compare(&format!("{name}: {ds}"), &dump.recording(&ds));
        }
    }
    assert_eq!(tally, Tally { compared: 11, lossy: 11, ..Tally::default() });
}

#[test]
fn typed_and_model_plans_agree_for_every_recorded_case() {
    let mut tally = Tally::default();
    for file in ["small.jsonl", "extra.jsonl", "down.jsonl", "rollout.jsonl", "sunset.jsonl", "turns.jsonl"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            tally.compare(case["name"].as_str().unwrap(), &case);
        }
    }
    println!("{tally:?}");
    assert!(tally.compared >= 9 * (tally.unreadable + tally.refused), "{tally:?}");
    assert!(2 * tally.lossy >= tally.compared, "{tally:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn typed_and_model_plans_agree_for_random_fleets(world in world::world()) {
        let mut tally = Tally::default();
        tally.compare("random", &world.given().json);
        prop_assert_eq!(tally.compared, 1);
    }
}
