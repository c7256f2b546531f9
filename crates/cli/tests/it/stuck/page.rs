//! `docs/stuck.md` shows what is printed.

use super::{Cluster, HOUR, MINUTE, causes, controller, time};
use crate::program::{binary, finish};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The new pod of node-4 is not Ready beside the old one.
fn surge() -> Cluster {
    Cluster::updated(3, HOUR)
        .set("/spec/updateStrategy/rollingUpdate", json!({"maxUnavailable": 0, "maxSurge": 1}))
        .beside("node-4", 30 * MINUTE + 10, |pod| pod["status"]["conditions"][0]["status"] = json!("False"))
}

fn bake() -> Cluster {
    let waves = "waves: [{upTo: 1, bakeSeconds: 600}, {upTo: 3}]";
    Cluster::updated(1, 4 * MINUTE).annotated("policy", waves)
}

/// The dumps of the page, by the names of their files. The kubelets have just reported.
fn dumps() -> BTreeMap<&'static str, String> {
    [
        ("probe", causes::not_ready()),
        ("image", causes::image()),
        ("crash", causes::crash_loop()),
        ("node", causes::silent()),
        ("finalizer", causes::finalizer()),
        ("idle", controller::idle()),
        ("refused", controller::refused()),
        ("quota", controller::quota()),
        ("surge", surge()),
        ("port", causes::port()),
        ("ondelete", causes::on_delete()),
        ("approval", time::approval_of_another_revision()),
        ("typo", time::typo()),
        ("bake", bake()),
    ]
    .map(|(name, cluster)| (name, cluster.reported().json()))
    .into()
}

/// Each command of the page, with its output.
#[test]
fn the_page_shows_what_is_printed() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stuck-page");
    std::fs::create_dir_all(&directory).unwrap();
    for (name, dump) in dumps() {
        std::fs::write(directory.join(format!("{name}.json")), dump).unwrap();
    }
    let page = include_str!("../../../../../docs/stuck.md");
    let blocks = page.split("```console\n").skip(1).map(|block| block.split("```").next().unwrap());
    let mut shown = 0;
    for example in blocks.flat_map(|block| block.strip_prefix("$ ").unwrap().split("\n$ ")) {
        let (line, output) = example.split_once('\n').unwrap();
        let mut command = Command::new(binary());
        command.args(line.strip_prefix("kubectl daemonset ").unwrap().split(' '));
        command.env("KUBECTL", "/nowhere/kubectl").current_dir(&directory);
        let ran = finish(command, b"");
        assert_eq!((ran.err.as_str(), ran.out.trim_end()), ("", output.trim_end()), "{line}");
        shown += 1;
    }
    assert_eq!(shown, dumps().len() + 1, "each dump, and one of them twice");
}

/// A stuck rollout changes nothing: the kubelets tell how late it is.
#[test]
fn the_time_of_a_dump_is_that_of_the_last_sign_of_life() {
    let at = |cluster: &Cluster| {
        let path = crate::plan::file("stuck-clock.json", cluster.json());
        let ran = crate::program::run("stuck", &["-f", &path, "-o", "json"], b"");
        serde_json::from_str::<Value>(&ran.out).unwrap()["now"].clone()
    };
    let idle = controller::idle();
    assert_eq!(at(&idle), super::ago(88 * MINUTE));
    assert_eq!(at(&idle.clone().reported()), super::NOW);
    let ended = json!({"lastState": {"terminated": {"finishedAt": super::ago(MINUTE)}}});
    assert_eq!(at(&idle.clone().container("node-1", ended)), super::ago(MINUTE));
    let runs = json!({"state": {"running": {"startedAt": super::ago(30)}}});
    assert_eq!(at(&idle.container("node-1", runs)), super::ago(30));
}
