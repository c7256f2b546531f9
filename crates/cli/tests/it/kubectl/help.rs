//! The examples at the end of each `--help` run as they are written.

use super::{CONTEXT, Fake, steered};
use crate::program::{Ran, binary, dump, finish};
use std::fs;
use std::process::Command;

pub(super) const SUBCOMMANDS: [&str; 24] = [
    "plan",
    "why",
    "on",
    "drain",
    "simulate",
    "lint",
    "would-restart",
    "create",
    "update",
    "describe",
    "rollout",
    "rollout status",
    "rollout plan",
    "rollout pause",
    "rollout resume",
    "rollout approve",
    "rollout history",
    "rollout undo",
    "rollout restart",
    "rollout diff",
    "rollout stuck",
    "completion",
    "man",
    "",
];

/// A kubectl that finds its plugin, as the real one does.
fn kubectl_with_plugin(name: &str) -> Fake {
    let plugin = format!("daemonset) shift; exec '{}' \"$@\" ;;", binary().display());
    let fake = Fake::new(name, &format!("{CONTEXT}\n{plugin}\nget) cat \"$here/cluster.json\" ;;"));
    fs::copy(dump("midrollout.json"), fake.path("cluster.json")).unwrap();
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/src/manifest/example.yaml");
    fs::copy(manifest, fake.path("node-exporter.yaml")).unwrap();
    let node = concat!(env!("CARGO_MANIFEST_DIR"), "/src/on/example.yaml");
    fs::copy(node, fake.path("new-node.yaml")).unwrap();
    let policy = concat!(env!("CARGO_MANIFEST_DIR"), "/src/rollout/example-policy.yaml");
    fs::copy(policy, fake.path("policy.yaml")).unwrap();
    let steered = steered(&[("policy", &fs::read_to_string(policy).unwrap())]);
    fs::write(fake.path("steered.json"), steered.to_string()).unwrap();
    let canary = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/canary.yaml");
    fs::copy(canary, fake.path("canary.yaml")).unwrap();
    fake
}

/// A line of a shell, in the directory of the fake kubectl.
fn shell(fake: &Fake, line: &str) -> Ran {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    fake.prepare(&mut command);
    finish(command, b"")
}

#[test]
fn every_example_of_help_runs() {
    let fake = kubectl_with_plugin("help");
    for subcommand in SUBCOMMANDS {
        // A rollout that waits for a person.
        if ["rollout resume", "rollout approve"].contains(&subcommand) {
            let waits = steered(&[("policy", "waves: [{needsApproval: true}]"), ("paused", "true")]);
            fs::write(fake.path("cluster.json"), waits.to_string()).unwrap();
        }
        let words: Vec<&str> = subcommand.split_whitespace().chain(["--help"]).collect();
        let help = fake.printed(&words);
        let examples: Vec<&str> = help
            .lines()
            .skip_while(|line| *line != "Examples:")
            .skip(1)
            .take_while(|line| !line.is_empty())
            .collect();
        assert!(!examples.is_empty(), "{subcommand}: no examples");
        let has_codes = help.contains("Exit codes: 0 ");
        assert!(has_codes || ["completion", "man", ""].contains(&subcommand), "{subcommand}: no exit codes");
        for example in examples {
            let ran = shell(&fake, example);
            assert!(matches!(ran.code, Some(0 | 1)), "{example}: {:?} {}", ran.code, ran.err);
            assert!(!ran.err.contains("error: "), "{example}: {}", ran.err);
            assert!(!ran.out.is_empty() || example.contains(" man "), "{example}: prints nothing");
        }
    }
}

/// Commands after `$ ` with their output, which is stderr too where there is any.
#[test]
fn the_readme_shows_what_is_printed() {
    let readme = include_str!("../../../README.md");
    let fake = kubectl_with_plugin("readme");
    assert!(
        readme.contains(&fs::read_to_string(fake.path("policy.yaml")).unwrap()),
        "its policy is another one"
    );
    let turns = include_str!("../../../../../examples/turns.yaml");
    fs::write(fake.path("turns.yaml"), turns).unwrap();
    let blocks = readme.split("```console\n").skip(1).map(|block| block.split("```").next().unwrap());
    let mut commands = 0;
    for block in blocks {
        for example in block.strip_prefix("$ ").unwrap().split("\n$ ") {
            let (line, shown) = example.split_once('\n').unwrap();
            let ran = shell(&fake, line);
            let printed: Vec<String> =
                (ran.out + &ran.err).lines().map(|line| line.trim_end().to_owned()).collect();
            assert_eq!(printed, shown.trim_end().lines().collect::<Vec<_>>(), "{line}");
            commands += 1;
        }
    }
    assert!(commands > 8, "{commands}");
}
