//! Rules that hold for every picture.

use crate::fake::{self, Fake, at, run};
use crate::run::Run;
use crate::timeline::Timeline;
use crate::{compare, downtime, html, palette, svg};
use daemonset::model::Labels;
use daemonset_sim::{Cluster, Event, Settings};
use jiff::{SignedDuration, Timestamp};
use roxmltree::Document;
use serde_json::json;

/// All that a run can show, in rows and in layers.
fn fakes() -> Vec<Fake> {
    let fake = Fake { nodes: 12, max_unavailable: 3, length: 200, ..Fake::default() };
    vec![
        fake.clone(),
        Fake { nodes: 5, max_unavailable: 1, crash_at: Some(22), node_down_at: Some(30), ..fake.clone() },
        Fake { max_surge: 4, max_unavailable: 0, ..fake.clone() },
        Fake { broken: Some(1), changes: vec![20, 60, 100], ..fake.clone() },
        Fake { nodes: 120, max_unavailable: 40, ..fake.clone() },
        Fake { nodes: 260, max_unavailable: 80, changes: vec![20, 90], ..fake.clone() },
        Fake { nodes: 0, ..fake },
    ]
}

fn texts(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap();
    document
        .descendants()
        .filter(|node| node.is_text())
        .filter_map(|node| node.text())
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_picture_is_well_formed_and_the_same_again() {
    for fake in fakes() {
        let events = fake.events();
        let picture = svg::timeline(&run("monitoring/node-exporter", &events, fake.length));
        let again = fake.events();
        assert_eq!(picture, svg::timeline(&run("monitoring/node-exporter", &again, fake.length)));
        let document = Document::parse(&picture).unwrap();
        let root = document.root_element();
        assert_eq!(root.tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
        assert_eq!(root.attribute("role"), Some("img"));
        assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
    }
}

#[test]
fn the_legend_names_exactly_the_states_that_are_drawn() {
    for fake in fakes() {
        let events = fake.events();
        let run = run("x", &events, fake.length);
        let timeline = Timeline::of(&run);
        let picture = svg::timeline(&run);
        let document = Document::parse(&picture).unwrap();
        let classes = |prefix: &str| {
            let all = document.descendants().filter_map(|node| node.attribute("class"));
            let mut found: Vec<String> =
                all.filter_map(|it| it.strip_prefix(prefix)).map(str::to_owned).collect();
            found.sort();
            found
        };
        let mut drawn = [classes("row "), classes("band "), classes("lane ")].concat();
        drawn.sort();
        assert_eq!(classes("chip "), drawn);
        let texts = texts(&picture);
        for state in timeline.states().into_iter().filter(|state| state.shows()) {
            assert!(texts.contains(&palette::label(state, &timeline.revisions)), "{state:?}");
        }
    }
}

#[test]
fn the_fakes_reach_every_state() {
    let mut classes = Vec::new();
    for fake in fakes() {
        let events = fake.events();
        let timeline = Timeline::of(&run("x", &events, fake.length));
        classes.extend(timeline.states().into_iter().map(|state| palette::class(state, 2)));
    }
    for class in
        ["r0of2", "r1of2", "doubled", "settling", "starting", "nopod", "terminating", "failed", "nodedown"]
    {
        assert!(classes.iter().any(|it| it == class), "{class}");
    }
}

#[test]
fn names_are_escaped() {
    let name = "<script>alert('a & \"b\"')</script>\u{1}";
    let fake = Fake { nodes: 2, length: 60, ..Fake::default() };
    let events = fake.events();
    let hostile = || Run { summary: vec![name.to_owned()], ..run(name, &events, fake.length) };
    let shown = "<script>alert('a & \"b\"')</script> ";
    assert!(texts(&svg::timeline(&hostile())).iter().any(|text| text == shown));
    assert!(texts(&compare::svg(&[hostile(), hostile()])).iter().any(|text| text.starts_with("<script>")));
    assert!(!html::page(&hostile()).contains("<script>alert"));
}

#[test]
fn large_fleets_stay_small_files() {
    for nodes in [60, 3000] {
        let fake = Fake { nodes, max_unavailable: nodes / 10, length: 400, ..Fake::default() };
        let size = svg::timeline(&run("x", &fake.events(), fake.length)).len();
        assert!(size < 60_000, "{nodes} nodes: {size} bytes");
    }
}

#[test]
fn a_comparison_names_every_run() {
    let settings = [("one at a time", 1), ("a third", 4), ("never done", 0)];
    let fakes = settings.map(|(label, max_unavailable)| {
        (label, Fake { nodes: 12, max_unavailable, length: 400, ..Fake::default() }.events())
    });
    let runs: Vec<Run<'_>> =
        fakes.iter().map(|(label, events): &(&str, Vec<Event>)| run(label, events, 400)).collect();
    let texts = texts(&compare::svg(&runs));
    let table = format!("{:?}", compare::table(&runs));
    for (label, _) in settings {
        assert!(texts.iter().any(|text| text == label), "{label}");
        assert!(table.contains(label), "{label}");
    }
    assert!(texts.iter().any(|text| text == "not done"), "{texts:?}");
    assert_eq!(html::comparison(compare::TITLE, &compare::svg(&runs), &runs).matches("<figure").count(), 4);
}

#[test]
fn a_comparison_of_downtime_names_every_run() {
    let settings = [("one at a time", 1, 0), ("surge", 0, 4), ("nobody", 0, 0)];
    let fakes = settings.map(|(label, max_unavailable, max_surge)| {
        (label, Fake { nodes: 12, max_unavailable, max_surge, length: 400, ..Fake::default() }.events())
    });
    let runs: Vec<Run<'_>> =
        fakes.iter().map(|(label, events): &(&str, Vec<Event>)| run(label, events, 400)).collect();
    let picture = downtime::svg(&runs);
    assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
    let (texts, table) = (texts(&picture), format!("{:?}", downtime::table(&runs)));
    for (label, ..) in settings {
        assert!(texts.iter().any(|text| text == label) && table.contains(label), "{label}");
    }
    assert_eq!(texts.iter().filter(|text| *text == "no node is down").count(), 2, "{texts:?}");
    assert!(downtime::svg(&[]).contains("the proposal&apos;s goal"));
}

/// A rollout with everything that can go wrong, in a simulated cluster.
fn rough(seed: u64) -> (Cluster, Timestamp) {
    let mut settings = Settings::default();
    settings.controller.crash = "2%".parse().unwrap();
    settings.behaviour.crash_at_start = "20%".parse().unwrap();
    settings.behaviour.evicted = "5%".parse().unwrap();
    let mut cluster = Cluster::with_settings(settings, seed, at(0));
    (0..12).for_each(|number| cluster.add_node(&format!("node-{number}"), Labels::default()));
    let spec = serde_json::to_value(fake::spec(10, json!({"maxUnavailable": 3}))).unwrap();
    let daemon_set = json!({"metadata": {"name": "agent", "namespace": "ns"}, "spec": spec});
    cluster.create_daemon_set(serde_json::from_value(daemon_set).unwrap());
    cluster.run_for(SignedDuration::from_mins(5));
    let start = cluster.now();
    cluster.edit(|ds| ds.spec.template["spec"]["containers"][0]["image"] = "v2".into());
    cluster.run_for(SignedDuration::from_secs(40));
    cluster.take_down("node-5");
    cluster.add_node("node-new", Labels::default());
    cluster.taint("node-7", "maintenance", "NoExecute");
    cluster.run_for(SignedDuration::from_secs(40));
    cluster.remove_node("node-9");
    cluster.untaint("node-7", "maintenance");
    cluster.bring_up("node-5");
    cluster.run_for(SignedDuration::from_mins(10));
    (cluster, start)
}

#[test]
fn the_rows_agree_with_the_curve() {
    for seed in 0..20 {
        let (cluster, start) = rough(seed);
        let (events, end) = (cluster.history(), cluster.now());
        let timeline = Timeline::of(&Run { label: String::new(), events, start, end, summary: Vec::new() });
        let points = &timeline.curves.points;
        let lasting = points.windows(2).filter(|pair| pair[0].t < pair[1].t).map(|pair| pair[0]);
        for point in lasting.filter(|point| point.t > 0) {
            let now = timeline.spans().filter(|span| span.from <= point.t && point.t < span.to);
            let counted: Vec<_> = now.filter(|span| span.target).collect();
            let down = counted.iter().filter(|span| !span.available).count();
            let point_says = (point.nodes as usize, point.unavailable as usize);
            assert_eq!((counted.len(), down), point_says, "seed {seed} at {} ms: {counted:#?}", point.t);
        }
    }
}
