//! Drains of nodes in turn: evictions, disruption budgets, pods that block, gates, and turns of nobody.

use super::turns::{release, running, turn_story, with_policy};
use super::{add_small_node, agent, millis, pod_story, seconds, template};
use daemonset::policy::{DrainPolicy, FitPolicy, TurnMode, TurnPolicy};
use daemonset::{Policy, turns};
use daemonset_sim::{Change, Cluster, Distribution, Settings, Workload};
use serde_json::json;

fn drained() -> Policy {
    let turn = TurnPolicy::default().cordon(true).gates(["drained"]);
    Policy::default().turn(TurnMode::Take(turn)).drain(DrainPolicy::default())
}

fn web() -> Workload {
    let (ready, stop) = (Distribution::fixed(seconds(20)), Distribution::fixed(seconds(3)));
    Workload::new("web", 4).ready(ready).stop(stop)
}

fn on(cluster: &Cluster, node: &str) -> usize {
    cluster.pods().filter(|pod| pod.spec.node_name.as_str() == node).count()
}

/// The stories' lines without their times.
fn words(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect()
}

#[test]
fn a_node_is_emptied_before_its_pod_goes() {
    let mut cluster = running(with_policy(drained()), &["a", "b"]);
    cluster.add_workload(web());
    let since = cluster.now();
    cluster.edit(|ds| ds.spec.template = template("v2"));
    let (mut at_delete, mut seen) = (Vec::new(), cluster.history().len());
    cluster.watch_rollout(seconds(600), seconds(3600), |cluster| {
        for event in &cluster.history()[seen..] {
            if let Change::PodTerminating { pod, .. } = &event.change {
                at_delete.push(on(cluster, pod.node.as_str()));
            }
        }
        seen = cluster.history().len();
    });
    assert!(cluster.is_rolled_out(), "{:#?}", cluster.plan());
    assert_eq!(at_delete, [1, 1], "only the daemon is left");
    cluster.run_until_quiet(seconds(600)).unwrap();
    let turn = |node: &str, evictions: usize| {
        let evicted = std::iter::repeat_n(format!("PodEvicted {node}"), evictions);
        std::iter::once(format!("TurnBegan {node}"))
            .chain(evicted)
            .chain([format!("GateOpened {node}"), format!("ImagePulled {node}"), format!("TurnEnded {node}")])
            .collect::<Vec<_>>()
    };
    // The replicas of `a` move to `b`, and all of them to `a` then.
    assert_eq!(words(turn_story(&cluster, since)), [turn("a", 2), turn("b", 4)].concat());
    assert!(cluster.nodes().all(|node| !node.spec.unschedulable && node.metadata.annotations.is_empty()));
}

#[test]
fn a_disruption_budget_refuses_evictions_until_the_replacement_is_ready() {
    let mut cluster = running(with_policy(drained()), &["a", "b"]);
    cluster.add_workload(web().max_unavailable(Some(1)));
    let since = release(&mut cluster);
    let lines = turn_story(&cluster, since);
    let times = |word: &str| -> Vec<f64> {
        let of = lines.iter().filter(|line| line.ends_with(&format!("{word} a")));
        of.map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect()
    };
    let (evicted, refused) = (times("PodEvicted"), times("EvictionRefused"));
    assert_eq!(evicted.len(), 2);
    // Bound within 0.2 s, Ready after 20 s; the drain asks each five seconds.
    assert!(evicted[1] - evicted[0] >= 20.0 && evicted[1] - evicted[0] <= 25.3, "{lines:#?}");
    assert_eq!(refused.len(), 5, "{lines:#?}");
}

#[test]
fn a_pod_without_a_controller_blocks_until_a_person_removes_it() {
    let mut cluster = running(with_policy(drained()), &["a"]);
    cluster.add_workload(web());
    let lonely = json!({"metadata": {"name": "debug", "namespace": "apps"}, "spec": {"nodeName": "a"}});
    let uid = cluster.add_pod(&lonely).unwrap();
    let since = cluster.now();
    cluster.edit(|ds| ds.spec.template = template("v2"));
    cluster.run_for(seconds(600));
    assert_eq!(words(turn_story(&cluster, since)), ["TurnBegan a"], "nothing is evicted either");
    assert_eq!(cluster.next_at(), None, "nobody asks before something changes");
    cluster.delete_pod(&uid);
    cluster.run_for(seconds(600));
    assert!(words(turn_story(&cluster, since)).contains(&"TurnEnded a".to_owned()));
    assert!(cluster.is_rolled_out());
}

#[test]
fn local_storage_blocks_by_default() {
    let policy = |drain: DrainPolicy| drained().drain(drain);
    for (policy, is_drained) in [
        (policy(DrainPolicy::default()), false),
        (policy(DrainPolicy::default().delete_empty_dir_data(true)), true),
    ] {
        let mut cluster = running(with_policy(policy), &["a", "b"]);
        cluster.add_workload(web().local_storage(true));
        cluster.edit(|ds| ds.spec.template = template("v2"));
        cluster.run_for(seconds(600));
        assert_eq!(cluster.is_rolled_out(), is_drained);
    }
}

#[test]
fn gates_have_openers_of_their_own() {
    let turn = TurnPolicy::default().gates(["backup"]);
    let mut settings: Settings = with_policy(Policy::default().turn(TurnMode::Take(turn)));
    settings.gates.insert("backup".to_owned(), Distribution::fixed(seconds(100)));
    let mut cluster = running(settings, &["a"]);
    let since = release(&mut cluster);
    let lines = turn_story(&cluster, since);
    assert_eq!(lines[..2], ["0.1 TurnBegan a", "100.1 GateOpened a"]);
    assert_eq!(pod_story(&cluster, since)[0], "100.1 PodTerminating a");
}

#[test]
fn nobody_opens_a_gate_of_another_turn() {
    let turn = TurnPolicy::default().gates(["backup"]);
    let mut settings: Settings = with_policy(Policy::default().turn(TurnMode::Take(turn)));
    settings.gates.insert("backup".to_owned(), Distribution::fixed(seconds(100)));
    let mut cluster = running(settings, &["a"]);
    let since = cluster.now();
    for (version, after) in [("v2", 50), ("v1", 1), ("v3", 99)] {
        cluster.edit(|ds| ds.spec.template = template(version));
        cluster.run_for(seconds(after));
    }
    // The undo ended the first turn, whose answer comes too late.
    assert_eq!(words(turn_story(&cluster, since)), ["TurnBegan a", "TurnEnded a", "TurnBegan a"]);
    cluster.run_for(seconds(2));
    assert_eq!(words(turn_story(&cluster, since)).last().unwrap(), "GateOpened a");
}

#[test]
fn a_drain_goes_on_after_refusals_and_crashes() {
    let mut settings = with_policy(drained());
    settings.controller.refused = daemonset_sim::Probability::percent(30);
    settings.controller.crash = daemonset_sim::Probability::percent(10);
    settings.controller.answer_lost = daemonset_sim::Probability::percent(10);
    let mut cluster = running(settings, &["a", "b", "c"]);
    cluster.add_workload(web().max_unavailable(Some(1)));
    release(&mut cluster);
    assert!(cluster.nodes().all(|node| !node.spec.unschedulable));
}

#[test]
fn turns_of_nobody_end_at_the_start_of_the_controller_and_every_ten_minutes() {
    let mut cluster = running(with_policy(Policy::default()), &["a"]);
    let gone = format!("turn.daemonset/{}", "gone.00000000");
    cluster.cordon("a");
    cluster.annotate_node("a", &gone, Some("3 2026-01-01T00:00:00Z cordoned"));
    let is_cordoned = |cluster: &Cluster| cluster.nodes().any(|node| node.spec.unschedulable);
    cluster.run_for(seconds(1));
    assert!(!is_cordoned(&cluster), "the first look");
    cluster.cordon("a");
    cluster.annotate_node("a", &gone, Some("3 2026-01-01T00:00:00Z cordoned"));
    cluster.run_for(seconds(590));
    assert!(is_cordoned(&cluster));
    cluster.run_for(seconds(11));
    assert!(!is_cordoned(&cluster));
    cluster.cordon("a");
    cluster.annotate_node("a", &gone, Some("3 2026-01-01T00:00:00Z cordoned"));
    cluster.crash_controller();
    cluster.run_for(seconds(16));
    assert!(!is_cordoned(&cluster), "a new start");
}

#[test]
fn the_turn_of_another_daemon_set_is_no_leftover() {
    let mut cluster = running(with_policy(Policy::default()), &["a"]);
    let mut other = agent(template("v1"));
    (other.metadata.name, other.metadata.uid) = ("other".to_owned(), "uid-other".into());
    let key = format!("turn.daemonset/{}", turns::key(&other));
    let uid = other.metadata.uid.clone();
    cluster.add_other_daemon_set(other);
    cluster.annotate_node("a", &key, Some("3 2026-01-01T00:00:00Z"));
    cluster.run_for(seconds(1200));
    let has_turn =
        |cluster: &Cluster| cluster.nodes().any(|node| node.metadata.annotations.contains_key(&key));
    assert!(has_turn(&cluster));
    cluster.remove_other_daemon_set(&uid);
    cluster.run_for(seconds(3));
    assert!(!has_turn(&cluster));
}

#[test]
fn a_pod_stays_where_the_new_one_does_not_fit() {
    let mut settings = with_policy(Policy::default().fit(FitPolicy::Hold));
    settings.scheduling = Distribution::fixed(millis(100));
    let mut cluster = super::cluster(settings, &[]);
    add_small_node(&mut cluster, "small", 1000);
    add_small_node(&mut cluster, "large", 4000);
    let version = |image: &str, cpu: &str| {
        let mut template = template(image);
        template["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": cpu}});
        template
    };
    cluster.create_daemon_set(agent(version("v1", "500m")));
    cluster.run_until_quiet(seconds(600)).unwrap();
    let since = cluster.now();
    cluster.edit(|ds| ds.spec.template = version("v2", "2"));
    cluster.run_for(seconds(600));
    let story = pod_story(&cluster, since);
    assert!(!story.is_empty() && story.iter().all(|line| line.ends_with("large")), "{story:#?}");
}
