//! The same seed gives the same bytes.

use super::{agent, cluster, seconds, settings, template};
use daemonset_sim::{Behaviour, Churn, Cluster, Distribution, Kind, Probability, Settings};
use jiff::SignedDuration;

/// Settings with every kind of failure.
fn storm() -> Settings {
    let mut stormy = Settings::default().churn(Churn::default());
    stormy.churn.every = Some(Distribution::uniform(seconds(10), seconds(120)));
    stormy.churn.down_for = Some(Distribution::long_tail(seconds(20), seconds(90)));
    stormy.controller.crash = Probability::percent(1);
    stormy.controller.refused = Probability::percent(5);
    stormy.controller.answer_lost = Probability::percent(5);
    stormy
}

fn life(seed: u64) -> String {
    let mut cluster = Cluster::with_settings(storm(), seed, super::start());
    for node in ["a", "b", "c", "d", "e", "f"] {
        cluster.add_node(node, daemonset::model::Labels::default());
    }
    cluster.create_daemon_set(agent(template("v1")));
    cluster.run_for(SignedDuration::from_mins(5));
    cluster.set_watch_lag(Kind::Pods, Distribution::uniform(seconds(0), seconds(20)));
    let bad = Behaviour::default()
        .crash_at_start(Probability::percent(30))
        .evicted(Probability::percent(10))
        .never_ready(Probability::percent(10))
        .panics_node(Probability::percent(5))
        .lifetime(Some(Distribution::uniform(seconds(30), seconds(300))));
    cluster.release(bad, |template| template["spec"]["containers"][0]["image"] = "v2".into());
    cluster.run_for(SignedDuration::from_mins(20));
    cluster.crash_controller();
    cluster
        .release(Behaviour::default(), |template| template["spec"]["containers"][0]["image"] = "v3".into());
    cluster.run_for(SignedDuration::from_mins(20));
    let lines = cluster.history().iter().map(|event| serde_json::to_string(event).unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_gives_others() {
    let first = life(7);
    assert!(first == life(7), "two runs of one seed differ");
    assert!(first != life(8), "two seeds give the same events");
    for name in ["NodeGone", "NodeUnready", "PodFailed", "ControllerCrashed", "PodTerminating"] {
        assert!(first.contains(&format!("\"event\":\"{name}\"")), "the storm has no {name}");
    }
}

#[test]
fn without_chance_the_seed_does_not_matter() {
    let lines = |seed| {
        let mut cluster = Cluster::with_settings(settings(), seed, super::start());
        cluster.add_node("a", daemonset::model::Labels::default());
        cluster.create_daemon_set(agent(template("v1")));
        cluster.run_until_quiet(seconds(600)).unwrap();
        cluster.history().to_vec()
    };
    assert_eq!(lines(1), lines(2));
}

#[test]
fn running_in_pieces_gives_the_same_events() {
    let lines = |piece: i64| {
        let mut cluster = cluster(Settings::default(), &["a", "b", "c"]);
        cluster.create_daemon_set(agent(template("v1")));
        for _ in 0..600 / piece {
            cluster.run_for(seconds(piece));
        }
        cluster.history().to_vec()
    };
    assert_eq!(lines(600), lines(1));
}
