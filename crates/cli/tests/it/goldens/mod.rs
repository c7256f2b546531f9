//! Answers of Kubernetes v1.36.3: a real API server to creates and patches, a real kubectl to rollout commands
//! (`history.jsonl`: v1.37.1).
//!
//! `tests/goldens` has one answer a line, with the question. `compare` names the part of it that a pure function can know: texts
//! to the byte, objects as JSON values. A line that compares nothing is there to read.

mod library;
mod program;

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The question of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Create,
    Update,
    Rollout,
}

/// One line: the question and the real answer.
struct Golden {
    value: Value,
}

impl Golden {
    fn read(line: &str) -> Golden {
        Golden { value: serde_json::from_str(line).unwrap() }
    }

    fn name(&self) -> &str {
        self.value["name"].as_str().unwrap()
    }

    fn kind(&self) -> Kind {
        let has = |member: &str| self.value.get(member).is_some();
        match (has("command"), has("patch"), has("object")) {
            (true, _, _) => Kind::Rollout,
            (false, true, _) => Kind::Update,
            (false, false, true) => Kind::Create,
            (false, false, false) => panic!("{}: a line of no kind", self.name()),
        }
    }

    /// The members that an answer must have in common with the real one.
    fn compared(&self) -> Vec<&str> {
        self.value["compare"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect()
    }

    /// The differences of an answer from the real one.
    fn differences(&self, answer: &Value) -> Vec<String> {
        let different = self.compared().into_iter().filter_map(|path| {
            let (real, ours) = (at(&self.value, path), at(answer, path));
            (real != ours).then(|| format!("{path}: really {real}, found {ours}"))
        });
        let mut different: Vec<String> = different.collect();
        let (real, ours) = (&self.value["code"], &answer["code"]);
        if !self.compared().is_empty() && real != ours {
            different.push(format!("code: really {real}, found {ours}"));
        }
        different
    }
}

/// A member by its path; null where it is absent.
fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.').fold(value, |inner, member| inner.get(member).unwrap_or(&Value::Null))
}

/// The files of the repository.
fn files() -> Vec<PathBuf> {
    jsonl_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens"))
}

/// `DAEMONSET_GOLDENS=directory cargo test goldens` answers files from elsewhere.
#[expect(clippy::disallowed_methods, reason = "a test has an environment, the library has none")]
fn named_files() -> Vec<PathBuf> {
    match std::env::var_os("DAEMONSET_GOLDENS") {
        Some(directory) => jsonl_files(Path::new(&directory)),
        None => {
            println!("DAEMONSET_GOLDENS names no directory: skipped");
            Vec::new()
        }
    }
}

fn jsonl_files(directory: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect();
    files.sort();
    assert!(!files.is_empty(), "{}: no .jsonl files", directory.display());
    files
}

fn goldens(file: &Path) -> Vec<Golden> {
    std::fs::read_to_string(file).unwrap().lines().map(Golden::read).collect()
}

/// Counts by kind, and every difference.
#[derive(Default)]
struct Tally {
    kinds: BTreeMap<Kind, Count>,
    different: Vec<String>,
}

#[derive(Default)]
struct Count {
    lines: usize,
    compared: usize,
    equal: usize,
}

impl Tally {
    fn add(&mut self, golden: &Golden, answer: &Value) {
        let count = self.kinds.entry(golden.kind()).or_default();
        let differences = golden.differences(answer);
        count.lines += 1;
        count.compared += usize::from(!golden.compared().is_empty());
        count.equal += usize::from(!golden.compared().is_empty() && differences.is_empty());
        let named = differences.iter().map(|it| format!("{:?} {}: {it}", golden.kind(), golden.name()));
        self.different.extend(named);
    }

    fn check(&self) {
        for (kind, Count { lines, compared, equal }) in &self.kinds {
            println!("{kind:?}: {lines} lines, {compared} compare something, {equal} of them equal");
        }
        for difference in self.different.iter().take(20) {
            println!("{difference}");
        }
        assert!(self.different.is_empty(), "{} differences", self.different.len());
    }
}
