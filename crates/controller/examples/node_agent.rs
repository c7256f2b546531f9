//! A controller of a custom kind with [`kube::runtime::Controller`] and `daemonset-executor`: `agents.example.com/v1` NodeAgent,
//! with the fields of a DaemonSet. `docs/embed.md` has its dependencies, `docs/custom-kind.md` the duties that it follows.
//!
//! In a cluster of the current context of your kubeconfig:
//!
//! ```console
//! $ cargo run -p daemonset-controller --example node_agent -- crd | kubectl apply --server-side -f -
//! $ cargo run -p daemonset-controller --example node_agent
//! ```
//!
//! Each kind is watched once: its events fill a store, which plans read, and then wake the NodeAgents that they concern. It has no
//! leader election: run one. `daemonset_executor::lease` has one.
#![allow(clippy::restriction)]

use anyhow::{Context as _, bail};
use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod};
use daemonset::policy::{Permissions, RolloutPolicy};
use daemonset::{EventType, Observed, Policy, Reconciler};
use daemonset_executor::{Call, CallEvent, ExecuteError, Executor, InFlight};
use daemonset_placement::affected;
use futures::stream::{BoxStream, iter, select_all};
use futures::{StreamExt, future};
use k8s_openapi::api::apps::v1::{DaemonSetStatus, DaemonSetUpdateStrategy};
use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::runtime::WatchStreamExt;
use kube::runtime::controller::{Action as Next, Controller};
use kube::runtime::reflector::{Lookup, ObjectRef as Key, Store, reflector, store::Writer};
use kube::runtime::watcher::{Config, Event, watcher};
use kube::{Api, Client, CustomResource, CustomResourceExt, Resource, ResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "agents.example.com", version = "v1", kind = "NodeAgent")]
#[kube(namespaced, status = "DaemonSetStatus")]
#[serde(rename_all = "camelCase")]
struct NodeAgentSpec {
    selector: LabelSelector,
    template: PodTemplateSpec,
    update_strategy: Option<DaemonSetUpdateStrategy>,
}

/// A NodeAgent as the library sees it, by its JSON, which has `apiVersion` and `kind`.
fn daemon_set(agent: &NodeAgent) -> serde_json::Result<DaemonSet> {
    serde_json::from_value(serde_json::to_value(agent)?)
}

/// The policy in the annotations of a NodeAgent, and the problem of one that can't be read: it pauses the rollout.
fn policy(set: &DaemonSet) -> (Policy, Option<String>) {
    // No power to cordon nodes or to evict the pods of others.
    let (policy, problem) = match Policy::from_annotations(set, &Permissions::default()) {
        Ok(policy) => (policy, None),
        Err(invalid) => {
            let paused = RolloutPolicy::default().paused(true);
            (Policy::default().rollout(paused), Some(invalid.to_string()))
        }
    };
    (policy.conditions(true), problem)
}

/// Of one NodeAgent, from one pass to the next.
struct Kept {
    /// The driver, and the calls that the stores do not show yet.
    in_flight: InFlight<Reconciler>,
    /// The problem that an event has told.
    problem: Option<String>,
}

struct Context {
    executor: Executor<Client>,
    agents: Store<NodeAgent>,
    nodes: Store<Node>,
    pods: Store<Pod>,
    revisions: Store<ControllerRevision>,
    /// Of each NodeAgent, by uid.
    kept: Mutex<HashMap<String, Kept>>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["crd"] => println!("{}", serde_json::to_string_pretty(&NodeAgent::crd())?),
        [] => run().await?,
        _ => bail!("usage: node_agent [crd]"),
    }
    Ok(())
}

async fn run() -> anyhow::Result<()> {
    let mut config = kube::Config::infer().await.context("find the API server")?;
    // A client that repeats a create by itself, as after 504, makes a second pod.
    config.default_retry = false;
    let client = Client::try_from(config)?;
    let controller = Controller::new(Api::<NodeAgent>::all(client.clone()), Config::default());
    let agents = controller.store();
    let (pods, pod_events) = cache::<Pod>(&client);
    let (revisions, revision_events) = cache::<ControllerRevision>(&client);
    let (nodes, node_events) = cache::<Node>(&client);
    let wakes = {
        let (of_pods, of_revisions, of_nodes, pods) =
            (agents.clone(), agents.clone(), agents.clone(), pods.clone());
        let mut known = HashMap::new();
        select_all([
            pod_events.flat_map(move |event| iter(child_wakes(&of_pods, &event))).boxed(),
            revision_events.flat_map(move |event| iter(child_wakes(&of_revisions, &event))).boxed(),
            node_events.flat_map(move |event| iter(node_wakes(&of_nodes, &pods, &mut known, event))).boxed(),
        ])
    };
    let executor = Executor::new(client, "node-agent-controller");
    let context = Context { executor, agents, nodes, pods, revisions, kept: Mutex::default() };
    controller
        .reconcile_on(wakes)
        .shutdown_on_signal()
        .run(reconcile, |_, error, _| match *error {}, Arc::new(context))
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
    K: Resource<DynamicType = ()> + serde::de::DeserializeOwned + Clone + std::fmt::Debug,
    K: Send + Sync + 'static,
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

fn all(agents: &Store<NodeAgent>) -> Vec<Key<NodeAgent>> {
    agents.state().iter().map(|agent| agent.to_object_ref(())).collect()
}

/// The NodeAgent that controls a changed pod or revision; where nobody does, those of its namespace, which may adopt it.
fn child_wakes<K: Resource>(agents: &Store<NodeAgent>, event: &Event<K>) -> Vec<Key<NodeAgent>> {
    let child = match event {
        Event::Apply(child) | Event::Delete(child) => child.meta(),
        // Objects may have gone while the watch was interrupted.
        Event::InitDone => return all(agents),
        Event::Init | Event::InitApply(_) => return Vec::new(),
    };
    let controller = child.owner_references.iter().flatten().find(|owner| owner.controller == Some(true));
    let concerns = |agent: &&Arc<NodeAgent>| {
        agent.metadata.namespace == child.namespace
            && controller.is_none_or(|owner| agent.metadata.uid.as_ref() == Some(&owner.uid))
    };
    agents.state().iter().filter(concerns).map(|agent| agent.to_object_ref(())).collect()
}

/// The NodeAgents whose plan a changed node may change.
fn node_wakes(
    agents: &Store<NodeAgent>,
    pods: &Store<Pod>,
    known: &mut HashMap<String, Node>,
    event: Event<Node>,
) -> Vec<Key<NodeAgent>> {
    let (before, after) = match event {
        Event::Apply(node) => (known.insert(node.name_any(), node.clone()), node),
        // The memory may wait for any node.
        Event::Delete(node) => {
            known.remove(&node.name_any());
            return all(agents);
        }
        Event::InitDone => return all(agents),
        Event::InitApply(node) => {
            known.insert(node.name_any(), node);
            return Vec::new();
        }
        Event::Init => {
            known.clear();
            return Vec::new();
        }
    };
    let sets: Vec<DaemonSet> = agents.state().iter().filter_map(|agent| daemon_set(agent).ok()).collect();
    affected(&sets, pods.state().iter().map(Arc::as_ref), before.as_ref(), Some(&after))
        .iter()
        .map(|set| Key::new(&set.metadata.name).within(&set.metadata.namespace))
        .collect()
}

/// An error here is that of the object, or of a list: a change heals it, and wakes the NodeAgent.
async fn reconcile(agent: Arc<NodeAgent>, context: Arc<Context>) -> Result<Next, Infallible> {
    Ok(sync(&agent, &context).await.unwrap_or_else(|error| {
        eprintln!("{}: {error:#}", agent.name_any());
        Next::await_change()
    }))
}

async fn sync(agent: &NodeAgent, context: &Context) -> anyhow::Result<Next> {
    // A list that has not arrived would look empty.
    tokio::try_join!(
        context.nodes.wait_until_ready(),
        context.pods.wait_until_ready(),
        context.revisions.wait_until_ready()
    )?;
    let set = daemon_set(agent)?;
    let (nodes, pods, revisions) = (context.nodes.state(), context.pods.state(), context.revisions.state());
    let observed = Observed { daemon_set: &set, nodes: &nodes, pods: &pods, revisions: &revisions };
    // `Controller` never reconciles an object twice at once, so that its driver may be taken out meanwhile. No `?` stands before
    // it is put back: the memory would be lost.
    let mut kept = context.take(&set);
    let (policy, problem) = policy(&set);
    kept.in_flight.driver.set_policy(policy);
    let mut events = Vec::new();
    let on_call = |call: &Call<'_>| {
        if call.error.is_none() {
            println!("{}: {}", set.metadata.name, call.subject());
        }
        events.extend(call.event());
    };
    let synced = context.executor.sync(observed, &mut kept.in_flight, on_call).await;
    // The owner of an invalid NodeAgent reads its events, not this process's log: once for each text.
    let problem = synced.as_ref().err().map(ToString::to_string).or(problem);
    let news = problem.clone().filter(|text| kept.problem.as_ref() != Some(text));
    events.extend(news.map(|text| CallEvent::new(EventType::Warning, "InvalidNodeAgent", text)));
    kept.problem = problem;
    context.put_back(&set, kept);
    for event in &events {
        context.executor.send_event(&set, event).await;
    }
    let synced = synced?;
    match &synced.executed {
        // Normal beside a store that lags: the next event leads to another plan.
        Ok(_) | Err(ExecuteError::Outdated(_)) => {}
        Err(error) => eprintln!("{}: {error}", set.metadata.name),
    }
    Ok(synced.next_plan.map_or_else(Next::await_change, Next::requeue))
}

impl Context {
    fn take(&self, set: &DaemonSet) -> Kept {
        let uid = set.metadata.uid.as_str();
        let known = self.kept.lock().unwrap().remove(uid);
        known.unwrap_or_else(|| {
            let driver = Reconciler::new(uid, Policy::default()).with_kind(set.owner.clone());
            Kept { in_flight: InFlight::new(driver), problem: None }
        })
    }

    /// Keeps the driver, and drops those of NodeAgents that are gone: `Controller` reconciles none of these any more.
    fn put_back(&self, set: &DaemonSet, one: Kept) {
        let agents = self.agents.state();
        let mut kept = self.kept.lock().unwrap();
        kept.insert(set.metadata.uid.to_string(), one);
        kept.retain(|uid, _| agents.iter().any(|agent| agent.metadata.uid.as_ref() == Some(uid)));
    }
}
