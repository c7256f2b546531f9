//! The plugin under the name of another file, as package managers of plugins install it.

use super::help::SUBCOMMANDS;
use super::steered;
use crate::plan::file;
use crate::program::{binary, finish};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

const OTHER: &str = "kubectl-daemonset_rollout";

fn link(directory: &str) -> PathBuf {
    let directory = format!("{}/{directory}", env!("CARGO_TARGET_TMPDIR"));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    let link = Path::new(&directory).join(OTHER);
    symlink(binary(), &link).unwrap();
    link
}

fn out(program: &Path, words: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(words).env("KUBECTL", "/nowhere/kubectl");
    let ran = finish(command, b"");
    ran.out + &ran.err
}

/// Words under the other name, which has to be in them.
fn renamed(words: &[&str], link: &Path) -> String {
    let (own, other) = (out(binary(), words), out(link, words));
    assert!(own.contains("kubectl daemonset "), "{words:?}: {own}");
    assert_eq!(other, own.replace("kubectl daemonset ", "kubectl daemonset-rollout "), "{words:?}");
    other
}

#[test]
fn hints_have_the_name_by_which_the_plugin_is_called() {
    let link = link("called-hints");
    let waves = ("policy", "waves: [{upTo: 1, needsApproval: true}, {needsApproval: true}]");
    let approval = file("called-approval.json", steered(&[waves]).to_string());
    let paused = file("called-paused.json", steered(&[waves, ("paused", "true")]).to_string());
    let (approval, paused) = (approval.as_str(), paused.as_str());
    renamed(&["plan", "--example"], &link);
    renamed(&["describe", "--example"], &link);
    for steered in [approval, paused] {
        renamed(&["rollout", "status", steered], &link);
        renamed(&["rollout", "plan", steered], &link);
        renamed(&["why", "node-1", "-f", steered], &link);
        renamed(&["stuck", "-f", steered], &link);
    }
}

#[test]
fn help_has_the_name_by_which_the_plugin_is_called() {
    let link = link("called-help");
    for subcommand in SUBCOMMANDS {
        let words: Vec<&str> = subcommand.split(' ').filter(|word| !word.is_empty()).collect();
        let help = renamed(&[words.as_slice(), &["--help"]].concat(), &link);
        assert!(help.contains("\nUsage: kubectl daemonset-rollout "), "{help}");
    }
    assert!(out(&link, &["completion", "kubectl"]).ends_with(&format!("exec {OTHER} __complete \"$@\"\n")));
    assert!(out(&link, &["completion", "bash"]).contains(&format!(" {OTHER}\n")));
    let pages = link.with_file_name("man");
    assert_eq!(out(&link, &["man", "--dir", pages.to_str().unwrap()]), "");
    assert!(
        fs::read_to_string(pages.join(format!("{OTHER}-plan.1")))
            .unwrap()
            .contains("kubectl daemonset\\-rollout plan")
    );
}
