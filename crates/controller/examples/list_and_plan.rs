//! Plans one DaemonSet of a real cluster and prints the actions and the outcome of each node, a line each. It executes nothing.
//!
//! `cargo run -p daemonset-controller --example list_and_plan -- NAMESPACE NAME`, with the current context of your kubeconfig.
#![allow(clippy::restriction)]

use anyhow::{Context, bail};
use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod};
use daemonset::{Observed, Policy, Reconciler};
use jiff::Timestamp;
use kube::api::ListParams;
use kube::{Api, Client};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(namespace), Some(name)) = (args.next(), args.next()) else {
        bail!("usage: list_and_plan NAMESPACE NAME");
    };
    let client = Client::try_default().await.context("find the API server")?;

    let ds = Api::<DaemonSet>::namespaced(client.clone(), &namespace).get(&name).await?;
    let everything = ListParams::default();
    let nodes = Api::<Node>::all(client.clone()).list(&everything).await?.items;
    // Everything in the namespace, not only what the DaemonSet owns: a plan may adopt orphans.
    let pods = Api::<Pod>::namespaced(client.clone(), &namespace).list(&everything).await?.items;
    let revisions = Api::<ControllerRevision>::namespaced(client, &namespace).list(&everything).await?.items;

    let mut reconciler = Reconciler::new(ds.metadata.uid.clone(), Policy::default());
    let observed = Observed { daemon_set: &ds, nodes: &nodes, pods: &pods, revisions: &revisions };
    let plan = reconciler.plan(observed, Timestamp::now())?;
    println!("{} actions", plan.actions.len());
    for action in &plan.actions {
        println!("{action}");
    }
    for node in &plan.report.nodes {
        println!("{}: {}", node.node, node.outcome);
    }
    Ok(())
}
