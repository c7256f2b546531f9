//! The model of Kubernetes' own controller, compared with recorded runs of that controller.

use crate::support::{Expectations, apply, given, new, node, old, rolling, steps, upstream};
use daemonset::model::DaemonSetStatus;
use daemonset::report::RevisionOrigin;
use daemonset::{Action, Plan, Recording, plan};
use jiff::SignedDuration;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The cap on creates, and on deletes, in one part of a sync.
const BURST: usize = 250;

/// One line of a case file; the recording is the line itself.
#[derive(Deserialize)]
struct Case {
    name: String,
    upstream: Did,
}

/// The actions of the controller in several runs.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Did {
    runs: u32,
    creates: BTreeMap<String, u32>,
    deletes: BTreeMap<String, u32>,
    create_count: [usize; 2],
    delete_count: [usize; 2],
    status: Value,
    #[serde(default)]
    error: Option<String>,
}

#[test]
fn the_model_agrees_with_the_cases_of_the_repository() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/small.jsonl");
    let agreement = Agreement::of(&std::fs::read_to_string(file).unwrap());
    agreement.check();
}

/// `DAEMONSET_CONFORMANCE=cases.jsonl cargo test the_model_agrees` runs files from elsewhere.
#[test]
fn the_model_agrees_with_the_cases_of_the_named_files() {
    let Ok(files) = std::env::var("DAEMONSET_CONFORMANCE") else {
        println!("DAEMONSET_CONFORMANCE names no files: skipped");
        return;
    };
    for file in std::env::split_paths(&files) {
        let agreement = Agreement::of(&std::fs::read_to_string(file).unwrap());
        agreement.check();
    }
}

/// The actions of one sync that uses expectations, without the status.
fn sync(recording: &Recording, expectations: &mut Expectations) -> Plan {
    let actions = upstream(recording, Some(expectations));
    let mut plan = plan(&recording.snapshot().unwrap());
    plan.actions = actions;
    plan
}

#[test]
fn a_sync_waits_until_the_caches_show_the_last_one() {
    let recording = given(rolling(1)).node(node("a")).node(node("b").has(old())).recording();
    let mut expectations = Expectations::default();
    let first = sync(&recording, &mut expectations);
    assert_eq!(steps(&first), ["create on a in batch 0: MissingPod"]);
    let waits = |recording: &Recording, expectations: &mut Expectations| {
        let plan = sync(recording, expectations);
        steps(&plan).iter().all(|step| step.starts_with("requeue"))
    };
    assert!(waits(&recording, &mut expectations), "a stale cache");
    let mut later = recording.clone();
    later.now += SignedDuration::from_secs(300);
    assert!(waits(&later, &mut expectations), "for five minutes");
    let mut seen = recording.clone();
    apply(&mut seen, &first);
    expectations.saw(&recording, &seen);
    assert_eq!(steps(&sync(&seen, &mut expectations)), [""; 0], "the new pod is not available");
}

#[test]
fn a_cache_that_is_older_than_five_minutes_makes_a_second_pod() {
    let mut recording = given(rolling(1)).node(node("a")).recording();
    let mut expectations = Expectations::default();
    let first = steps(&sync(&recording, &mut expectations));
    recording.now += SignedDuration::from_secs(301);
    assert_eq!(steps(&sync(&recording, &mut expectations)), first);
}

#[test]
fn an_update_waits_for_the_creates_and_deletes_of_node_sync() {
    let fleet = given(rolling(1)).node(node("a").has(new()).has(new())).node(node("b").has(old()));
    let recording = fleet.recording();
    let first = sync(&recording, &mut Expectations::default());
    assert_eq!(steps(&first), ["delete a-2: ExcessPod"]);
}

/// The number of agreeing cases by profile. Cases in which the controller failed before it could choose are counted
/// separately.
#[derive(Default)]
struct Agreement {
    profiles: BTreeMap<String, Agreeing>,
    failed: Agreeing,
    otherwise: Vec<String>,
}

#[derive(Default, Clone, Copy)]
struct Agreeing {
    cases: usize,
    agree: usize,
}

impl Agreement {
    fn of(lines: &str) -> Self {
        let mut agreement = Agreement::default();
        for line in lines.lines() {
            // Some cases have no recorded answer of the controller.
            let Ok(case) = serde_json::from_str::<Case>(line) else { continue };
            let problems = match Recording::from_json(line.as_bytes()) {
                Ok(recording) => case.problems(&with_our_hash(recording)),
                Err(error) => vec![format!("refused: {error}")],
            };
            let profile = case.name.split('-').next().unwrap_or_default().to_owned();
            let chose = case.upstream.chose();
            let count =
                if chose { agreement.profiles.entry(profile).or_default() } else { &mut agreement.failed };
            count.cases += 1;
            count.agree += usize::from(problems.is_empty());
            if !problems.is_empty() {
                agreement.otherwise.push(format!("{}: {}", case.name, problems.join("; ")));
            }
        }
        agreement
    }

    /// Prints the figures. At least 99 % of the choices and 95 % of all cases must agree.
    fn check(&self) {
        let per_cent = |agreeing: Agreeing| agreeing.agree as f64 * 100.0 / agreeing.cases as f64;
        let print = |what: &str, agreeing: Agreeing| {
            println!("{what}: {} of {} agree, {:.2} %", agreeing.agree, agreeing.cases, per_cent(agreeing));
        };
        let mut chosen = Agreeing::default();
        for (profile, agreeing) in &self.profiles {
            print(profile, *agreeing);
            chosen.cases += agreeing.cases;
            chosen.agree += agreeing.agree;
        }
        if chosen.cases == 0 {
            return;
        }
        let failed = self.failed;
        let all = Agreeing { cases: chosen.cases + failed.cases, agree: chosen.agree + failed.agree };
        print("failed before a choice", failed);
        print("choices", chosen);
        print("all", all);
        for problem in &self.otherwise {
            println!("{problem}");
        }
        assert!(per_cent(chosen) >= 99.0 && per_cent(all) >= 95.0);
    }
}

/// If the current revision has not been created yet, only Kubernetes knows its hash. Pods with a hash of its form that
/// belongs to no revision count as pods of the current one.
fn with_our_hash(mut recording: Recording) -> Recording {
    const LABEL: &str = "controller-revision-hash";
    let ours = recording.snapshot().ok().and_then(|snapshot| plan(&snapshot).report.current_revision);
    let Some(ours) = ours.filter(|revision| revision.origin == RevisionOrigin::Created) else {
        return recording;
    };
    let owner = &recording.daemon_set.metadata.uid;
    let owned = recording.revisions.iter().filter(|revision| {
        revision.metadata.owner_references.iter().all(|reference| reference.uid == *owner)
    });
    let known: BTreeSet<String> =
        owned.filter_map(|revision| revision.metadata.labels.get(LABEL)).map(str::to_owned).collect();
    let generated =
        |hash: &str| hash.len() >= 7 && hash.bytes().all(|b| b"bcdfghjklmnpqrstvwxz2456789".contains(&b));
    for pod in &mut recording.pods {
        let labels = &mut pod.metadata.labels;
        if labels.get(LABEL).is_some_and(|hash| generated(hash) && !known.contains(hash)) {
            *labels = labels.with(LABEL, &ours.hash);
        }
    }
    recording
}

impl Case {
    /// The differences: actions that all runs have and the model lacks, actions of the model that no run has, or a
    /// number of actions outside the range of the runs.
    fn problems(&self, recording: &Recording) -> Vec<String> {
        let mut creates = BTreeSet::new();
        let mut deletes = BTreeSet::new();
        let mut status = recording.daemon_set.status.clone();
        for action in upstream(recording, None) {
            match action {
                Action::CreatePod { node, .. } => {
                    creates.insert(node.to_string());
                }
                Action::DeletePod { pod, .. } => {
                    deletes.insert(pod.name);
                }
                Action::UpdateStatus { status: written, .. } => status = written,
                _ => {}
            }
        }
        let did = &self.upstream;
        let mut problems = Vec::new();
        problems.extend(did.undone("creates", &did.creates, &creates, did.create_count));
        problems.extend(did.undone("deletes", &did.deletes, &deletes, did.delete_count));
        problems.extend(did.other_status(&status));
        problems
    }
}

impl Did {
    /// Whether the controller came far enough to choose. It fails earlier if the name of its revision is taken, if a
    /// limit can't be parsed, or in a panic.
    fn chose(&self) -> bool {
        const FAILED: [&str; 3] =
            ["failed to construct revisions", "couldn't get unavailable numbers", "panic: "];
        let error = self.error.as_deref().unwrap_or_default();
        !FAILED.iter().any(|failed| error.starts_with(failed))
    }

    fn undone(
        &self,
        what: &str,
        theirs: &BTreeMap<String, u32>,
        ours: &BTreeSet<String>,
        [least, most]: [usize; 2],
    ) -> Option<String> {
        let always = theirs.iter().filter(|(_, runs)| **runs == self.runs).map(|(name, _)| name);
        // The controller chooses a part of a large number of pods at random, even if the part was the same in all runs.
        let capped = least >= BURST;
        let undone: Vec<_> = always.filter(|name| !capped && !ours.contains(*name)).collect();
        let never: Vec<_> = ours.iter().filter(|name| !theirs.contains_key(*name)).collect();
        let fits = undone.is_empty() && (least..=most).contains(&ours.len());
        (!fits).then(|| format!("{what}: not {undone:?}, but {never:?}, {} of {least}..={most}", ours.len()))
    }

    fn other_status(&self, found: &DaemonSetStatus) -> Option<String> {
        let found = json!(found);
        let members = self.status.as_object().into_iter().flatten();
        let other: Vec<_> = members.filter(|(key, value)| found[key.as_str()] != **value).collect();
        (!other.is_empty()).then(|| format!("status: {other:?}"))
    }
}
