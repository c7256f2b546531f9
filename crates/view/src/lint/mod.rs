//! A preflight of a Kubernetes DaemonSet: its effects on real nodes and pods that its author may not expect.
//!
//! [`lint()`] has rules about the manifest alone (limits, images, grace periods, and surge with resources that only one pod can
//! hold), about the cluster (which nodes run the pod, and which pods the DaemonSet adopts), about the change from the stored
//! DaemonSet (which nodes lose their pods), and about the policy of a rollout (waves, failures, deadlines). Findings about nodes,
//! budgets and pods agree with [`plan`](daemonset::plan()): they are read off its report. A [`Rehearsal`] simulates the rollout of
//! a version that works, and finds the deadlines that it misses.
//!
//! Pure, as the core is: no I/O, no clock, no randomness, no environment.
//!
//! ```
//! use daemonset_view::lint::{Preflight, Rule, lint};
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
//! let now: jiff::Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
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
mod context;
mod finding;
mod fit;
mod format;
mod from_warnings;
mod history;
mod in_place;
mod limits;
mod look;
mod loss;
mod manifest;
mod placement;
mod pods;
mod preflight;
mod pull;
mod readiness;
mod rehearsal;
mod rollout;
mod selector;
mod surge;
mod turn;
mod without_effect;

pub use finding::{Finding, Rule, Severity};
pub use look::{Restarts, admitted, as_stored, look, with_refusals};
pub use preflight::Preflight;
pub use rehearsal::Rehearsal;

use context::Context;
use daemonset::model::{DaemonSet, DaemonSetStatus};
use daemonset::report::Situation;
use daemonset::{InvalidInput, Problem};
use manifest::Manifest;

/// Checks all rules. The findings are in order of severity (worst first), then of field path, then of rule; the order
/// of the preflight's lists does not matter. An empty result means that no rule found anything.
#[must_use]
pub fn lint(preflight: &Preflight<'_>) -> Vec<Finding> {
    /// A collision of revision names is so rare that a few attempts are enough.
    const ATTEMPTS: u32 = 8;
    let mut applied = preflight.applied();
    let mut findings = about_manifest(preflight, &Manifest::new(&applied, &preflight.policy));
    findings.extend(
        preflight
            .invalid_policy
            .iter()
            .flat_map(|invalid| &invalid.problems)
            .map(|problem| rollout::unreadable(preflight.daemon_set, problem)),
    );
    for _ in 0..ATTEMPTS {
        match inspect(preflight, &applied) {
            Inspection::Findings(more) => {
                findings.extend(more);
                break;
            }
            // The next attempt uses another name, as the next pass of a controller would.
            Inspection::NameCollision(status) => applied.status = status,
        }
    }
    findings
        .sort_by(|a, b| (a.severity, &a.path, a.rule, &a.why).cmp(&(b.severity, &b.path, b.rule, &b.why)));
    findings
}

/// The result of one attempt to decide on the snapshot.
enum Inspection {
    Findings(Vec<Finding>),
    /// The name of the new revision is in use. With this status the revision gets another name.
    NameCollision(DaemonSetStatus),
}

/// Makes the decision of a controller for this DaemonSet, and checks the rules about the cluster.
fn inspect(preflight: &Preflight<'_>, applied: &DaemonSet) -> Inspection {
    let snapshot = match preflight.snapshot(applied) {
        Ok(snapshot) => snapshot,
        Err(invalid) => return Inspection::Findings(refused(&invalid)),
    };
    let plan = daemonset::plan(&snapshot);
    match (plan.report.situation, plan.status.clone()) {
        (Situation::SelectingAll, _) => Inspection::Findings(vec![selector::everything()]),
        (Situation::NameCollision, Some(status)) => Inspection::NameCollision(status),
        (Situation::Synced, _) => {
            let manifest = Manifest::new(applied, &preflight.policy);
            let context = Context::new(preflight, manifest, &snapshot, &plan);
            Inspection::Findings(about_cluster(&context))
        }
        // One that is being deleted is left alone.
        _ => Inspection::Findings(Vec::new()),
    }
}

/// The rules about the manifest alone.
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
    findings.extend(pods::priority_class_missing(preflight, manifest));
    findings.extend(pods::no_priority_class(preflight, manifest));
    findings.extend(pods::latest_tags(manifest));
    findings.extend(pods::grace_zero(manifest));
    findings.extend(selector::overlaps(preflight, manifest));
    findings.extend(turn::kept(preflight, manifest));
    findings.extend(turn::gates_without_opener(preflight, manifest));
    findings.extend(turn::drain_without_cordon(preflight, manifest));
    findings.extend(turn::name_without_grace(preflight, manifest));
    findings.extend(without_effect::findings(preflight, manifest));
    findings
}

/// The rules about nodes and pods, and about the change from the stored DaemonSet.
fn about_cluster(context: &Context<'_>) -> Vec<Finding> {
    let preflight = context.preflight;
    let mut findings = from_warnings::findings(context);
    findings.extend(limits::takes_all(context));
    findings.extend(limits::slow(context));
    findings.extend(readiness::min_ready_zero(context));
    findings.extend(placement::control_plane(context));
    findings.extend(placement::tainted_by_own_absence(context));
    findings.extend(affinity::to_itself(context));
    findings.extend(selector::adopts(context));
    findings.extend(history::revisions_lost(context));
    findings.extend(pods::grace_long(context));
    findings.extend(fit::too_small(context));
    findings.extend(pull::findings(context));
    findings.extend(in_place::findings(context));
    findings.extend(rollout::findings(context));
    // An invalid stored DaemonSet runs no pods, so that no node can lose one.
    if let Some(Ok(stored)) = preflight.stored.map(|stored| preflight.stored_snapshot(stored)) {
        findings.extend(loss::nodes_losing_pods(context, &stored));
    }
    findings
}

/// Problems of the input. Without a valid snapshot there is no decision, and the rules about the cluster can't be
/// checked.
fn refused(invalid: &InvalidInput) -> Vec<Finding> {
    let finding = |problem: &Problem| {
        let Problem { path, kind, .. } = problem;
        if path == history::DIRECTIVE_ON_TOP {
            return history::directive(path);
        }
        Finding::refused(path, kind)
    };
    invalid.problems.iter().map(finding).collect()
}
