//! A controller's pass up to the first write: plans one DaemonSet of a real cluster, audits the plan, and prints the API calls
//! that would execute it. It sends none of them.
//!
//! `cargo run -p daemonset-controller --example dry_run -- NAMESPACE NAME`, with the current context of your kubeconfig.
#![allow(clippy::restriction)]

use anyhow::{Context, bail};
use daemonset::kube::{ApiCall, Caller};
use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod};
use daemonset::{Observed, Snapshot, plan};
use daemonset_audit::audit;
use jiff::Timestamp;
use kube::api::ListParams;
use kube::{Api, Client};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(namespace), Some(name)) = (args.next(), args.next()) else {
        bail!("usage: dry_run NAMESPACE NAME");
    };
    let client = Client::try_default().await.context("find the API server")?;

    let ds = Api::<DaemonSet>::namespaced(client.clone(), &namespace).get(&name).await?;
    let everything = ListParams::default();
    let nodes = Api::<Node>::all(client.clone()).list(&everything).await?.items;
    let pods = Api::<Pod>::namespaced(client.clone(), &namespace).list(&everything).await?.items;
    let revisions = Api::<ControllerRevision>::namespaced(client, &namespace).list(&everything).await?.items;

    let now = Timestamp::now();
    let observed = Observed { daemon_set: &ds, nodes: &nodes, pods: &pods, revisions: &revisions };
    let snapshot = Snapshot::builder(observed, now).check()?;
    let plan = plan(&snapshot);
    for node in &plan.report.nodes {
        println!("{}: {}", node.node, serde_json::to_string(&node.outcome)?);
    }

    // The guard: an executor sends no call of a plan that breaks a safety rule.
    let violations = audit(&snapshot, &plan.actions);
    for violation in &violations {
        eprintln!("{violation}");
    }
    if !violations.is_empty() {
        bail!("the plan breaks {} safety rules", violations.len());
    }

    let caller = Caller { daemon_set: &ds, component: "daemonset-controller", now };
    // A requeue needs no call.
    for call in plan.actions.iter().filter_map(|action| ApiCall::new(action, &caller)) {
        let request = call.to_request()?;
        let preconditions = serde_json::to_string(&call.preconditions)?;
        println!("{} {} if {preconditions}: {}", request.method(), request.uri(), call.body);
    }
    Ok(())
}
