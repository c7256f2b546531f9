//! A controller of DaemonSets with [`kube::runtime::Controller`], its calls by hand; `node_agent` beside it, for a custom kind, leaves them to
//! `daemonset-executor`.
//!
//! `cargo run -p daemonset-controller --example kube_runtime`, with the current context of your kubeconfig, in a cluster whose own
//! DaemonSet controller is off. Its dependencies are in `docs/embed.md`.
//!
//! Each kind is watched once: its events fill a store, which plans read, and then wake the DaemonSets that they concern. It has no leader
//! election, no look at storage after a lost response, and no order of retries, so that a node whose pod is rejected holds up those behind it;
//! the crate's own binary has all three.
#![allow(clippy::restriction)]

use anyhow::Context as _;
use daemonset::kube::{ApiCall, Caller};
use daemonset::model::{ControllerRevision, DaemonSet, Node, ObjectRef, Pod};
use daemonset::{Action, ActionOutcome, Observed, Policy, Reconciler};
use daemonset_placement::affected;
use futures::stream::{BoxStream, iter, select_all};
use futures::{StreamExt, future};
use jiff::Timestamp;
use kube::api::ListParams;
use kube::runtime::controller::{Action as Next, Controller};
use kube::runtime::reflector::{ObjectRef as Key, Store, reflector, store::Writer};
use kube::runtime::watcher::{Config, Event, watcher};
use kube::runtime::{WatchStreamExt, reflector::Lookup};
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

struct Context {
    client: Client,
    sets: Store<DaemonSet>,
    nodes: Store<Node>,
    pods: Store<Pod>,
    revisions: Store<ControllerRevision>,
    /// One for each DaemonSet, by uid: it remembers the actions that the stores do not show yet.
    reconcilers: Mutex<HashMap<String, Reconciler>>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut config = kube::Config::infer().await.context("find the API server")?;
    // A client that repeats a create by itself, as after 504, makes a second pod.
    config.default_retry = false;
    let client = Client::try_from(config)?;
    let controller = Controller::new(Api::<DaemonSet>::all(client.clone()), Config::default());
    let sets = controller.store();
    let (pods, pod_events) = cache::<Pod>(&client);
    let (revisions, revision_events) = cache::<ControllerRevision>(&client);
    let (nodes, node_events) = cache::<Node>(&client);
    let wakes = {
        let (of_pods, of_revisions, of_nodes, pods) =
            (sets.clone(), sets.clone(), sets.clone(), pods.clone());
        let mut known = HashMap::new();
        select_all([
            pod_events.flat_map(move |event| iter(child_wakes(&of_pods, &event))).boxed(),
            revision_events.flat_map(move |event| iter(child_wakes(&of_revisions, &event))).boxed(),
            node_events.flat_map(move |event| iter(node_wakes(&of_nodes, &pods, &mut known, event))).boxed(),
        ])
    };
    let context = Context { client, sets, nodes, pods, revisions, reconcilers: Mutex::default() };
    controller
        .reconcile_on(wakes)
        .shutdown_on_signal()
        .run(reconcile, |_, _, _| Next::requeue(Duration::from_secs(5)), Arc::new(context))
        .for_each(|result| async {
            if let Err(error) = result {
                eprintln!("{error}");
            }
        })
        .await;
    Ok(())
}

/// A store of all objects of one kind, and the events that have filled it.
fn cache<K>(client: &Client) -> (Store<K>, BoxStream<'static, Event<K>>)
where
    K: Resource<DynamicType = ()>
        + serde::de::DeserializeOwned
        + Clone
        + std::fmt::Debug
        + Send
        + Sync
        + 'static,
{
    let writer = Writer::default();
    let store = writer.as_reader();
    let events =
        reflector(writer, watcher(Api::<K>::all(client.clone()), Config::default()).default_backoff());
    let logged = events.inspect(|event| {
        if let Err(error) = event {
            eprintln!("watch: {error}");
        }
    });
    (store, logged.filter_map(|event| future::ready(event.ok())).boxed())
}

/// The DaemonSet that controls a changed pod or revision; where nobody does, those of its namespace, which may adopt it.
fn child_wakes<K: Resource>(sets: &Store<DaemonSet>, event: &Event<K>) -> Vec<Key<DaemonSet>> {
    let child = match event {
        Event::Apply(child) | Event::Delete(child) => child.meta(),
        // Objects may have gone while the watch was interrupted.
        Event::InitDone => return sets.state().iter().map(|set| set.to_object_ref(())).collect(),
        Event::Init | Event::InitApply(_) => return Vec::new(),
    };
    let controller = child.owner_references.iter().flatten().find(|owner| owner.controller == Some(true));
    let concerns = |set: &&Arc<DaemonSet>| {
        Some(&set.metadata.namespace) == child.namespace.as_ref()
            && controller.is_none_or(|owner| set.metadata.uid.as_str() == owner.uid)
    };
    sets.state().iter().filter(concerns).map(|set| set.to_object_ref(())).collect()
}

/// The DaemonSets whose plan a changed node may change.
fn node_wakes(
    sets: &Store<DaemonSet>,
    pods: &Store<Pod>,
    known: &mut HashMap<String, Node>,
    event: Event<Node>,
) -> Vec<Key<DaemonSet>> {
    let (sets, pods) = (sets.state(), pods.state());
    let (before, after) = match event {
        Event::Apply(node) => (known.insert(node.name_any(), node.clone()), node),
        // The memory may wait for any node.
        Event::Delete(node) => {
            known.remove(&node.name_any());
            return sets.iter().map(|set| set.to_object_ref(())).collect();
        }
        Event::InitDone => return sets.iter().map(|set| set.to_object_ref(())).collect(),
        Event::InitApply(node) => {
            known.insert(node.name_any(), node);
            return Vec::new();
        }
        Event::Init => {
            known.clear();
            return Vec::new();
        }
    };
    let all = (sets.iter().map(Arc::as_ref), pods.iter().map(Arc::as_ref));
    affected(all.0, all.1, before.as_ref(), Some(&after)).iter().map(|set| set.to_object_ref(())).collect()
}

/// `Controller` never reconciles a DaemonSet twice at once, so that its reconciler may be taken out meanwhile.
async fn reconcile(set: Arc<DaemonSet>, context: Arc<Context>) -> Result<Next, Failure> {
    let uid = set.metadata.uid.as_str();
    let known = context.reconcilers.lock().unwrap().remove(uid);
    let mut reconciler = known.unwrap_or_else(|| Reconciler::new(uid, Policy::default()));
    let pause = sync(&set, &context, &mut reconciler).await;
    let mut reconcilers = context.reconcilers.lock().unwrap();
    reconcilers.insert(uid.to_owned(), reconciler);
    let sets = context.sets.state();
    reconcilers.retain(|uid, _| sets.iter().any(|set| set.metadata.uid.as_str() == uid));
    pause.map(Next::requeue).map_err(Failure)
}

/// Plans and executes once; returns the time until another look.
async fn sync(set: &DaemonSet, context: &Context, reconciler: &mut Reconciler) -> anyhow::Result<Duration> {
    // A list that has not arrived would look empty.
    tokio::try_join!(
        context.nodes.wait_until_ready(),
        context.pods.wait_until_ready(),
        context.revisions.wait_until_ready()
    )?;
    let (nodes, pods, revisions) = (context.nodes.state(), context.pods.state(), context.revisions.state());
    let observed = Observed { daemon_set: set, nodes: &nodes, pods: &pods, revisions: &revisions };
    let mut plan = reconciler.plan(observed, Timestamp::now())?;
    if plan.actions.iter().any(|action| matches!(action, Action::CreateRevision { .. })) {
        // The watch of revisions may lag behind the one that has shown the template. Stored revisions decide the new number, so that none
        // is given twice.
        let stored = Api::<ControllerRevision>::namespaced(context.client.clone(), &set.metadata.namespace);
        let stored = stored.list(&ListParams::default()).await?.items;
        let observed = Observed { daemon_set: set, nodes: &nodes, pods: &pods, revisions: &stored };
        plan = reconciler.plan(observed, Timestamp::now())?;
    }
    if plan.actions.iter().any(is_adoption) {
        check_before_adoption(&context.client, set).await?;
    }
    for batch in plan.batches() {
        let mut ended_by = None;
        for action in batch {
            let outcome = execute(&context.client, set, action).await?;
            if reconciler.record(action, &outcome, Timestamp::now()).ends_plan() {
                ended_by = ended_by.or(Some(action));
            }
        }
        if let Some(action) = ended_by {
            for action in plan.independent_after(action) {
                let outcome = execute(&context.client, set, action).await?;
                let _ = reconciler.record(action, &outcome, Timestamp::now());
            }
            let retry = reconciler.memory().retry_at().map_or(Duration::ZERO, until);
            return Ok(retry.max(Duration::from_secs(1)));
        }
    }
    Ok(plan.requeue_at().map_or(Duration::from_secs(300), until))
}

fn until(at: Timestamp) -> Duration {
    at.duration_since(Timestamp::now()).try_into().unwrap_or_default()
}

fn is_adoption(action: &Action) -> bool {
    matches!(action, Action::AdoptPod { .. } | Action::AdoptRevision { .. })
}

/// A DaemonSet that is gone, or was replaced, must adopt nothing.
async fn check_before_adoption(client: &Client, set: &DaemonSet) -> anyhow::Result<()> {
    let stored = Api::<DaemonSet>::namespaced(client.clone(), &set.metadata.namespace);
    let stored = stored.get(&set.metadata.name).await?.metadata;
    let is_same = stored.uid == set.metadata.uid && stored.deletion_timestamp.is_none();
    anyhow::ensure!(is_same, "the DaemonSet was deleted or replaced");
    Ok(())
}

/// Sends the call of an action once.
async fn execute(client: &Client, set: &DaemonSet, action: &Action) -> anyhow::Result<ActionOutcome> {
    let caller = Caller { daemon_set: set, component: "example-controller", now: Timestamp::now() };
    let Some(call) = ApiCall::new(action, &caller) else { return Ok(ActionOutcome::Done) };
    println!("{}/{}: {action}", set.metadata.namespace, set.metadata.name);
    Ok(match (action, client.request::<Value>(call.to_request()?).await) {
        (Action::CreatePod { .. }, Ok(body)) => match serde_json::from_value::<Pod>(body) {
            Ok(pod) => ActionOutcome::Created(ObjectRef::from(&pod.metadata)),
            // It was created, and the watch will show it.
            Err(_) => ActionOutcome::Unknown,
        },
        (_, Ok(_)) => ActionOutcome::Done,
        (Action::DeletePod { .. }, Err(kube::Error::Api(status))) if status.is_not_found() => {
            ActionOutcome::Done
        }
        // The API server has refused, and nothing has changed. Any other error may have come after the change.
        (_, Err(kube::Error::Api(status))) if (400..500).contains(&status.code) => ActionOutcome::Rejected,
        (_, Err(_)) => ActionOutcome::Unknown,
    })
}

#[derive(Debug)]
struct Failure(anyhow::Error);

impl std::error::Error for Failure {}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#}", self.0)
    }
}
