//! Watch caches: they lag, keep the order of each kind, can be frozen, and list again.

use super::{cluster, count, is_ready, pods_on, running, seconds, settings, start, template};
use daemonset::{Action, Recording, Snapshot};
use daemonset_sim::{Cluster, Distribution, Kind};
use std::cell::RefCell;
use std::rc::Rc;

/// Records the generation and the node names that an idle controller sees at each reconcile.
type Sights = Rc<RefCell<Vec<(i64, Vec<String>)>>>;

fn watched(nodes: &[&str]) -> (Cluster, Sights) {
    let mut cluster = cluster(settings(), nodes);
    let sights = Sights::default();
    let seen = Rc::clone(&sights);
    cluster.set_planner(move |snapshot: &Snapshot<'_>| -> Vec<Action> {
        let recording = Recording::from(snapshot);
        let mut nodes: Vec<_> = recording.nodes.iter().map(|node| node.metadata.name.to_string()).collect();
        nodes.sort();
        seen.borrow_mut().push((recording.daemon_set.metadata.generation, nodes));
        Vec::new()
    });
    cluster.create_daemon_set(super::agent(template("v1")));
    cluster.run_for(seconds(1));
    sights.take();
    (cluster, sights)
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn kinds_overtake_each_other() {
    let (mut cluster, sights) = watched(&["a"]);
    cluster.set_watch_lag(Kind::Nodes, Distribution::fixed(seconds(5)));
    cluster.add_node("b", Default::default());
    cluster.run_for(seconds(1));
    cluster.edit(|ds| ds.spec.min_ready_seconds = 9);
    cluster.run_for(seconds(60));
    assert_eq!(*sights.borrow(), [(2, names(&["a"])), (2, names(&["a", "b"]))]);
}

#[test]
fn one_kind_keeps_its_order() {
    let (mut cluster, sights) = watched(&["a"]);
    cluster.set_watch_lag(Kind::Nodes, Distribution::fixed(seconds(5)));
    cluster.add_node("b", Default::default());
    cluster.set_watch_lag(Kind::Nodes, Distribution::fixed(seconds(0)));
    cluster.add_node("c", Default::default());
    cluster.run_for(seconds(60));
    assert_eq!(*sights.borrow(), [(1, names(&["a", "b", "c"]))], "c waits for b");
}

#[test]
fn a_frozen_cache_sees_nothing_until_it_is_thawed() {
    let mut cluster = running(&["a"]);
    cluster.freeze(Kind::Nodes);
    cluster.add_node("b", Default::default());
    cluster.run_for(seconds(3600));
    assert_eq!(pods_on(&cluster, "b"), []);
    cluster.thaw(Kind::Nodes);
    cluster.run_for(seconds(60));
    assert!(pods_on(&cluster, "b").iter().all(is_ready) && pods_on(&cluster, "b").len() == 1);
}

#[test]
fn a_starting_controller_lists_even_frozen_kinds() {
    let mut cluster = running(&["a"]);
    cluster.freeze(Kind::Nodes);
    cluster.add_node("b", Default::default());
    cluster.crash_controller();
    let crashed = cluster.now();
    cluster.run_until(crashed + seconds(14));
    assert_eq!(pods_on(&cluster, "b"), [], "the controller is down for 15 s");
    cluster.run_for(seconds(2));
    assert_eq!(pods_on(&cluster, "b").len(), 1);
}

#[test]
fn caches_catch_up_after_a_list_of_the_past() {
    let mut cluster = cluster(settings(), &[]);
    cluster.keep_log();
    cluster.add_node("a", Default::default());
    cluster.create_daemon_set(super::agent(template("v1")));
    cluster.run_for(seconds(60));
    cluster.remove_node("a");
    cluster.add_node("b", Default::default());
    cluster.run_for(seconds(60));
    let before = count(&cluster, "PodCreated");
    cluster.relist_from_the_past(seconds(90));
    cluster.run_for(seconds(60));
    assert_eq!(cluster.status().desired_number_scheduled, 1);
    assert!(pods_on(&cluster, "b").len() == 1 && pods_on(&cluster, "a").is_empty());
    assert!(count(&cluster, "PodCreated") <= before + 1 && cluster.now() > start());
}
