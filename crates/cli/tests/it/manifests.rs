//! `create` and `update` answer a manifest as a real kubectl with a real API server: `tests/manifests/v1.37.1.jsonl` has the text
//! of a manifest on stdin and the answer of `kubectl create` or `kubectl replace` with `--dry-run=server`, one a line.

use crate::program::run;
use serde_json::Value;

const STORED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/manifests/stored.json");

fn goldens() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/manifests/v1.37.1.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_manifest_is_answered_as_kubectl_answers_it() {
    let mut differences = Vec::new();
    for golden in goldens() {
        let member = |name: &str| golden[name].as_str().unwrap();
        let validate = format!("--validate={}", member("validate"));
        let (subcommand, mut arguments) = match member("verb") {
            "create" => ("create", vec!["-f", "-"]),
            _ => ("update", vec!["-f", "-", "--from", STORED]),
        };
        arguments.push(&validate);
        let ran = run(subcommand, &arguments, member("text").as_bytes());
        let real = (golden["code"].as_i64(), member("stdout"), member("stderr"));
        let ours = (ran.code.map(i64::from), ran.out.as_str(), ran.err.as_str());
        if ours != real {
            differences.push(format!(
                "{subcommand} {validate} {:?}\n  real {real:?}\n  ours {ours:?}",
                member("text")
            ));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn a_text_that_is_no_manifest_is_refused_in_kubectls_words_around_the_parsers() {
    for (text, refused) in [
        ("a: b: c\n", "error: error parsing STDIN: error converting YAML to JSON: yaml: "),
        ("{\"a\" 1}\n", "error: error parsing STDIN: json: "),
    ] {
        let ran = run("create", &["-f", "-"], text.as_bytes());
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
        assert!(ran.err.starts_with(refused) && ran.err.lines().count() == 1, "{}", ran.err);
    }
    let ran = run("create", &["-f", "nowhere.yaml"], b"");
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), "error: the path \"nowhere.yaml\" does not exist\n"));
}

#[test]
fn a_patch_has_its_warnings_on_stderr() {
    let patch = "{spec: {minReadySecond: 5, template: {spec: {hostAliases: [{ip: 'FE80::1'}]}}}}";
    let ran = run("update", &["--from", STORED, "--patch", patch], b"");
    let warnings = "Warning: unknown field \"spec.minReadySecond\"\nWarning: spec.template.spec.hostAliases[0].ip: IPv6 address \"FE80::1\" should be in RFC 5952 canonical format (\"fe80::1\")\n";
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.as_str()),
        (Some(0), "daemonset.apps/web patched (server dry run)\n", warnings)
    );
}

/// In a batch, warnings are a member of their own, and the refusal names the file where the question does.
#[test]
fn a_batch_has_the_warnings_beside_the_answer() {
    let unknown = r#"{"kind":"DaemonSet","metadata":{"name":"web","foo":1},"spec":{"minReadySeconds":-1}}"#;
    let batch = |members: &str| {
        let ran =
            run("rollout", &["--batch", "-"], format!("{{\"object\":{unknown}{members}}}\n").as_bytes());
        serde_json::from_str::<Value>(&ran.out).unwrap()
    };
    let answer = batch("");
    assert_eq!(answer["warnings"], serde_json::json!(["unknown field \"metadata.foo\""]));
    assert!(answer["stderr"].as_str().unwrap().starts_with("The DaemonSet \"web\" is invalid"), "{answer}");
    let ignored = batch(",\"fieldValidation\":\"Ignore\"");
    assert_eq!((ignored.get("warnings"), &ignored["stderr"]), (None, &answer["stderr"]));
    let strict = batch(",\"fieldValidation\":\"Strict\",\"filename\":\"web.yaml\"");
    let refused = "Error from server (BadRequest): error when creating \"web.yaml\": DaemonSet in version \"v1\" cannot be handled as a DaemonSet: strict decoding error: unknown field \"metadata.foo\"\n";
    assert_eq!((strict.get("warnings"), strict["stderr"].as_str()), (None, Some(refused)));
}
