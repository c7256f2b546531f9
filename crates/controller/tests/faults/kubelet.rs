//! Scheduler and kubelets: they bind pods to nodes, make them Ready or Failed after a time, start a changed container anew, and remove
//! terminating pods.

use crate::api_server::ApiServer;
use crate::pods::{image_of, is_deleting, is_finished, is_pull_pod, node_of, version_of};
use crate::store::{Actor, Id, Kind, id, text};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

const STARTS_IN: Duration = Duration::from_millis(400);
const ENDS_IN: Duration = Duration::from_millis(300);
/// How long it takes to pull the images of a pull pod.
const PULLS_IN: Duration = Duration::from_secs(3);
/// The label of pods that others have created, and that kubelets run all the same.
pub const TENANT: &str = "tenant";

/// The state of all kubelets.
#[derive(Default)]
pub struct Kubelets {
    /// When a pod began to start this image or, without one, to terminate.
    since: BTreeMap<(String, Option<String>), Instant>,
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
            let image = (!is_deleting(pod)).then(|| image_of(pod).to_owned());
            let since = self.since.entry((text(&pod["metadata"]["uid"]).to_owned(), image));
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
    let is_tenant = !pod["metadata"]["labels"][TENANT].is_null();
    let managed = (!version_of(pod).is_empty() || is_pull_pod(pod) || is_tenant)
        && pod["metadata"]["finalizers"].is_null();
    let bound = !pod["spec"]["nodeName"].is_null();
    match (managed, is_deleting(pod), bound) {
        (false, _, _) => None,
        (true, true, _) => Some(ENDS_IN),
        (true, false, false) => Some(Duration::ZERO),
        (true, false, true) if text(&pod["status"]["phase"]) == "Pending" => {
            Some(if is_pull_pod(pod) { PULLS_IN } else { STARTS_IN })
        }
        (true, false, true) => is_changed(pod).then_some(STARTS_IN),
    }
}

/// Whether the image of the container is another one than the one that runs.
fn is_changed(pod: &Value) -> bool {
    let running = &pod["status"]["containerStatuses"][0]["image"];
    text(&pod["status"]["phase"]) == "Running" && !running.is_null() && *running != image_of(pod)
}

/// The status of a container with the image of the pod, which has started now for the n-th time.
fn container(pod: &Value, now: &str, restarts: u64) -> Value {
    let (name, image) = (&pod["spec"]["containers"][0]["name"], image_of(pod));
    let id = format!("cri://{}/{restarts}", text(&pod["metadata"]["uid"]));
    json!({"name": name, "image": image, "imageID": format!("sha256:{image}"), "containerID": id,
        "restartCount": restarts, "ready": true, "state": {"running": {"startedAt": now}}})
}

/// The status of a pull pod whose images are there: none has the command.
fn pulled(pod: &Value) -> Value {
    let containers = pod["spec"]["containers"].as_array().map_or(&[][..], Vec::as_slice);
    let statuses = containers.iter().map(|container| {
        json!({"name": container["name"], "imageID": format!("sha256:{}", text(&container["image"])),
            "state": {"terminated": {"reason": "StartError", "exitCode": 128}}})
    });
    json!({"phase": "Failed", "containerStatuses": statuses.collect::<Vec<_>>()})
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
    } else if is_pull_pod(pod) && !image_of(pod).contains("non-existent") {
        store.change(Actor::Others, &own, |pod| pod["status"] = pulled(pod));
    } else if is_changed(pod) {
        // Ready stays True: the kubelet kills and starts within one sync.
        let restarts = pod["status"]["containerStatuses"][0]["restartCount"].as_u64().unwrap_or(0) + 1;
        let status = container(pod, &now, restarts);
        store.change(Actor::Others, &own, |pod| pod["status"]["containerStatuses"] = json!([status]));
    } else if image_of(pod).contains("non-existent") {
        let waiting = json!({"name": "c", "state": {"waiting": {"reason": "ErrImagePull"}}});
        let was_tried = !pod["status"]["containerStatuses"].is_null();
        store.change(Actor::Others, &own, |pod| pod["status"]["containerStatuses"] = json!([waiting]));
        return !was_tried;
    } else if failing.contains(image_of(pod)) {
        store.change(Actor::Others, &own, |pod| pod["status"] = json!({"phase": "Failed"}));
    } else if !is_finished(pod) {
        let ready = json!({"type": "Ready", "status": "True", "lastTransitionTime": now});
        let statuses = [container(pod, &now, 0)];
        store.change(Actor::Others, &own, |pod| {
            pod["status"] = json!({"phase": "Running", "conditions": [ready], "containerStatuses": statuses});
        });
    }
    true
}
