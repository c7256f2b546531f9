//! The metrics of each DaemonSet, whether a policy steers its rollout or not.

use crate::api_server::NAMESPACE;
use crate::cluster::{AGENT, CRASHES, Cluster, HOUR};
use crate::objects::{daemon_set, rolling, surging};
use crate::pods::image_of;
use crate::rollouts::{BROKEN, MINUTE, NEW, PAUSED, POLICY, WAVES};
use crate::store::{Actor, Kind, id, text};
use daemonset::outlook::{ObstacleKind, Outlook, RolloutState};
use daemonset::policy::RolloutPolicy;
use daemonset::report::{BudgetUse, NodePlacement, NodeVerdict, PodState, UnavailableCause};
use daemonset::{Plan, Policy, Recording};
use jiff::SignedDuration;
use serde_json::{Value, from_value, json};
use std::collections::BTreeMap;
use tokio::time::sleep;

/// The metrics that each DaemonSet has.
const NAMES: [&str; 8] = [
    "budget_nodes",
    "budget_spent_before_start",
    "budget_used_nodes",
    "desired_nodes",
    "outdated_nodes",
    "rollout_age_seconds",
    "stuck",
    "unavailable_nodes",
];

/// The series of a DaemonSet with their values, sorted, without the labels that all of them have.
fn series(cluster: &Cluster, name: &str) -> Vec<(String, f64)> {
    let labels = format!("namespace=\"{NAMESPACE}\",daemonset=\"{name}\"");
    let text = cluster.metrics.text();
    let mut series: Vec<(String, f64)> = text
        .lines()
        .filter(|line| NAMES.iter().any(|name| line.starts_with(&format!("daemonset_{name}{{"))))
        .filter(|line| line.contains(&labels))
        .map(|line| {
            let (series, value) = line.rsplit_once(' ').expect("a value");
            let short = series.replace(&format!("{labels},"), "").replace(&format!("{{{labels}}}"), "");
            (short.replace("daemonset_", ""), value.parse().expect("a number"))
        })
        .collect();
    series.sort_by(|(a, _), (b, _)| a.cmp(b));
    series
}

/// Those of the DaemonSet of the stories that are not 0.
fn figures(cluster: &Cluster) -> Vec<String> {
    let series = series(cluster, AGENT).into_iter().filter(|(_, value)| *value != 0.0);
    series.map(|(series, value)| format!("{series} {value:.0}")).collect()
}

#[tokio::test(start_paused = true)]
async fn a_rollout_that_stands_still_shows_why_and_for_how_long() {
    let cluster = Cluster::steady(4, rolling(1)).await;
    assert_eq!(figures(&cluster), ["budget_nodes 1", "desired_nodes 4"]);
    cluster.release(BROKEN);
    sleep(MINUTE).await;
    let is_old = |line: &String| line.starts_with("rollout_age_seconds");
    let mut without_age = figures(&cluster);
    without_age.retain(|line| !is_old(line));
    let broken = [
        "budget_nodes 1",
        "budget_used_nodes 1",
        "desired_nodes 4",
        "outdated_nodes 3",
        "unavailable_nodes{cause=\"Pulling\"} 1",
    ];
    assert_eq!(without_age, broken);
    let calls = cluster.api.state().calls.len();
    sleep(10 * MINUTE).await;
    let stuck = figures(&cluster);
    assert!(stuck.contains(&"stuck{obstacle=\"NotReady\"} 1".to_owned()), "{stuck:?}");
    let age = stuck.iter().find_map(|line| line.strip_prefix("rollout_age_seconds ")?.parse::<f64>().ok());
    assert!(age.is_some_and(|age| (655.0..662.0).contains(&age)), "{stuck:?}");
    let others = cluster.api.state().calls[calls..].iter().filter(|call| call.verb.writes()).count();
    assert_eq!(others, 0, "time alone has brought the obstacle");
    cluster.release(NEW);
    cluster.done(HOUR).await;
    sleep(MINUTE).await;
    assert_eq!(figures(&cluster), ["budget_nodes 1", "desired_nodes 4"]);
}

#[tokio::test(start_paused = true)]
async fn the_series_of_a_daemon_set_go_with_it() {
    let cluster = Cluster::steady(2, rolling(1)).await;
    cluster.api.state().store.create(Actor::Others, Kind::DaemonSet, daemon_set("second", &surging(1)));
    sleep(MINUTE).await;
    // Each series is there from the beginning, so that no query waits for the first obstacle.
    let count = 6 + UnavailableCause::ALL.len() + ObstacleKind::ALL.len();
    assert_eq!([AGENT, "second"].map(|name| series(&cluster, name).len()), [count; 2]);
    cluster.api.state().store.remove(Actor::Others, &id(Kind::DaemonSet, "second"));
    sleep(MINUTE).await;
    assert_eq!([AGENT, "second"].map(|name| series(&cluster, name).len()), [count, 0]);
}

#[tokio::test(start_paused = true)]
async fn an_age_begins_with_the_revision_and_with_each_return_to_it() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    let age = || {
        series(&cluster, AGENT).into_iter().find(|(name, _)| name == "rollout_age_seconds").expect("an age").1
    };
    sleep(HOUR).await;
    cluster.release(CRASHES);
    sleep(MINUTE).await;
    assert!((59.0..61.0).contains(&age()), "{}", age());
    // The first revision again: it is hours old, and its rollout is not.
    cluster.release("agent:v1");
    sleep(std::time::Duration::from_millis(300)).await;
    assert!((0.1..0.5).contains(&age()), "{}", age());
    cluster.done(HOUR).await;
    sleep(MINUTE).await;
    assert_eq!(age(), 0.0);
    // A pod that goes begins no rollout.
    let pods = cluster.pods_of_agent();
    cluster.allow_down(1);
    cluster.api.state().store.change(
        Actor::Others,
        &id(Kind::Pod, text(&pods[0]["metadata"]["name"])),
        |pod| {
            pod["status"]["conditions"] = json!([]);
        },
    );
    sleep(MINUTE).await;
    assert_eq!(age(), 0.0);
    assert_eq!(figures(&cluster)[3..], ["unavailable_nodes{cause=\"Starting\"} 1"]);
}

#[tokio::test(start_paused = true)]
async fn plans_calls_and_the_process_are_counted() {
    let cluster = Cluster::steady(2, rolling(1)).await;
    let value = |name: &str| -> Option<f64> {
        let text = cluster.metrics.text();
        text.lines().find_map(|line| line.strip_prefix(&format!("{name} "))?.parse().ok())
    };
    let created = r#"daemonset_calls_total{action="CreatePod",answer="done"}"#;
    assert_eq!(value(created), Some(2.0));
    let plans = value("daemonset_plans_total").expect("plans");
    cluster.fault(crate::faults::Verb::Delete, Kind::Pod, crate::faults::Fault::Forbidden, 1);
    cluster.release(NEW);
    cluster.done(HOUR).await;
    assert_eq!(value(created), Some(4.0));
    assert_eq!(value(r#"daemonset_calls_total{action="DeletePod",answer="rejected"}"#), Some(1.0));
    assert_eq!(value(r#"daemonset_calls_total{action="DeletePod",answer="done"}"#), Some(2.0));
    assert!(value("daemonset_plans_total") >= Some(plans + 5.0));
    assert_eq!(value("daemonset_refused_plans_total"), Some(0.0));
    assert!(value("daemonset_verified_plans_total") >= Some(4.0));
    assert_eq!(value("daemonset_differing_plans_total"), Some(0.0));
    let build = format!("daemonset_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
    assert_eq!(value(&build), Some(1.0));
    assert!(cfg!(not(target_os = "linux")) || value("process_resident_memory_bytes") > Some(1e6));
}

/// The plan of all objects, as the API server has them.
fn plan_of_all(cluster: &Cluster, policy: &Policy) -> (Plan, Recording) {
    let state = cluster.api.state();
    let list = |kind| -> Value { state.store.list(kind).cloned().collect() };
    let mut recording: Recording = from_value(json!({
        "now": state.store.clock.now(), "daemonSet": state.store.get(&id(Kind::DaemonSet, AGENT)),
        "nodes": list(Kind::Node), "pods": list(Kind::Pod), "revisions": list(Kind::Revision),
    }))
    .expect("a recording");
    recording.policy = policy.clone();
    (daemonset::plan(&recording.snapshot().expect("valid")), recording)
}

/// The figures of a plan of all objects, counted node by node.
fn counted(plan: &Plan, recording: &Recording) -> BTreeMap<String, f64> {
    let mut figures: BTreeMap<String, f64> = BTreeMap::new();
    let mut add = |series: String| *figures.entry(series).or_default() += 1.0;
    let is_live_and_outdated = |node: &NodeVerdict| {
        let is_gone =
            |state| matches!(state, PodState::Terminating { .. } | PodState::Failed | PodState::Succeeded);
        node.pods.iter().any(|pod| !pod.updated && !is_gone(pod.state))
    };
    for node in &plan.report.nodes {
        let BudgetUse { unavailable, down_after_update: lost, .. } = node.counts;
        if node.placement == NodePlacement::Run {
            add("desired_nodes".to_owned());
            if is_live_and_outdated(node) {
                add("outdated_nodes".to_owned());
            }
        }
        if let Some(cause) = node.unavailable.filter(|_| !node.counts.excused) {
            add(format!("unavailable_nodes{{cause=\"{cause:?}\"}}"));
        }
        if unavailable || lost {
            add("budget_used_nodes".to_owned());
        }
    }
    let outlook = Outlook::new(plan, recording.now, SignedDuration::from_mins(10)).expect("all nodes");
    if let RolloutState::Stuck { obstacles, .. } = outlook.state {
        obstacles.iter().for_each(|obstacle| add(format!("stuck{{obstacle=\"{:?}\"}}", obstacle.kind)));
    }
    figures
}

/// While nothing is under way, so that caches and storage are the same.
#[tokio::test(start_paused = true)]
async fn the_sums_are_those_of_a_plan_of_all_objects() {
    let down = |cluster: &Cluster, name: &str| {
        cluster.api.state().store.change(Actor::Others, &id(Kind::Node, name), |node| {
            node["status"]["conditions"] = json!([{"type": "Ready", "status": "False"}]);
        });
    };
    let unready = |cluster: &Cluster, image: &str| {
        let pod = cluster.pods_of_agent().into_iter().find(|pod| image_of(pod) == image).expect("a pod");
        cluster.api.state().store.change(
            Actor::Others,
            &id(Kind::Pod, text(&pod["metadata"]["name"])),
            |pod| {
                pod["status"]["conditions"][0]["status"] = json!("False");
            },
        );
    };
    let cluster = Cluster::steady(8, rolling(2)).await;
    cluster.allow_down(8);
    let mut stuck = Vec::new();
    let mut check = async |policy: Policy| {
        sleep(15 * MINUTE).await;
        let (plan, recording) = plan_of_all(&cluster, &policy);
        assert!(!plan.acts(), "{}", plan.summary());
        let mut expected = counted(&plan, &recording);
        expected.retain(|name, _| !name.starts_with("budget_nodes"));
        let shown = series(&cluster, AGENT).into_iter().filter(|(name, value)| {
            *value != 0.0
                && !["budget_nodes", "budget_spent_before_start", "rollout_age_seconds"]
                    .contains(&name.as_str())
        });
        assert_eq!(shown.collect::<BTreeMap<_, _>>(), expected);
        stuck.extend(expected.into_keys().filter(|name| name.starts_with("stuck")));
    };
    check(Policy::default()).await;
    down(&cluster, "n03");
    check(Policy::default()).await;
    cluster.release(BROKEN);
    check(Policy::default()).await;
    unready(&cluster, "agent:v1");
    check(Policy::default()).await;
    cluster.release(NEW);
    check(Policy::default()).await;
    cluster.annotate(POLICY, Some(WAVES));
    cluster.release("agent:v3");
    let rollout = |text: &str| {
        Policy::default().rollout(serde_saphyr::from_str::<RolloutPolicy>(text).expect("a policy"))
    };
    check(rollout(WAVES)).await;
    cluster.annotate(PAUSED, Some("true"));
    check(rollout(&format!("{WAVES}paused: true\n"))).await;
    stuck.sort();
    stuck.dedup();
    assert!(stuck.len() >= 3, "{stuck:?}");
}
