//! Output streams and exit codes.

use super::support::{image, template, three, web, with};
use kubectl_daemonset::kubectl::{Answer, Command, DryRun, answer};
use serde_json::{Value, json};

fn history(revision: Option<i64>) -> Command {
    Command::History { revision }
}

fn undo(to_revision: Option<i64>, dry_run: DryRun) -> Command {
    Command::Undo { to_revision, dry_run }
}

fn streams(command: &Command, daemon_set: &Value, revisions: &[Value]) -> (i32, String, String) {
    let Answer { code, stdout, stderr, .. } = answer(command, daemon_set, revisions);
    (code, stdout, stderr)
}

fn out(text: &str) -> (i32, String, String) {
    (0, text.to_owned(), String::new())
}

fn error(text: &str) -> (i32, String, String) {
    (1, String::new(), text.to_owned())
}

#[test]
fn answers_name_the_object_and_end_with_a_line_break() {
    let (web, revisions) = three();
    let table = "daemonset.apps/web \nREVISION  CHANGE-CAUSE\n1         <none>\n2         <none>\n3         <none>\n\n";
    assert_eq!(streams(&history(None), &web, &revisions), out(table));
    assert_eq!(streams(&history(Some(0)), &web, &revisions), out(table));
    assert_eq!(streams(&history(None), &web, &[]), out("daemonset.apps/web \nNo rollout history found.\n"));
    assert_eq!(
        streams(&history(Some(7)), &web, &[]),
        out("daemonset.apps/web with revision #7\nNo rollout history found.\n")
    );
    let (_, printed, _) = streams(&history(Some(2)), &web, &revisions);
    assert!(printed.starts_with("daemonset.apps/web with revision #2\nPod Template:\n"), "{printed}");
    assert!(printed.ends_with("  Tolerations:\t<none>\n\n"), "{printed}");
    let done = Command::Status { revision: None };
    assert_eq!(streams(&done, &web, &[]), out("daemon set \"web\" successfully rolled out\n"));
}

#[test]
fn a_dry_run_says_so() {
    let (web, revisions) = three();
    let printed = |to, dry_run| streams(&undo(to, dry_run), &web, &revisions).1;
    assert_eq!(printed(None, DryRun::None), "daemonset.apps/web rolled back\n");
    assert_eq!(printed(None, DryRun::Server), "daemonset.apps/web rolled back (server dry run)\n");
    assert_eq!(
        printed(Some(3), DryRun::Server),
        "daemonset.apps/web skipped rollback (current template already matches revision 3) (server dry run)\n"
    );
    let template = printed(None, DryRun::Client);
    assert!(template.starts_with("daemonset.apps/web will roll back to Pod Template:\n"), "{template}");
    assert!(template.ends_with("  Tolerations:\t<none>\n (dry run)\n"), "{template}");
}

#[test]
fn only_a_change_has_an_object_after_it() {
    let (web, revisions) = three();
    let after = |command| answer(&command, &web, &revisions).after;
    assert_eq!(image(&after(undo(None, DryRun::None)).unwrap()), "v2");
    let restart = Command::Restart { now: "2026-01-01T00:00:00Z".parse().unwrap() };
    assert!(after(restart).is_some());
    for nothing in [
        undo(None, DryRun::Server),
        undo(None, DryRun::Client),
        undo(Some(3), DryRun::None),
        history(None),
        Command::Pause,
    ] {
        assert_eq!(after(nothing), None, "{nothing:?}");
    }
}

#[test]
fn errors_go_to_standard_error_once_prefixed() {
    let (web, revisions) = three();
    let answer = |command| streams(&command, &web, &revisions);
    assert_eq!(answer(history(Some(9))), error("error: unable to find the specified revision\n"));
    assert_eq!(answer(history(Some(-1))), error("error: revision must be a positive integer: -1\n"));
    assert_eq!(answer(Command::Pause), error("error: daemonsets.apps \"web\" pausing is not supported\n"));
    assert_eq!(answer(Command::Resume), error("error: daemonsets.apps \"web\" resuming is not supported\n"));
}

#[test]
fn an_applied_object_has_a_warning_whether_the_undo_succeeds_or_not() {
    let (daemon_set, revisions) = three();
    let key = "kubectl.kubernetes.io/last-applied-configuration";
    let applied = with(daemon_set, "/metadata/annotations", json!({key: ""}));
    let warning = "Warning: resource daemonsets/web was previously managed with 'kubectl apply'. Rolling back will not \
                   update the kubectl.kubernetes.io/last-applied-configuration annotation, which may cause unexpected \
                   behavior on future 'kubectl apply' operations. Consider using 'kubectl apply' with your previous \
                   configuration file instead.\n";
    let (_, printed, warned) = streams(&undo(None, DryRun::None), &applied, &revisions);
    assert_eq!((printed.as_str(), warned.as_str()), ("daemonset.apps/web rolled back\n", warning));
    let (_, _, refused) = streams(&undo(None, DryRun::None), &applied, &[]);
    assert_eq!(refused, format!("{warning}error: no last revision to roll back to\n"));
    assert_eq!(streams(&history(None), &applied, &[]).2, "");
}

#[test]
fn a_nameless_object_is_unknown() {
    let nameless = with(web(template("v1")), "/metadata/name", json!(""));
    assert_eq!(
        streams(&history(None), &nameless, &[]),
        out("daemonset.apps/<unknown> \nNo rollout history found.\n")
    );
}

/// An object of a custom kind with the fields of a DaemonSet is named as kubectl names other kinds: by kind and group.
#[test]
fn a_custom_kind_is_named_as_it_is() {
    let custom = |daemon_set: Value| {
        let typed = with(daemon_set, "/apiVersion", json!("agents.example.com/v1"));
        with(typed, "/kind", json!("AgentSet"))
    };
    let (web, revisions) = three();
    let web = custom(web);
    let restarted =
        streams(&Command::Restart { now: "2026-01-01T00:00:00Z".parse().unwrap() }, &web, &revisions);
    assert_eq!(restarted, out("agentset.agents.example.com/web restarted\n"));
    let progress = streams(&Command::Status { revision: None }, &web, &revisions);
    assert_eq!(progress, out("AgentSet \"web\" successfully rolled out\n"));
    let paused = streams(&Command::Pause, &web, &revisions);
    assert_eq!(paused, error("error: agentsets.agents.example.com \"web\" pausing is not supported\n"));
    let unreadable = with(web.clone(), "/spec/selector", json!({"matchLabels": 1}));
    let (_, _, refused) = streams(&history(None), &unreadable, &revisions);
    assert!(refused.starts_with("error: failed to create selector for AgentSet web: "), "{refused}");
    let applied =
        with(web, "/metadata/annotations", json!({"kubectl.kubernetes.io/last-applied-configuration": ""}));
    let (_, printed, warned) = streams(&undo(None, DryRun::None), &applied, &revisions);
    assert_eq!(printed, "agentset.agents.example.com/web rolled back\n");
    assert!(warned.starts_with("Warning: resource agentsets/web was previously managed"), "{warned}");
}
