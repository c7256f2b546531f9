//! Simulates a rollout over twenty nodes, and prints the worst unavailability.
//!
//! ```console
//! $ cargo run -p daemonset-sim --example simulate
//! ```
//!
//! The simulation runs the planner of the crate `daemonset` against a simulated cluster: API server, scheduler, kubelets, and watch caches
//! that lag. It uses a virtual clock and a seed, so that a rollout of an hour takes milliseconds and every run gives the same
//! figures.
#![allow(clippy::restriction)]

use daemonset_sim::{Behaviour, Cluster, Distribution, Probability, RolloutEnd};
use jiff::SignedDuration;
use serde_json::{from_value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut cluster = Cluster::new(1);
    for number in 1..=20 {
        cluster.add_node(&format!("node-{number:02}"), Default::default());
    }
    cluster.create_daemon_set(from_value(json!({
        "metadata": {"name": "agent", "namespace": "monitoring"},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": {
                "metadata": {"labels": {"app": "agent"}},
                "spec": {"containers": [{"name": "agent", "image": "agent:1"}]},
            },
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}},
            "minReadySeconds": 5,
        },
    }))?);
    // The first version comes up on all nodes.
    cluster.run_until_quiet(SignedDuration::from_mins(10))?;

    // The second version starts slowly, and one start in ten crashes.
    let behaviour = Behaviour::default()
        .ready(Distribution::long_tail(SignedDuration::from_secs(10), SignedDuration::from_mins(1)))
        .crash_at_start(Probability::percent(10));
    let started = cluster.now();
    cluster.release(behaviour, |template| template["spec"]["containers"][0]["image"] = json!("agent:2"));

    // Wait for up to two hours; give up if nothing moves for fifteen minutes.
    let end = cluster.run_rollout(SignedDuration::from_mins(15), SignedDuration::from_hours(2));
    let summary = cluster.summary(started, end);

    println!("{:?} after {} s", summary.end, summary.duration_seconds);
    println!("maxUnavailable: {} of {} nodes", summary.max_unavailable, summary.desired);
    let worst = summary.worst_unavailable;
    match worst.at {
        Some(at) => println!("worst unavailability: {} nodes, first at {at}", worst.nodes),
        None => println!("no node was unavailable"),
    }
    println!("{} pods created, {} deleted", summary.pods_created, summary.pods_deleted);
    for verdict in &summary.not_updated {
        println!("node {} is not updated: {:?}", verdict.node, verdict.outcome);
    }
    assert_eq!(summary.end, RolloutEnd::Complete);
    // Crashes alone go beyond maxUnavailable.
    assert_eq!(summary.worst_taken_down.nodes, summary.max_unavailable);
    Ok(())
}

#[test]
fn the_example_runs() {
    main().unwrap();
}
