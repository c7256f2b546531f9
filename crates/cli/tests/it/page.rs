//! `page` as a user calls it: a file, empty or filled with a cluster.

use crate::program::run;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn path(name: &str) -> String {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).to_str().unwrap().to_owned()
}

/// A page as the build makes it, but for its scripts.
fn empty_page(name: &str) -> String {
    let page = path(name);
    fs::write(&page, "<!doctype html>\n<p>a page</p>\n<!-- cluster -->\n<script>1</script>\n").unwrap();
    page
}

/// The cluster in a page.
fn cluster(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"cluster\">").unwrap();
    let (json, rest) = rest.split_once("</script>").unwrap();
    assert_eq!(rest, "\n<script>1</script>\n");
    serde_json::from_str(json).unwrap()
}

#[test]
fn an_empty_page_is_written_as_it_is() {
    let (page, to) = (empty_page("empty.html"), path("written.html"));
    let ran = run("page", &["--page", &page, "--to", &to], b"");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), format!("{to}\n").as_str(), ""));
    assert_eq!(fs::read(page).unwrap(), fs::read(to).unwrap());
}

#[test]
fn a_cluster_is_filled_in_and_ends_no_script() {
    let page = empty_page("to-fill.html");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [
        {"kind": "Node", "metadata": {"name": "</script><b>", "managedFields": [{}]}},
        {"kind": "Pod", "metadata": {"name": "a", "namespace": "ns"},
         "spec": {"containers": [{"name": "a", "env": [{"name": "TOKEN", "value": "secret"}]}]}},
    ]});
    let fill = |flags: &[&str]| {
        let ran = run(
            "page",
            &[&["--page", &page, "--to", "-", "-f", "-"], flags].concat(),
            list.to_string().as_bytes(),
        );
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        cluster(&ran.out)
    };
    let filled = fill(&[]);
    assert_eq!(filled["items"][0]["metadata"], json!({"name": "</script><b>"}));
    assert_eq!(
        filled["items"][1]["spec"]["containers"][0]["env"][0],
        json!({"name": "TOKEN", "value": "left-out-1"})
    );
    let filled = fill(&["--with-environment"]);
    assert_eq!(filled["items"][1]["spec"]["containers"][0]["env"][0]["value"], "secret");
}

/// In the folder of the program, the filled page takes the place of the empty one.
#[test]
fn a_filled_page_is_filled_anew() {
    let page = empty_page("twice.html");
    let empty = fs::read_to_string(&page).unwrap();
    for name in ["one", "two"] {
        let list = json!({"items": [{"kind": "Node", "metadata": {"name": name}}]}).to_string();
        let ran = run("page", &["--page", &page, "--to", &page, "-f", "-"], list.as_bytes());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        let written = fs::read_to_string(&page).unwrap();
        assert_eq!(cluster(&written)["items"], json!([{"kind": "Node", "metadata": {"name": name}}]));
        assert_eq!(written.lines().count(), empty.lines().count());
    }
    // Nothing of a cluster is left in a page that nobody asked to fill.
    let ran = run("page", &["--page", &page, "--to", "-"], b"");
    assert_eq!((ran.code, ran.out), (Some(0), empty));
}

#[test]
fn the_page_begins_with_the_daemon_set_that_was_named() {
    let page = empty_page("named.html");
    let daemon_set =
        |name: &str| json!({"kind": "DaemonSet", "metadata": {"namespace": "ns", "name": name}, "spec": {}});
    let list = json!({"items": [daemon_set("a"), daemon_set("b\"><b>")]}).to_string();
    let fill = |name: &str| {
        run("page", &["--page", &page, "--to", "-", "-f", "-", "--daemonset", name], list.as_bytes())
    };
    assert!(fill("a").out.contains(" id=\"cluster\" data-daemonset=\"ns/a\">{"));
    assert!(fill("b\"><b>").out.contains(" data-daemonset=\"ns/b&quot;>&lt;b>\">{"));
    let ran = fill("c");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("no DaemonSet c in"), "{}", ran.err);
    // A name alone asks for a cluster, too.
    let ran = run("page", &["a", "--example", "--page", &page, "--to", "-"], b"");
    assert!(ran.err.contains("no DaemonSet a in"), "{}", ran.err);
}

#[test]
fn a_page_that_can_not_be_filled_has_its_reason() {
    let filled = path("filled.html");
    fs::write(&filled, "<p>no place</p>").unwrap();
    let ran = run("page", &["--page", &filled, "--to", "-", "--example"], b"");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert_eq!(ran.err, format!("error: {filled}: is no page\n"));
    let ran = run("page", &["--to", "-"], b"");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.starts_with("error: the page is not beside this program ("), "{}", ran.err);
    assert!(
        ran.err.ends_with("a release has it there, `just page` builds it, and --page names it\n"),
        "{}",
        ran.err
    );
}
