//! `rollout --batch` answers a whole file of them, as a user calls it.

use super::{Tally, files, goldens, named_files};
use crate::program::run;
use serde_json::Value;
use std::path::PathBuf;

#[test]
fn a_batch_of_the_repository_s_goldens_is_answered_as_kubernetes_did() {
    batch(&files()).check();
}

#[test]
fn a_batch_of_the_named_goldens_is_answered_as_kubernetes_did() {
    batch(&named_files()).check();
}

fn batch(files: &[PathBuf]) -> Tally {
    let mut tally = Tally::default();
    if files.is_empty() {
        return tally;
    }
    for file in files {
        let ran = run("rollout", &["--batch", file.to_str().unwrap()], b"");
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        let answers: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let goldens = goldens(file);
        assert_eq!(answers.len(), goldens.len());
        for (golden, answer) in goldens.iter().zip(&answers) {
            assert_eq!(answer["name"], golden.name());
            tally.add(golden, answer);
        }
    }
    tally
}
