//! The watcher detects violations of the promises that it checks.

use super::support::cluster;
use crate::support::rolling;
use daemonset::model::{NodeName, ObjectRef, Pod};
use daemonset::{Action, DeleteReason, Snapshot, reconcile};
use daemonset_sim::{Distribution, Kind, Planner};
use jiff::SignedDuration;

/// A planner that replaces all pods at once.
struct Hasty(Vec<(NodeName, ObjectRef)>);

impl Planner for Hasty {
    fn plan(&mut self, snapshot: &Snapshot<'_>) -> Vec<Action> {
        let delete = |(node, pod)| Action::delete_pod(node, pod, DeleteReason::OutdatedAvailable);
        let deletes: Vec<Action> = self.0.drain(..).map(delete).collect();
        if deletes.is_empty() { reconcile(snapshot) } else { deletes }
    }
}

#[test]
#[should_panic(expected = "at most 2 may be down")]
fn the_watcher_sees_a_third_node_that_is_taken_down() {
    let mut story = cluster(["a", "b", "c"], rolling(2));
    let pod = |pod: &Pod| ObjectRef {
        namespace: pod.metadata.namespace.clone(),
        name: pod.metadata.name.clone(),
        uid: pod.metadata.uid.clone(),
        resource_version: String::new(),
    };
    let pods = story.cluster.pods().map(|p| (p.spec.node_name.clone(), pod(p))).collect();
    story.cluster.set_planner(Hasty(pods));
    story.update("v2");
    story.settle();
}

#[test]
#[should_panic(expected = "live pods a node")]
fn the_watcher_sees_a_second_pod_on_a_node() {
    let mut story = cluster(["a", "b"], rolling(1));
    story.cluster.configure_controller(|settings| settings.remembers = false);
    story.cluster.set_watch_lag(Kind::Pods, Distribution::fixed(SignedDuration::from_secs(5)));
    story.cluster.add_node("c", Default::default());
    story.run(2);
    story.update("v2");
    story.settle();
}
