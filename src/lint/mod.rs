//! Preflight: what a DaemonSet will do to real nodes and pods that its author may not expect.
//!
//! [`lint`] knows rules about the manifest alone (limits, surge with what only one pod can hold, images, grace periods),
//! about the cluster (who runs it, who loses it, whom it adopts) and about the change to what is stored. What it says of
//! nodes, budgets and pods is what [`plan`](crate::plan) would do: it asks the same code.
//!
//! ```
//! use daemonset::lint::{Preflight, Rule, lint};
//! use daemonset::model::{DaemonSet, Node};
//! use serde_json::{from_value, json};
//!
//! let stored: DaemonSet = from_value(json!({
//!     "metadata": {"name": "web", "namespace": "ns", "uid": "u1"},
//!     "spec": {
//!         "selector": {"matchLabels": {"app": "web"}},
//!         "template": {
//!             "metadata": {"labels": {"app": "web"}},
//!             "spec": {"containers": [{"name": "c", "image": "web:1"}], "priorityClassName": "agents"},
//!         },
//!         "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "60%"}},
//!         "minReadySeconds": 10,
//!     },
//! }))?;
//! let mut manifest = stored.clone();
//! manifest.spec.template["spec"]["nodeSelector"] = json!({"disk": "ssd"});
//! let nodes: Vec<Node> = from_value(json!([
//!     {"metadata": {"name": "a", "labels": {"disk": "ssd"}}},
//!     {"metadata": {"name": "b", "labels": {"disk": "ssd"}}},
//!     {"metadata": {"name": "c"}},
//! ]))?;
//!
//! let now = "2026-01-01T12:00:00Z".parse().unwrap();
//! let findings = lint(&Preflight::new(&manifest, now).nodes(&nodes).stored(&stored));
//! let rules: Vec<Rule> = findings.iter().map(|finding| finding.rule).collect();
//! assert_eq!(rules, [Rule::SelectionNarrowed, Rule::PercentRoundsToAll, Rule::NoReadinessProbe]);
//! assert_eq!(
//!     findings[0].to_string(),
//!     "Error spec.template.spec.nodeSelector: 1 of 3 target nodes loses its pod at once, whatever maxUnavailable is: \
//!      c. Roll such a change out node by node with labels on the nodes, or keep the selection. (SelectionNarrowed)"
//! );
//! # Ok::<(), serde_json::Error>(())
//! ```

mod affinity;
mod cluster;
mod finding;
mod history;
mod limits;
mod loss;
mod manifest;
mod placement;
mod pods;
mod preflight;
mod priority;
mod readiness;
mod selector;
mod surge;
mod told;
mod words;

pub use finding::{Finding, Rule, Severity};
pub use preflight::Preflight;

use crate::model::{DaemonSet, DaemonSetStatus};
use crate::problem::{InvalidSnapshot, Problem};
use crate::reconcile::steps::Decision;
use crate::reconcile::steps::decide;
use cluster::Cluster;
use manifest::Manifest;

/// All findings, worst first, then by field path, then by rule: the same for the same preflight, in whatever order its
/// lists are. An empty list: no rule has anything to say.
#[must_use]
pub fn lint(preflight: &Preflight<'_>) -> Vec<Finding> {
    /// A name is taken once in a blue moon.
    const TRIES: u32 = 8;
    let mut applied = preflight.applied();
    let mut findings = about_manifest(preflight, &Manifest::of(&applied));
    for _ in 0..TRIES {
        match look(preflight, &applied) {
            Look::Found(more) => {
                findings.extend(more);
                break;
            }
            // As a controller would: the next pass tries another name.
            Look::NameTaken(status) => applied.status = status,
        }
    }
    findings
        .sort_by(|a, b| (a.severity, &a.path, a.rule, &a.why).cmp(&(b.severity, &b.path, b.rule, &b.why)));
    findings
}

/// What a look at the cluster gives.
enum Look {
    Found(Vec<Finding>),
    /// The revision of the template can't have its name: with this status it gets another one.
    NameTaken(DaemonSetStatus),
}

fn look(preflight: &Preflight<'_>, applied: &DaemonSet) -> Look {
    let snapshot = match preflight.snapshot(applied) {
        Ok(snapshot) => snapshot,
        Err(invalid) => return Look::Found(refused(&invalid)),
    };
    match decide(&snapshot) {
        Decision::SelectingAll => Look::Found(vec![selector::everything()]),
        Decision::BeingDeleted => Look::Found(Vec::new()),
        Decision::NameCollision(status) => Look::NameTaken(status),
        Decision::Synced(sync) => {
            let cluster = Cluster { manifest: Manifest::of(applied), snapshot: &snapshot, sync };
            Look::Found(about_cluster(preflight, &cluster))
        }
    }
}

/// What the manifest alone tells.
fn about_manifest(preflight: &Preflight<'_>, manifest: &Manifest<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(limits::unavailable_beside_surge(manifest));
    findings.extend(history::limit_zero(manifest));
    findings.extend(history::directives_below(manifest));
    findings.extend(readiness::no_probe(manifest));
    findings.extend(surge::host_ports(manifest));
    findings.extend(surge::host_network(manifest));
    findings.extend(surge::host_paths(manifest));
    findings.extend(surge::devices(manifest));
    findings.extend(surge::resource_claims(manifest));
    findings.extend(affinity::with_surge(manifest));
    findings.extend(priority::class_missing(preflight, manifest));
    findings.extend(priority::no_class(manifest));
    findings.extend(pods::latest_tags(manifest));
    findings.extend(pods::grace_zero(manifest));
    findings.extend(selector::overlaps(preflight, manifest));
    findings
}

/// What it means for these nodes and pods.
fn about_cluster(preflight: &Preflight<'_>, cluster: &Cluster<'_>) -> Vec<Finding> {
    let mut findings = told::by_plan(cluster);
    findings.extend(limits::takes_all(cluster));
    findings.extend(limits::slow(cluster));
    findings.extend(readiness::min_ready_zero(cluster));
    findings.extend(placement::control_plane(cluster));
    findings.extend(affinity::to_itself(cluster));
    findings.extend(selector::adopts(cluster));
    findings.extend(history::revisions_lost(cluster));
    findings.extend(pods::grace_long(cluster));
    // A stored one that can't be checked runs nowhere that one could lose.
    if let Some(Ok(stored)) = preflight.stored.map(|stored| preflight.snapshot(stored)) {
        findings.extend(loss::of_nodes(cluster, &stored));
    }
    findings
}

/// What no decision can be made on. Other findings about the same cluster have to wait.
fn refused(invalid: &InvalidSnapshot) -> Vec<Finding> {
    let finding = |Problem { path, kind }: &Problem| {
        if path == history::DIRECTIVE_ON_TOP {
            return history::directive(path);
        }
        Finding::new(Rule::Invalid, Severity::Error, path)
            .why(format_args!("It is refused: {kind}"))
            .remedy("Put it right, and look again: what needs a decision could not be looked at")
    };
    invalid.problems.iter().map(finding).collect()
}
