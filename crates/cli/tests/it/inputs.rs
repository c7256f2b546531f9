//! Files that hold too little, or something else than a cluster: one line in a user's words, and exit code 2.

use crate::plan::{daemon_set, file, list, node, with};
use crate::program::{dump, run};
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::Write;

/// The commands that plan.
const PLANNERS: [&[&str]; 4] = [&["plan"], &["why", "node-1"], &["rollout", "stuck"], &["describe"]];

/// The one line about bad input, which starts with the name of the file.
fn refused(command: &[&str], file: &str) -> String {
    let (first, rest) = command.split_first().unwrap();
    let ran = run(first, &[rest, &["-f", file]].concat(), b"");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{command:?}: {}", ran.err);
    let line = ran.err.strip_suffix('\n').unwrap();
    assert!(!line.contains('\n'), "{line}");
    line.strip_prefix(&format!("error: {file}: ")).unwrap_or_else(|| panic!("{line}")).to_owned()
}

/// A real cluster without the objects of a kind.
fn without(kind: &str) -> String {
    let mut list: Value = serde_json::from_slice(&std::fs::read(dump("midrollout.json")).unwrap()).unwrap();
    list["items"].as_array_mut().unwrap().retain(|item| item["kind"] != kind);
    file(&format!("without-{kind}.json"), list.to_string())
}

#[test]
fn a_kind_that_is_missing_is_named() {
    let complete =
        "kubectl get daemonsets,pods,nodes,controllerrevisions -A -o json prints all that is needed";
    for (kind, though) in [
        ("Pod", "has pods on 5 nodes by its status"),
        ("Node", "should run on 5 nodes by its status"),
        ("ControllerRevision", "has been rolled out before by its status"),
    ] {
        let file = without(kind);
        for command in PLANNERS {
            assert_eq!(
                refused(command, &file),
                format!(
                    "no {kind} in the List, though DaemonSet monitoring/node-exporter {though}: {complete}"
                )
            );
        }
    }
    assert_eq!(refused(&["plan"], &without("DaemonSet")), "no DaemonSet in the List");
}

/// A DaemonSet that is new has neither pods nor revisions, and a cluster may have no nodes.
#[test]
fn a_kind_that_the_status_does_not_count_is_not_missing() {
    assert_eq!(run("plan", &["-f", &dump("fresh.json"), "-A"], b"").code, Some(0));
    let reconciled = |status: Value| list(vec![with(daemon_set("agent"), "/status", status)]);
    let empty = file("no-nodes.json", reconciled(json!({"observedGeneration": 1})));
    assert!(refused(&["plan"], &empty).starts_with("no ControllerRevision "));
    let new = file("new-without-nodes.json", reconciled(json!({})));
    assert!(
        refused(&["plan"], &new)
            .starts_with("no Node in the List, though DaemonSet logging/agent runs on nodes: ")
    );
}

#[test]
fn a_file_that_holds_no_cluster_says_so() {
    let gzip = {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(list(vec![daemon_set("agent"), node("node-1")]).as_bytes()).unwrap();
        file("compressed.json.gz", encoder.finish().unwrap())
    };
    let directory = format!("{}/", env!("CARGO_TARGET_TMPDIR"));
    let only_items = "is a list of JSON: must be an object with `items`, as kubectl get -o json prints it";
    for command in PLANNERS {
        assert_eq!(refused(command, &file("empty.json", "")), "is empty");
        assert_eq!(refused(command, &file("blank.json", " \n")), "is empty");
        assert_eq!(refused(command, &file("only-items.json", "[]")), only_items);
        assert_eq!(
            refused(command, &gzip),
            format!("is compressed: gunzip -c {gzip} prints its text, which `-` reads")
        );
        assert_eq!(refused(command, &directory), "is a directory: name a file in it");
    }
    // In the place of a name.
    let ran = run("plan", &["."], b"");
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), "error: .: is a directory: name a file in it\n"));
}

/// Nobody knows how the objects were before the newest time in them. A Recording is of its own time.
#[test]
fn an_instant_before_the_objects_is_refused() {
    let file = dump("midrollout.json");
    let at = |command: &[&str], now: &str| refused(&[command, &["--now", now]].concat(), &file);
    let told = "--now 2026-11-20T00:00:00Z: something in it happened later, at 2026-11-21T04:01:54Z: name that time \
                or a later one";
    for command in &PLANNERS[..3] {
        assert_eq!(at(command, "2026-11-20T00:00:00Z"), told, "{command:?}");
    }
    // Clocks differ by a little.
    assert_eq!(run("plan", &["-f", &file, "--now", "2026-11-21T04:01:00Z"], b"").code, Some(0));
}

/// Several DaemonSets of a file are shown as those of a cluster, and flags choose among them.
#[test]
fn a_file_is_chosen_from_as_a_cluster_is() {
    let file = dump("steady.json");
    let out = |arguments: &[&str]| {
        let ran = run("plan", &[&["-f", &file], arguments].concat(), b"");
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{arguments:?}");
        let rows = ran.out.lines().take_while(|line| !line.is_empty());
        rows.filter_map(|line| line.split_whitespace().nth(if line.starts_with("DaemonSet") { 1 } else { 0 }))
            .map(|word| word.trim_end_matches(',').to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let overview = "DAEMONSET logging/fluent-bit monitoring/node-exporter";
    let one = "logging/fluent-bit Revision Budget Nodes Now As";
    for (arguments, expected) in [
        (&[][..], overview),
        (&["-A"], overview),
        (&["-n", "logging"], one),
        (&["-n", "logging", "fluent-bit"], one),
        (&["fluent-bit"], one),
        (&["-l", "app.kubernetes.io/name=node-exporter"], "DAEMONSET monitoring/node-exporter"),
        (&["-l", "app.kubernetes.io/name!=node-exporter", "-n", "logging"], "DAEMONSET logging/fluent-bit"),
    ] {
        assert_eq!(out(arguments), expected, "{arguments:?}");
    }
    let of_nobody = refused(&["plan", "-n", "shop", "-l", "a=b"], &file);
    assert_eq!(
        of_nobody,
        "no DaemonSet in namespace shop with labels a=b in the List: there is logging/fluent-bit, monitoring/node-exporter"
    );
    let ran = run("plan", &["-f", &file, "-n", "shop", "logging/fluent-bit"], b"");
    assert_eq!(ran.err, "error: --namespace shop: the DaemonSet is named in logging\n");
    let ran = run("plan", &["-f", &file, "-l", "a in ("], b"");
    assert!(ran.err.starts_with("error: --selector: "), "{}", ran.err);
    // Other questions are about one of them, or about the DaemonSets on a node.
    let stuck = run("rollout", &["stuck", "-f", &file, "-n", "logging"], b"");
    assert!(stuck.out.starts_with("logging/fluent-bit: complete"), "{}", stuck.out);
    let on = run("on", &["node-1", "--from", &file, "-n", "logging", "-o", "json"], b"");
    let on: Value = serde_json::from_str(&on.out).unwrap();
    assert_eq!(on["daemonSets"].as_array().unwrap().len(), 1, "{on}");
}

/// `-f` is the cluster for each command; a manifest, a policy or a node in it is told by its content.
#[test]
fn a_file_means_the_same_to_each_command() {
    let cluster = dump("midrollout.json");
    let policy = file("meant-policy.yaml", "waves: [{upTo: 1}, {}]");
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/src/manifest/example.yaml");
    let node = concat!(env!("CARGO_MANIFEST_DIR"), "/src/on/example.yaml");
    let ran = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        run(words[0], &words[1..], b"")
    };
    for (by_flag, by_content) in [
        (format!("lint --manifest {manifest} -f {cluster}"), format!("lint -f {manifest} --from {cluster}")),
        (format!("lint -f {cluster}"), format!("lint {cluster}")),
        (
            format!("would-restart --manifest {manifest} -f {cluster}"),
            format!("would-restart -f {manifest} --from {cluster}"),
        ),
        (
            format!("update --manifest {manifest} -f {cluster}"),
            format!("update -f {manifest} --from {cluster}"),
        ),
        (format!("on --node {node} -f {cluster}"), format!("on -f {node} --from {cluster}")),
        (format!("on node-1 -f {cluster}"), format!("on node-1 --from {cluster}")),
        (
            format!("rollout plan --policy {policy} -f {cluster}"),
            format!("rollout plan -f {policy} --from {cluster}"),
        ),
        (format!("simulate -f {cluster} --as-is"), format!("simulate --from {cluster} --as-is")),
    ] {
        let (flag, content) = (ran(&by_flag), ran(&by_content));
        assert!(matches!(flag.code, Some(0 | 1)), "{by_flag}: {}", flag.err);
        assert_eq!((flag.code, flag.out), (content.code, content.out), "{by_flag}");
    }
    for (line, problem) in [
        (format!("lint -f {cluster} --from {cluster}"), "--from: the file with the cluster is named already"),
        (
            format!("lint -f {manifest} --manifest {manifest}"),
            "--filename: --manifest names the file already",
        ),
        (format!("on node-1 -f {node}"), "--filename: the node is named already"),
        (format!("update --patch {{}} -f {manifest}"), "--patch: can't be used with a manifest"),
    ] {
        assert_eq!(ran(&line).err, format!("error: {problem}\n"), "{line}");
    }
}

#[test]
fn a_misspelt_word_is_answered_with_the_one_that_is_meant() {
    let ran = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let ran = run(words[0], &words[1..], b"");
        assert_eq!(ran.code, Some(2));
        ran.err
    };
    assert_eq!(ran("plann"), "error: unrecognized subcommand 'plann': did you mean plan?\n");
    assert_eq!(
        ran("plan --exmaple"),
        "error: unexpected argument '--exmaple' found: did you mean --example?\n"
    );
    assert_eq!(
        ran("plan -o jsn"),
        "error: invalid value 'jsn' for '--output <OUTPUT>' [possible values: text, json]: did you mean json?\n"
    );
    assert_eq!(ran("xyz"), "error: unrecognized subcommand 'xyz'; see --help\n");
}
