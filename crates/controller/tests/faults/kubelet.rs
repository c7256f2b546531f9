//! Scheduler and kubelets: they bind pods to nodes, make them Ready or Failed after a time, and remove terminating ones.

use crate::api_server::ApiServer;
use crate::pods::{image_of, is_deleting, is_finished, node_of, version_of};
use crate::store::{Actor, Id, Kind, id, text};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

const STARTS_IN: Duration = Duration::from_millis(400);
const ENDS_IN: Duration = Duration::from_millis(300);

/// The state of all kubelets.
#[derive(Default)]
pub struct Kubelets {
    /// When a pod began to start, or (`true`) to terminate.
    since: BTreeMap<(String, bool), Instant>,
}

/// Runs until the test ends. Pods with these images fail after their start; an image `non-existent` is never pulled.
pub async fn run(api: ApiServer, failing: BTreeSet<String>) {
    let mut kubelets = Kubelets::default();
    let mut changed = api.state().store.changed.subscribe();
    loop {
        changed.mark_unchanged();
        let wake = kubelets.act(&api, &failing);
        tokio::select! {
            _ = changed.changed() => {}
            () = sleep_until(wake) => {}
        }
    }
}

impl Kubelets {
    /// Takes the steps that are due; returns the instant of the next one.
    fn act(&mut self, api: &ApiServer, failing: &BTreeSet<String>) -> Instant {
        let now = Instant::now();
        let mut wake = now + Duration::from_secs(3600);
        let pods: Vec<Value> = api.state().store.list(Kind::Pod).cloned().collect();
        for pod in &pods {
            let Some(wait) = next_step_in(pod) else { continue };
            let since = self.since.entry((text(&pod["metadata"]["uid"]).to_owned(), is_deleting(pod)));
            let due = *since.or_insert(now) + wait;
            if due > now {
                wake = wake.min(due);
            } else if step(api, pod, failing) {
                wake = now;
            }
        }
        wake
    }
}

/// How long the next step of this pod takes; `None` if it has none.
fn next_step_in(pod: &Value) -> Option<Duration> {
    let managed = !version_of(pod).is_empty() && pod["metadata"]["finalizers"].is_null();
    let bound = !pod["spec"]["nodeName"].is_null();
    match (managed, is_deleting(pod), bound) {
        (false, _, _) => None,
        (true, true, _) => Some(ENDS_IN),
        (true, false, false) => Some(Duration::ZERO),
        (true, false, true) => (text(&pod["status"]["phase"]) == "Pending").then_some(STARTS_IN),
    }
}

/// Takes the next step of a pod; returns whether the pod changed.
fn step(api: &ApiServer, pod: &Value, failing: &BTreeSet<String>) -> bool {
    let store = &mut api.state().store;
    let own: Id = id(Kind::Pod, text(&pod["metadata"]["name"]));
    let now = store.clock.now().to_string();
    if is_deleting(pod) {
        store.remove(Actor::Others, &own);
    } else if pod["spec"]["nodeName"].is_null() {
        let node = node_of(pod).to_owned();
        if store.get(&id(Kind::Node, &node)).is_none() {
            return false;
        }
        store.change(Actor::Others, &own, |pod| pod["spec"]["nodeName"] = json!(node));
    } else if image_of(pod).contains("non-existent") {
        let waiting = json!({"name": "c", "state": {"waiting": {"reason": "ErrImagePull"}}});
        let was_tried = !pod["status"]["containerStatuses"].is_null();
        store.change(Actor::Others, &own, |pod| pod["status"]["containerStatuses"] = json!([waiting]));
        return !was_tried;
    } else if failing.contains(image_of(pod)) {
        store.change(Actor::Others, &own, |pod| pod["status"] = json!({"phase": "Failed"}));
    } else if !is_finished(pod) {
        let ready = json!({"type": "Ready", "status": "True", "lastTransitionTime": now});
        store.change(Actor::Others, &own, |pod| {
            pod["status"] = json!({"phase": "Running", "conditions": [ready]});
        });
    }
    true
}
