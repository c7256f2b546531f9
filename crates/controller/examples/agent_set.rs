//! A controller of a custom kind that works like a DaemonSet: `agents.example.com/v1` AgentSet, whose spec contains the spec of
//! a DaemonSet. Decisions, owner references, status and events are the library's, for that kind.
//!
//! `cargo run -p daemonset-controller --example agent_set`, with the current context of your kubeconfig; `agent_set.sh` beside
//! it creates the kind, and tries a rollout, an undo and a surge.
//!
//! It is small on purpose: all objects in turn in one loop, a plan of every AgentSet after each change, no leader election, no look at
//! storage after a lost response, and no order of retries, so that a node whose pod is rejected holds up
//! those behind it. It audits each plan before it sends anything, and its calls are made by hand; `node_agent` beside it leaves them to
//! `daemonset-executor`.
#![allow(clippy::restriction)]

use anyhow::{Context, bail, ensure};
use daemonset::kube::{ApiCall, Caller};
use daemonset::model::{ControllerRevision, DaemonSet, Node, ObjectRef, Owner, Pod};
use daemonset::{Action, ActionOutcome, EventType, Observed, Policy, Reconciler};
use daemonset_audit::audit;
use futures::stream::{BoxStream, select_all};
use futures::{FutureExt, StreamExt};
use jiff::Timestamp;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, ListParams};
use kube::runtime::reflector::{Store, reflector, store::Writer};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::time::Duration;

const COMPONENT: &str = "agent-set-controller";

/// The kind in owner references, paths and events.
fn agent_set() -> Owner {
    Owner::new("agents.example.com/v1", "AgentSet")
}

fn resource() -> ApiResource {
    let owner = agent_set();
    let kind = GroupVersionKind::gvk(owner.group(), "v1", &owner.kind);
    ApiResource::from_gvk_with_plural(&kind, &owner.plural)
}

/// An AgentSet as the library sees it: metadata and status are its own, the spec is inside its own.
fn daemon_set(object: &DynamicObject) -> serde_json::Result<DaemonSet> {
    let (spec, status) = (&object.data["spec"]["daemonSet"], &object.data["status"]);
    let form = json!({"metadata": object.metadata, "spec": spec, "status": status});
    Ok(DaemonSet { owner: agent_set(), ..serde_json::from_value(form)? })
}

struct Controller {
    client: Client,
    sets: Store<DynamicObject>,
    nodes: Store<Node>,
    pods: Store<Pod>,
    revisions: Store<ControllerRevision>,
    /// One for each AgentSet, by uid.
    reconcilers: BTreeMap<String, Reconciler>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut config = kube::Config::infer().await.context("find the API server")?;
    // A client that repeats a create by itself, as after 504, makes a second pod.
    config.default_retry = false;
    let client = Client::try_from(config)?;
    let kind = resource();
    let (sets, set_changes) = cache(Api::<DynamicObject>::all_with(client.clone(), &kind), kind);
    let (nodes, node_changes) = cache(Api::<Node>::all(client.clone()), ());
    let (pods, pod_changes) = cache(Api::<Pod>::all(client.clone()), ());
    let (revisions, revision_changes) = cache(Api::<ControllerRevision>::all(client.clone()), ());
    let mut changes = select_all([set_changes, node_changes, pod_changes, revision_changes]);
    let reconcilers = BTreeMap::new();
    let mut controller = Controller { client, sets, nodes, pods, revisions, reconcilers };
    let mut pause = Duration::from_secs(60);
    loop {
        let _ = tokio::time::timeout(pause, changes.next()).await;
        // All changes that have arrived: each plan sees the newest state that is known.
        while changes.next().now_or_never().flatten().is_some() {}
        // A list that has not arrived would look empty: without it no plan.
        pause = if controller.is_ready() { controller.sync_all().await } else { Duration::from_secs(60) };
    }
}

/// A cache of one kind, and its changes, which fill it.
fn cache<K>(api: Api<K>, kind: K::DynamicType) -> (Store<K>, BoxStream<'static, ()>)
where
    K: Resource<DynamicType: Eq + Hash + Clone + Send + Sync + Unpin>,
    K: serde::de::DeserializeOwned + Clone + Debug + Send + Sync + 'static,
{
    let writer = Writer::new(kind);
    let store = writer.as_reader();
    let events = reflector(writer, watcher(api, watcher::Config::default()).default_backoff());
    let changes = events.map(|event| {
        if let Err(error) = event {
            eprintln!("watch: {error}");
        }
    });
    (store, changes.boxed())
}

impl Controller {
    fn is_ready(&self) -> bool {
        self.sets.wait_until_ready().now_or_never().is_some()
            && self.nodes.wait_until_ready().now_or_never().is_some()
            && self.pods.wait_until_ready().now_or_never().is_some()
            && self.revisions.wait_until_ready().now_or_never().is_some()
    }

    /// Plans and executes for each AgentSet; returns the time until one of them wants another look.
    async fn sync_all(&mut self) -> Duration {
        let sets = self.sets.state();
        self.reconcilers.retain(|uid, _| sets.iter().any(|set| set.metadata.uid.as_ref() == Some(uid)));
        let mut pause = Duration::from_secs(60);
        for set in &sets {
            let next = self.sync(set).await.unwrap_or_else(|error| {
                eprintln!("{}: {error:#}", set.metadata.name.as_deref().unwrap_or_default());
                Duration::from_secs(1)
            });
            pause = pause.min(next);
        }
        pause
    }

    async fn sync(&mut self, set: &DynamicObject) -> anyhow::Result<Duration> {
        let ds = daemon_set(set)?;
        let uid = ds.metadata.uid.as_str();
        let new = || Reconciler::new(uid, Policy::default()).with_kind(agent_set());
        let reconciler = self.reconcilers.entry(uid.to_owned()).or_insert_with(new);
        let (nodes, pods, revisions) = (self.nodes.state(), self.pods.state(), self.revisions.state());
        let observed = Observed { daemon_set: &ds, nodes: &nodes, pods: &pods, revisions: &revisions };
        let now = Timestamp::now();
        let (mut snapshot, stored);
        snapshot = reconciler.snapshot(observed, now)?;
        let mut plan = daemonset::plan(&snapshot);
        if plan.actions.iter().any(|action| matches!(action, Action::CreateRevision { .. })) {
            // The watch of revisions may lag behind the one that has shown the template. Stored revisions decide the new number, so
            // that no number is given twice.
            let api = Api::<ControllerRevision>::namespaced(self.client.clone(), &ds.metadata.namespace);
            stored = api.list(&ListParams::default()).await?.items;
            let observed = Observed { daemon_set: &ds, nodes: &nodes, pods: &pods, revisions: &stored };
            snapshot = reconciler.snapshot(observed, now)?;
            plan = daemonset::plan(&snapshot);
        }
        if let Some(violation) = audit(&snapshot, &plan.actions).first() {
            bail!("the plan breaks a safety rule: {violation}");
        }
        if plan.actions.iter().any(is_adoption) {
            check_before_adoption(&self.client, &ds).await?;
        }
        let until = |at: Timestamp| at.duration_since(Timestamp::now()).try_into().unwrap_or_default();
        for batch in plan.batches() {
            let mut ended_by = None;
            for action in batch {
                let outcome = execute(&self.client, &ds, action).await?;
                if reconciler.record(action, &outcome, Timestamp::now()).ends_plan() {
                    ended_by = ended_by.or(Some(action));
                }
            }
            if let Some(action) = ended_by {
                for action in plan.independent_after(action) {
                    let outcome = execute(&self.client, &ds, action).await?;
                    let _ = reconciler.record(action, &outcome, Timestamp::now());
                }
                let retry = reconciler.memory().retry_at().map_or(Duration::ZERO, until);
                return Ok(retry.max(Duration::from_secs(1)));
            }
        }
        Ok(plan.requeue_at().map_or(Duration::from_secs(60), until))
    }
}

fn is_adoption(action: &Action) -> bool {
    matches!(action, Action::AdoptPod { .. } | Action::AdoptRevision { .. })
}

/// An AgentSet that is gone, or was replaced, must adopt nothing.
async fn check_before_adoption(client: &Client, ds: &DaemonSet) -> anyhow::Result<()> {
    let api = Api::<DynamicObject>::namespaced_with(client.clone(), &ds.metadata.namespace, &resource());
    let stored = api.get(&ds.metadata.name).await?.metadata;
    let is_same = stored.uid.as_deref() == Some(ds.metadata.uid.as_str());
    ensure!(is_same && stored.deletion_timestamp.is_none(), "the AgentSet was deleted or replaced");
    Ok(())
}

/// Sends the call of an action once, and records an event about the AgentSet for each pod that it creates or deletes.
async fn execute(client: &Client, ds: &DaemonSet, action: &Action) -> anyhow::Result<ActionOutcome> {
    let caller = Caller { daemon_set: ds, component: COMPONENT, now: Timestamp::now() };
    let Some(call) = ApiCall::new(action, &caller) else { return Ok(ActionOutcome::Done) };
    let request = call.to_request()?;
    println!("{action}: {} {}", request.method(), request.uri());
    let answer = client.request::<Value>(request).await;
    let (outcome, event) = match (action, answer) {
        (Action::CreatePod { .. }, Ok(body)) => match serde_json::from_value::<Pod>(body) {
            Ok(pod) => {
                let message = format!("Created pod: {}", pod.metadata.name);
                (ActionOutcome::Created(ObjectRef::from(&pod.metadata)), Some(("SuccessfulCreate", message)))
            }
            // It was created, and the watch will show it.
            Err(_) => (ActionOutcome::Unknown, None),
        },
        (Action::DeletePod { pod, .. }, Ok(_)) => {
            (ActionOutcome::Done, Some(("SuccessfulDelete", format!("Deleted pod: {}", pod.name))))
        }
        (_, Ok(_)) => (ActionOutcome::Done, None),
        (Action::DeletePod { .. }, Err(kube::Error::Api(status))) if status.is_not_found() => {
            (ActionOutcome::Done, None)
        }
        // The API server has refused: nothing changed. Any other error may have come after the change.
        (_, Err(kube::Error::Api(status))) if (400..500).contains(&status.code) => {
            eprintln!("{action}: {}", status.message);
            (ActionOutcome::Rejected, None)
        }
        (_, Err(error)) => {
            eprintln!("{action}: {error}");
            (ActionOutcome::Unknown, None)
        }
    };
    if let Some((reason, message)) = event {
        let call = ApiCall::event(&caller, EventType::Normal, reason, &message);
        // An event that is lost changes nothing.
        let _ = client.request::<Value>(call.to_request()?).await;
    }
    Ok(outcome)
}
