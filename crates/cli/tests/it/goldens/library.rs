//! The library answers as Kubernetes did.

use super::{Golden, Kind, Tally, files, goldens, named_files};
use daemonset_apiserver::admission::{self, Rules};
use daemonset_apiserver::patch::{json_merge, strategic_merge};
use jiff::Timestamp;
use kubectl_daemonset::kubectl::{
    self, Command, DryRun, ManifestVerb, ObjectFormat, history_text, refusal_with_source,
};
use serde_json::{Value, json};
use std::path::PathBuf;

#[test]
fn goldens_of_the_repository_are_answered_as_kubernetes_did() {
    let tally = answered(&files());
    tally.check();
    let compared = tally.kinds.iter().map(|(kind, count)| (*kind, count.compared)).collect::<Vec<_>>();
    assert_eq!(compared, [(Kind::Create, 65), (Kind::Update, 15), (Kind::Rollout, 30)]);
}

#[test]
fn goldens_of_the_named_files_are_answered_as_kubernetes_did() {
    answered(&named_files()).check();
}

fn answered(files: &[PathBuf]) -> Tally {
    let mut tally = Tally::default();
    for golden in files.iter().flat_map(|file| goldens(file)) {
        let answer = match golden.kind() {
            Kind::Create => create(&golden.value),
            Kind::Update => update(&golden.value),
            Kind::Rollout => kubectl(&golden),
        };
        tally.add(&golden, &answer);
    }
    tally
}

fn create(line: &Value) -> Value {
    match admission::create(&line["object"], &Rules::default()) {
        Ok(stored) => json!({"code": 0, "stored": stored}),
        Err(refusal) => {
            let refusal = match line["filename"].as_str() {
                Some(file) => refusal_with_source(&refusal, ManifestVerb::Create, file),
                None => refusal.to_string(),
            };
            json!({"code": 1, "stderr": format!("{refusal}\n")})
        }
    }
}

fn update(line: &Value) -> Value {
    let (before, patch) = (&line["before"], &line["patch"]);
    let patched = match line["patchType"].as_str() {
        Some("merge") => json_merge(before, patch),
        _ => strategic_merge(before, patch),
    };
    let after = patched.map_err(|error| error.to_string()).and_then(|patched| {
        let after = match line["subresource"].as_str() {
            Some("status") => admission::update_status(before, &patched),
            _ => admission::update(before, &patched, &Rules::default()),
        };
        after.map_err(|refusal| refusal.to_string())
    });
    match after {
        Ok(after) => json!({"code": 0, "after": after}),
        Err(refusal) => json!({"code": 1, "stderr": format!("{refusal}\n")}),
    }
}

/// Without the command line, which the program reads.
fn kubectl(golden: &Golden) -> Value {
    let line = &golden.value;
    let before = &line["before"]["daemonSet"];
    let revisions = line["before"]["revisions"].as_array().unwrap();
    if let Some(answer) = history_objects(line["command"].as_str().unwrap(), before, revisions) {
        return answer;
    }
    let Some(command) = command(line["command"].as_str().unwrap(), &line["after"]) else {
        return Value::Null;
    };
    let answer = kubectl::answer(&command, before, revisions);
    let after = answer.after.as_ref().unwrap_or(before);
    json!({
        "code": answer.code,
        "stdout": answer.stdout,
        "stderr": answer.stderr,
        "after": {"daemonSet": after},
    })
}

/// `-o json` and `-o yaml` of a history.
fn history_objects(command: &str, before: &Value, revisions: &[Value]) -> Option<Value> {
    let format = match (command.contains("json"), command.contains("yaml")) {
        (true, _) => ObjectFormat::Json,
        (false, true) => ObjectFormat::Yaml,
        (false, false) => return None,
    };
    let revision = command.rsplit(['=', ' ']).find_map(|word| word.parse().ok()).unwrap_or(0);
    let answer = history_text(before, revisions, revision, format);
    Some(match answer {
        Ok(stdout) => json!({"code": 0, "stdout": stdout, "stderr": ""}),
        Err(error) => json!({"code": 1, "stdout": "", "stderr": format!("error: {error}\n")}),
    })
}

fn command(text: &str, after: &Value) -> Option<Command> {
    let flag = |name: &str| text.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let number = |name| flag(name).map(|value| value.parse().unwrap());
    let annotations = &after["daemonSet"]["spec"]["template"]["metadata"]["annotations"];
    let restarted = annotations["kubectl.kubernetes.io/restartedAt"].as_str();
    let now: Option<Timestamp> = restarted.map(|time| time.parse().unwrap());
    let dry_run = match flag("--dry-run") {
        Some("server") => DryRun::Server,
        Some("client") => DryRun::Client,
        _ => DryRun::None,
    };
    match text.split(' ').collect::<Vec<_>>().as_slice() {
        ["kubectl", "rollout", verb, ..] => match *verb {
            "status" => Some(Command::Status { revision: number("--revision") }),
            "history" => Some(Command::History { revision: number("--revision") }),
            "undo" => Some(Command::Undo { to_revision: number("--to-revision"), dry_run }),
            "restart" => Some(Command::Restart { now: now.unwrap() }),
            "pause" => Some(Command::Pause),
            "resume" => Some(Command::Resume),
            _ => None,
        },
        _ => None,
    }
}
