//! Pictures to look at: `cargo test -p daemonset-pictures looks:: -- --ignored` writes them, and says where.

use crate::fake::{Fake, at, run};
use crate::run::Run;
use crate::{compare, html, svg};
use daemonset::model::{IntOrString, Labels};
use daemonset_sim::{Behaviour, Cluster, Settings};
use jiff::SignedDuration;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn fakes() -> Vec<(&'static str, Fake)> {
    let fake = Fake::default;
    vec![
        ("rolling-60", fake()),
        ("surge-60", Fake { max_surge: 10, max_unavailable: 0, length: 400, ..fake() }),
        ("rolling-500", Fake { nodes: 500, max_unavailable: 50, length: 500, ..fake() }),
        ("rolling-150", Fake { nodes: 150, max_unavailable: 15, length: 500, ..fake() }),
        ("rolling-3", Fake { nodes: 3, max_unavailable: 1, length: 150, ..fake() }),
        ("broken-30", Fake { nodes: 30, max_unavailable: 3, broken: Some(1), length: 900, ..fake() }),
        (
            "crash-20",
            Fake { nodes: 20, max_unavailable: 2, crash_at: Some(100), node_down_at: Some(60), ..fake() },
        ),
        ("three-40", Fake { nodes: 40, max_unavailable: 5, changes: vec![20, 80, 160], ..fake() }),
        ("rolling-10000", Fake { nodes: 10_000, max_unavailable: 1000, length: 800, ..fake() }),
    ]
}

/// A rollout in a simulated cluster, from half a minute before it until half a minute after it.
fn simulated(name: &str, nodes: u32, limits: Value, settings: Settings, story: impl FnOnce(&mut Cluster)) {
    let mut cluster = Cluster::with_settings(settings, 7, at(0));
    for number in 0..nodes {
        cluster.add_node(&format!("node-{number}"), Labels::default());
    }
    let daemon_set = json!({
        "metadata": {"name": "agent", "namespace": "ns"},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "minReadySeconds": 10,
            "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "c", "image": "v1"}]}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": limits},
        },
    });
    cluster.create_daemon_set(serde_json::from_value(daemon_set).unwrap());
    cluster.run_rollout(SignedDuration::from_mins(5), SignedDuration::from_hours(1));
    let start = cluster.now();
    cluster.run_for(SignedDuration::from_secs(30));
    story(&mut cluster);
    let end = cluster.run_rollout(SignedDuration::from_mins(10), SignedDuration::from_hours(1));
    cluster.run_for(SignedDuration::from_secs(30));
    let (label, summary) = (format!("ns/agent: {name}"), vec![format!("{end:?}")]);
    let run = Run { label, events: cluster.history(), start, end: cluster.now(), summary };
    fs::write(folder().join(format!("real-{name}.svg")), svg::timeline(&run)).unwrap();
}

#[test]
#[ignore = "writes files"]
fn draws_simulated_rollouts() {
    let update = |cluster: &mut Cluster| {
        cluster.edit(|ds| ds.spec.template["spec"]["containers"][0]["image"] = "v2".into())
    };
    let calm = Settings::default;
    simulated("rolling", 60, json!({"maxUnavailable": "10%"}), calm(), update);
    simulated("surge", 60, json!({"maxSurge": "10%", "maxUnavailable": 0}), calm(), update);
    simulated("broken", 20, json!({"maxUnavailable": 3}), calm(), |cluster| {
        cluster.release(Behaviour::broken(), |template| {
            template["spec"]["containers"][0]["image"] = "v2".into()
        });
    });
    let mut rough = calm();
    rough.controller.crash = "2%".parse().unwrap();
    rough.behaviour.crash_at_start = "20%".parse().unwrap();
    rough.behaviour.evicted = "5%".parse().unwrap();
    simulated("rough", 40, json!({"maxUnavailable": 4}), rough, |cluster| {
        update(cluster);
        cluster.run_for(SignedDuration::from_secs(60));
        cluster.take_down("node-5");
        cluster.add_node("node-new", Labels::default());
        cluster.run_for(SignedDuration::from_secs(40));
        cluster.edit(|ds| {
            ds.spec.update_strategy.rolling_update.as_mut().unwrap().max_unavailable =
                Some(IntOrString::Int(8))
        });
        cluster.remove_node("node-9");
        cluster.run_for(SignedDuration::from_secs(60));
        cluster.bring_up("node-5");
    });
}

fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join("daemonset-pictures");
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
#[ignore = "writes files"]
fn draws_pictures_to_look_at() {
    let folder = folder();
    for (name, fake) in fakes() {
        let events = fake.events();
        let run = run("monitoring/node-exporter", &events, fake.length);
        fs::write(folder.join(format!("{name}.svg")), svg::timeline(&run)).unwrap();
        fs::write(folder.join(format!("{name}.html")), html::page(&run)).unwrap();
    }
    let settings = [
        ("maxUnavailable 1", 1, 0),
        ("maxUnavailable 10%", 6, 0),
        ("maxUnavailable 30%", 18, 0),
        ("maxSurge 10%", 0, 6),
    ];
    let fakes = settings.map(|(label, max_unavailable, max_surge)| {
        let fake = Fake { max_unavailable, max_surge, length: 2400, ..Fake::default() };
        (label, fake.events())
    });
    let runs: Vec<_> = fakes.iter().map(|(label, events)| run(label, events, 2400)).collect();
    fs::write(folder.join("compare.svg"), compare::svg(&runs)).unwrap();
    fs::write(folder.join("compare.html"), html::comparison(compare::TITLE, &compare::svg(&runs), &runs))
        .unwrap();
    println!("{:#?}", compare::table(&runs));
    println!("{}", folder.display());
}
