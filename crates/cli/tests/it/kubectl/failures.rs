//! A kubectl that is slow, fails, prints rubbish, or is not there.

use super::{CONTEXT, Fake};
use crate::program::{dump, finish, run};

const NOTE: &str = ", so this is a cluster that is built in; --help says how to read yours";

#[test]
fn a_slow_kubectl_is_waited_for() {
    let cases = format!("{CONTEXT}\nget) sleep 1.3; cat '{}' ;;", dump("midrollout.json"));
    let fake = Fake::new("slow", &cases);
    assert!(fake.printed(&["plan"]).starts_with("DaemonSet  monitoring/node-exporter"));
}

#[test]
fn the_message_of_a_kubectl_that_fails_is_one_line() {
    let forbidden = "echo 'Error from server (Forbidden): nodes is forbidden' >&2; exit 1";
    let fake = Fake::new("forbidden", &format!("{CONTEXT}\nget) {forbidden} ;;"));
    assert_eq!(
        fake.refused(&["plan"]),
        "error: context kind-dev: kubectl: Error from server (Forbidden): nodes is forbidden"
    );
    let silent = Fake::new("silent", &format!("{CONTEXT}\nget) exit 3 ;;"));
    assert_eq!(silent.refused(&["plan"]), "error: context kind-dev: kubectl failed: exit status: 3");
}

/// Never the example: somebody has a cluster, and must not take another one for it. kubectl says the same for each kind.
#[test]
fn a_server_that_can_not_be_reached_is_an_error() {
    let refused = "\
cat >&2 <<'END'
E1122 10:00:00.000000    4242 memcache.go:265] \"Unhandled Error\" err=\"couldn't get current server API group list\"
The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?
The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?
END
exit 1";
    let fake = Fake::new("unreachable", &format!("{CONTEXT}\nget) {refused} ;;"));
    assert_eq!(
        fake.refused(&["plan"]),
        "error: context kind-dev: kubectl: The connection to the server 127.0.0.1:1 was refused - did you specify \
         the right host or port?"
    );
}

#[test]
fn half_a_list_and_no_list_are_errors() {
    let half = Fake::new("half", &format!("{CONTEXT}\nget) head -c 20000 '{}' ;;", dump("midrollout.json")));
    let line = half.refused(&["plan"]);
    assert!(
        line.starts_with("error: context kind-dev: kubectl printed no List: EOF while parsing"),
        "{line}"
    );
    let nothing = Fake::new("nothing", &format!("{CONTEXT}\nget) ;;"));
    assert_eq!(nothing.refused(&["plan"]), "error: context kind-dev: kubectl printed nothing");
}

#[test]
fn without_kubectl_or_context_the_example_says_that_it_is_one() {
    let unset = "config) echo 'error: current-context is not set' >&2; exit 1 ;;";
    let fake = Fake::new("no-context", unset);
    let example = fake.printed(&["plan", "--example"]);
    let out = fake.printed(&["plan"]);
    assert_eq!(out, format!("Example    kubectl has no current context{NOTE}\n{example}"));
    assert_eq!(run("plan", &[], b"").out, format!("Example    there is no kubectl{NOTE}\n{example}"));
    let json = run("plan", &["-o", "json"], b"");
    assert_eq!((json.code, json.err), (Some(0), format!("Example    there is no kubectl{NOTE}\n")));
    assert_eq!(json.out, fake.printed(&["plan", "--example", "-o", "json"]));
    for subcommand in [&["describe"][..], &["lint"], &["rollout", "status"], &["why", "node-1"]] {
        let out = fake.run(subcommand).out;
        assert!(out.starts_with("Example    kubectl has no current context"), "{subcommand:?}: {out}");
    }
}

#[test]
fn a_flag_asks_for_a_cluster_and_no_example_takes_its_place() {
    let fake = Fake::new("flag", "config) echo 'error: current-context is not set' >&2; exit 1 ;;");
    for flag in [&["-n", "x"][..], &["-A"], &["-l", "app=x"], &["--kubeconfig", "nowhere"]] {
        let line = fake.refused(&[&["plan"], flag].concat());
        assert_eq!(line, "error: kubectl has no current context", "{flag:?}");
        let ran = run("plan", flag, b"");
        assert_eq!((ran.code, ran.err.as_str()), (Some(2), "error: there is no kubectl\n"), "{flag:?}");
    }
    let ran = run("plan", &["--context", "dev"], b"");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.starts_with("error: context dev: kubectl: No such file or directory"), "{}", ran.err);
    let watch = fake.refused(&["plan", "--watch"]);
    assert!(watch.ends_with("--watch: only a cluster that kubectl reads can change"), "{watch}");
}

#[test]
fn a_configuration_that_can_not_be_read_is_an_error() {
    let fake = Fake::new(
        "config",
        "config) echo 'error: error loading config file \"x\": yaml: bad' >&2; exit 1 ;;",
    );
    assert_eq!(fake.refused(&["plan"]), "error: kubectl: error loading config file \"x\": yaml: bad");
}

/// Inside a pod kubectl has a cluster, and no context.
#[test]
fn a_pod_needs_no_context() {
    let unset = "config) echo 'error: current-context is not set' >&2; exit 1 ;;";
    let fake = Fake::new("pod", &format!("{unset}\nget) cat '{}' ;;", dump("midrollout.json")));
    let mut command = fake.command(&["plan"]);
    command.env("KUBERNETES_SERVICE_HOST", "10.0.0.1");
    let ran = finish(command, b"");
    assert!(ran.out.contains("the clock of this machine; the pod's own cluster\n"), "{}", ran.out);
}

/// A name that the example does not have: the message says why there is no cluster.
#[test]
fn a_name_that_only_a_cluster_could_have() {
    assert_eq!(
        run("plan", &["web"], b"").err,
        "error: the built-in example (there is no kubectl): no DaemonSet web in the List: there is \
         monitoring/node-exporter\n"
    );
}
