//! A node in sentences: whether it should run a pod, which pods it has, which rule holds it, and what comes next.

use crate::cluster::Models;
use crate::plan::{Context, Planned, outcome, state};
use crate::words::{self, count, deleting};
use daemonset::model::{Node, Taint};
use daemonset::{
    Action, Budget, CreateReason, DeleteReason, Evidence, NodeOutcome, NodePlacement, NodeVerdict, Plan,
    PodState, PodVerdict, Situation, StrategyInForce, Warning,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// Names at most so many nodes.
const MOST_NAMES: usize = 5;

/// A DaemonSet, its plan, and the objects that the plan was made from.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) planned: &'a Planned,
    pub(crate) plan: &'a Plan,
    pub(crate) models: &'a Models,
    pub(crate) now: Timestamp,
}

impl Case<'_> {
    /// Everything that matters to a node, the present first.
    pub(crate) fn sentences(&self, node: &NodeVerdict) -> Vec<String> {
        let mut sentences = vec![self.placement(node)];
        sentences.extend(self.pods(node));
        sentences.push(self.rule(node));
        sentences.extend(self.budget(node));
        sentences.extend(self.warnings(node));
        sentences.push(self.next());
        sentences
    }

    /// The same for one of its pods.
    pub(crate) fn sentences_of_pod(&self, node: &NodeVerdict, pod: &PodVerdict) -> Vec<String> {
        let mut sentences = vec![format!("It is on node {}. {}", node.node, self.pod(pod))];
        sentences.extend(self.conflict(pod));
        sentences.push(self.placement(node));
        let others = node.pods.iter().filter(|other| other.pod.uid != pod.pod.uid);
        sentences.extend(others.map(|other| format!("Beside it: {}", self.pod(other))));
        sentences.push(self.rule(node));
        sentences.extend(self.budget(node));
        sentences.extend(self.warnings(node));
        sentences.push(self.next());
        sentences
    }

    fn next(&self) -> String {
        let requeue = self.plan.actions.iter().find_map(|action| match action {
            Action::Requeue { at, reason } => Some((*at, *reason)),
            _ => None,
        });
        match requeue {
            Some((at, reason)) if at <= self.now => {
                format!("The next plan follows at once: {}.", words::waking(reason))
            }
            Some((at, reason)) => {
                format!("The next plan follows {}: {}.", self.at(at), words::waking(reason))
            }
            None => "The next plan follows when an object changes; time alone changes nothing.".to_owned(),
        }
    }

    /// Why there are no verdicts.
    pub(crate) fn situation(&self) -> String {
        match self.plan.report.situation {
            Situation::Synced => "The node joined after this plan was made.",
            Situation::SelectingAll => {
                "Nothing is done for any node: the selector is empty, and would choose every pod."
            }
            Situation::BeingDeleted => "Nothing is done for any node: the DaemonSet is being deleted.",
            Situation::NameCollision => {
                "The name of the new revision is taken: this plan only raises the collision count, and the next one goes \
                 on with the nodes."
            }
            _ => "Nothing is known of the nodes.",
        }
        .to_owned()
    }

    fn placement(&self, verdict: &NodeVerdict) -> String {
        let name = &verdict.node;
        let mut text = match &verdict.placement {
            NodePlacement::Run => format!("{name} should run a pod."),
            NodePlacement::ContinueOnly { taint } => format!(
                "{name} gets no new pod, though a pod that runs there may stay: the template does not tolerate the \
                 taint {}.",
                tainted(taint)
            ),
            NodePlacement::OtherNodeName => {
                format!(
                    "{name} must not run a pod: the template names the node {}.",
                    self.template_text("nodeName")
                )
            }
            NodePlacement::NodeSelectorMismatch => format!(
                "{name} must not run a pod: the template's nodeSelector does not match, as {}.",
                self.selector_mismatch(name.as_str())
            ),
            NodePlacement::NodeAffinityMismatch => {
                format!(
                    "{name} must not run a pod: the template's required node affinity does not match its labels."
                )
            }
            NodePlacement::UntoleratedNoExecute { taint } => format!(
                "{name} must not run a pod: the template does not tolerate the taint {}.",
                tainted(taint)
            ),
            other => format!("{name}: {other:?}."),
        };
        if verdict.unschedulable {
            text.push_str(" It is cordoned, which makes no difference to a DaemonSet.");
        }
        if verdict.node_ready == Some(false) {
            text.push_str(" The node itself is not Ready.");
        }
        text
    }

    fn template_text(&self, member: &str) -> String {
        let spec = self.planned.daemon_set.spec.template.get("spec");
        spec.and_then(|spec| spec.get(member)).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// `disk=ssd is wanted, and its label disk is hdd`.
    fn selector_mismatch(&self, name: &str) -> String {
        let node = self.models.nodes.iter().find(|node| node.metadata.name.as_str() == name);
        let wanted = self.planned.daemon_set.spec.template.pointer("/spec/nodeSelector");
        let wanted = wanted.and_then(Value::as_object).into_iter().flatten();
        let missing = wanted.filter_map(|(key, value)| {
            let value = value.as_str().unwrap_or_default();
            let has = node.and_then(|node: &Node| node.metadata.labels.get(key));
            match has {
                Some(has) if has == value => None,
                Some(has) => Some(format!("{key}={value} is wanted and the node has {key}={has}")),
                None => Some(format!("{key}={value} is wanted and the node has no label {key}")),
            }
        });
        missing.collect::<Vec<_>>().join("; ")
    }

    fn pods(&self, node: &NodeVerdict) -> Vec<String> {
        match node.pods.as_slice() {
            [] => vec!["It has no pod of the DaemonSet.".to_owned()],
            pods => pods
                .iter()
                .flat_map(|pod| [Some(self.pod(pod)), self.conflict(pod)].into_iter().flatten())
                .collect(),
        }
    }

    /// Its revision, its state, and whether it goes.
    fn pod(&self, pod: &PodVerdict) -> String {
        let deleted = pod.deleted.map(|reason| format!(" This plan deletes it: {}.", deleting(reason)));
        let PodVerdict { pod: object, state, .. } = pod;
        let (name, class, state) = (&object.name, self.class(pod), self.state(*state));
        format!("Pod {name} {class}; it {state}.{}", deleted.unwrap_or_default())
    }

    fn class(&self, pod: &PodVerdict) -> String {
        let current = self.plan.report.current_revision.as_ref().map(|current| current.number);
        let now_current =
            current.map(|number| format!(" (the current one is #{number})")).unwrap_or_default();
        let of = pod.revision.map(|number| format!(" #{number}")).unwrap_or_default();
        match pod.evidence {
            Evidence::TemplateGeneration if pod.revision.is_some() && pod.revision != current => {
                format!(
                    "is updated by its template generation, though its hash names revision{of}{now_current}"
                )
            }
            Evidence::TemplateGeneration if pod.revision.is_none() => {
                "is updated, by its template generation".to_owned()
            }
            Evidence::TemplateGeneration | Evidence::CurrentRevision => {
                format!("is updated, of revision{of}")
            }
            Evidence::OldRevision => format!("is outdated, of revision{of}{now_current}"),
            Evidence::UnknownRevision => {
                "is outdated: its hash label names no revision of the DaemonSet".to_owned()
            }
            Evidence::NoHash => "is outdated: it has no hash label".to_owned(),
            other => format!("is {}: {other:?}", if pod.updated { "updated" } else { "outdated" }),
        }
    }

    fn conflict(&self, pod: &PodVerdict) -> Option<String> {
        let current = self.plan.report.current_revision.as_ref().map(|current| current.number);
        let conflict =
            pod.evidence == Evidence::TemplateGeneration && pod.revision.is_some() && pod.revision != current;
        conflict.then(|| {
            "Its template generation and its hash disagree: a plan that looks at the hash first would call it outdated."
                .to_owned()
        })
    }

    fn state(&self, state: PodState) -> String {
        let min_ready = i64::from(self.planned.daemon_set.spec.min_ready_seconds);
        match state {
            PodState::Available { ready_since } => {
                let ready = ready_since.map(|at| format!(" since {}", self.since(at)));
                match (min_ready, ready) {
                    (0, ready) => format!("is Ready and available{}", ready.unwrap_or_default()),
                    (seconds, ready) => {
                        format!(
                            "is Ready{}, longer than minReadySeconds ({seconds}s), and so available",
                            ready.unwrap_or_default()
                        )
                    }
                }
            }
            PodState::Ready { available_at: None } => {
                "is Ready, but its Ready condition tells no time".to_owned()
            }
            PodState::Ready { available_at: Some(at) } => {
                let ready = at.checked_sub(SignedDuration::from_secs(min_ready)).ok();
                format!("is Ready{}, and available {}", self.maybe_since(ready), self.at(at))
            }
            PodState::NotReady { since } => not_ready(self.maybe_since(since)),
            PodState::Pending { since } => format!("is Pending{}", self.maybe_since(since)),
            PodState::Terminating { overdue_at: None } => "is terminating".to_owned(),
            PodState::Terminating { overdue_at: Some(at) } if at <= self.now => {
                format!("is terminating, and overdue since {}", self.since(at))
            }
            PodState::Terminating { overdue_at: Some(at) } => {
                format!("is terminating, and should be gone {}", self.at(at))
            }
            PodState::Failed => "has failed".to_owned(),
            PodState::Succeeded => "has succeeded, as no daemon should".to_owned(),
            other => format!("is {other:?}"),
        }
    }

    /// The rule that holds the node, and what would have to happen.
    fn rule(&self, node: &NodeVerdict) -> String {
        let name = &node.node;
        match &node.outcome {
            NodeOutcome::UpToDate => {
                "Nothing is to be done here: its pod is updated and available.".to_owned()
            }
            NodeOutcome::NotTarget if node.pods.is_empty() => "Nothing is to be done here.".to_owned(),
            NodeOutcome::NotTarget => "Nothing is done to its pod.".to_owned(),
            NodeOutcome::Create { reason, batch } => {
                let after = match batch {
                    0 => "at once".to_owned(),
                    batch => format!("in batch {batch}, once the batches before have gone well"),
                };
                match reason {
                    CreateReason::MissingPod => {
                        format!("This plan creates its pod {after}, because it has none.")
                    }
                    CreateReason::Surge => format!(
                        "This plan creates its updated pod {after}, beside the outdated one, which goes when the new \
                         one is available."
                    ),
                    other => format!("This plan creates a pod {after}: {other:?}."),
                }
            }
            NodeOutcome::Delete { reason } => self.after_delete(*reason),
            NodeOutcome::WaitsForNextPlan => format!(
                "Something is due here, but this plan is full: it creates and deletes at most {} each.",
                count(self.models.policy.burst as usize, "pod")
            ),
            NodeOutcome::HeldByMaxUnavailable { used, limit } => {
                self.held_by_max_unavailable(node, *used, *limit)
            }
            NodeOutcome::HeldByMaxSurge { used, limit } => self.held_by_max_surge(node, *used, *limit),
            NodeOutcome::WaitsForDelete => {
                let outdated = outdated(node);
                let pod = outdated.map_or("POD", |pod| pod.pod.name.as_str());
                let namespace = &self.planned.daemon_set.metadata.namespace;
                format!(
                    "The strategy is OnDelete: its outdated pod stays until somebody deletes it, as by kubectl delete \
                     pod -n {namespace} {pod}."
                )
            }
            NodeOutcome::WaitsForReady => self.waits_for_ready(node),
            NodeOutcome::WaitsForMinReady { until: Some(_) } => format!(
                "It waits for minReadySeconds ({}s): until they have passed, the node counts as unavailable.",
                self.planned.daemon_set.spec.min_ready_seconds
            ),
            NodeOutcome::WaitsForMinReady { until: None } => {
                "It waits for minReadySeconds, which never pass: the pod's Ready condition tells no time."
                    .to_owned()
            }
            NodeOutcome::WaitsForTermination { overdue_at } => self.waits_for_termination(node, *overdue_at),
            NodeOutcome::WaitsForBackOff { until, failures } => {
                format!("Its pod has failed {}; the next attempt is {}.", times(*failures), self.at(*until))
            }
            NodeOutcome::WaitsForCreatedPod { until } => format!(
                "A pod was created for {name} that is not seen yet; if it is not seen until {until} ({}), it is created again.",
                words::relative(*until, self.now)
            ),
            other => format!("{other:?}."),
        }
    }

    fn after_delete(&self, reason: DeleteReason) -> String {
        let then = match reason {
            DeleteReason::NodeExcluded | DeleteReason::NodeGone => "No other pod follows",
            DeleteReason::ExcessPod
            | DeleteReason::SuccessorAvailable
            | DeleteReason::NotReadyBesideSuccessor => "The other pod of the node stays",
            DeleteReason::SucceededPod
            | DeleteReason::FailedPod
            | DeleteReason::TolerationWithdrawn
            | DeleteReason::OutdatedPending
            | DeleteReason::OutdatedNotReady
            | DeleteReason::OutdatedNotYetAvailable
            | DeleteReason::OutdatedAvailable => "An updated pod follows when it is gone",
            _ => "A later plan goes on",
        };
        format!("{then}.")
    }

    fn held_by_max_unavailable(&self, node: &NodeVerdict, used: u32, limit: u32) -> String {
        let users = self.users(|it| {
            it.counts.unavailable
                || it.counts.lost
                || matches!(it.outcome, NodeOutcome::Delete { reason } if within_budget(reason))
        });
        let others: Vec<&NodeVerdict> = users.into_iter().filter(|it| it.node != node.node).collect();
        let (are, more) = (if used == 1 { "is" } else { "are" }, used.saturating_sub(limit) + 1);
        format!(
            "Its outdated pod waits, because maxUnavailable is used up: {}, and {used} {are} so.{} It goes once {} has an \
             available pod again.",
            allowed(limit, "may be without an available pod"),
            self.used_up_by(&others),
            count(more as usize, "such node").replacen("1 such node", "one such node", 1)
        )
    }

    fn held_by_max_surge(&self, node: &NodeVerdict, used: u32, limit: u32) -> String {
        let users = self.users(|it| {
            it.counts.doubled
                || it.counts.lost
                || matches!(it.outcome, NodeOutcome::Create { reason: CreateReason::Surge, .. })
        });
        let others: Vec<&NodeVerdict> = users.into_iter().filter(|it| it.node != node.node).collect();
        let (have, more) = (if used == 1 { "has" } else { "have" }, used.saturating_sub(limit) + 1);
        format!(
            "Its outdated pod waits, because maxSurge is used up: {}, and {used} {have}.{} The updated pod comes beside it \
             once {} has a single pod again.",
            allowed(limit, "may have two pods"),
            self.used_up_by(&others),
            count(more as usize, "such node").replacen("1 such node", "one such node", 1)
        )
    }

    fn users(&self, uses: impl Fn(&NodeVerdict) -> bool) -> Vec<&NodeVerdict> {
        self.plan.report.nodes.iter().filter(|node| uses(node)).collect()
    }

    /// ` It is used up by node-2 (waits until Ready).`
    fn used_up_by(&self, nodes: &[&NodeVerdict]) -> String {
        let named = nodes.iter().take(MOST_NAMES);
        let named: Vec<String> =
            named.map(|node| format!("{} ({})", node.node, self.in_short(node))).collect();
        match nodes.len().saturating_sub(named.len()) {
            0 if named.is_empty() => String::new(),
            0 => format!(" It is used up by {}.", named.join(", ")),
            more => format!(" It is used up by {} and {more} more.", named.join(", ")),
        }
    }

    /// `web-1 Pending for 40s`, or the outcome of the node.
    fn in_short(&self, node: &NodeVerdict) -> String {
        let is_late = |pod: &&PodVerdict| {
            pod.updated && matches!(pod.state, PodState::NotReady { .. } | PodState::Pending { .. })
        };
        match (&node.outcome, node.pods.iter().find(is_late)) {
            (NodeOutcome::WaitsForReady, Some(pod)) => {
                let context = Context {
                    now: self.now,
                    min_ready: SignedDuration::from_secs(
                        self.planned.daemon_set.spec.min_ready_seconds.into(),
                    ),
                    current: None,
                };
                format!("{} {}", pod.pod.name, state(pod.state, context).text(self.now))
            }
            _ => outcome(node).text(self.now).replace(" (", ", ").replace(')', ""),
        }
    }

    fn waits_for_ready(&self, node: &NodeVerdict) -> String {
        let pod = node.pods.iter().find(|pod| {
            pod.updated && matches!(pod.state, PodState::NotReady { .. } | PodState::Pending { .. })
        });
        let namespace = &self.planned.daemon_set.metadata.namespace;
        let has_outdated = node.pods.iter().any(|pod| !pod.updated && is_live(pod.state));
        let then =
            if has_outdated { " Its outdated pod goes once the updated one is available." } else { "" };
        let waits = match pod {
            Some(pod) => {
                let name = &pod.pod.name;
                match self.models.troubles.get(&pod.pod.uid) {
                    Some(trouble) => {
                        format!("It waits until {name} is Ready. {}.", trouble.trim_end_matches('.'))
                    }
                    None => format!(
                        "It waits until {name} is Ready; kubectl describe pod -n {namespace} {name} shows what keeps it."
                    ),
                }
            }
            None => "It waits until its updated pod is Ready.".to_owned(),
        };
        waits + then
    }

    fn waits_for_termination(&self, node: &NodeVerdict, overdue_at: Option<Timestamp>) -> String {
        let terminating = node.pods.iter().filter(|pod| matches!(pod.state, PodState::Terminating { .. }));
        let names: Vec<&str> = terminating.map(|pod| pod.pod.name.as_str()).collect();
        let names = if names.is_empty() { "its pod".to_owned() } else { names.join(" and ") };
        match overdue_at {
            Some(at) if at <= self.now => format!(
                "It waits until {names} is gone, which is overdue: its kubelet does not answer, or a finalizer holds it."
            ),
            Some(_) | None => format!("It waits until {names} is gone: an updated pod follows then."),
        }
    }

    /// The figures, in words, for a target node with something to wait for.
    fn budget(&self, node: &NodeVerdict) -> Option<String> {
        let (strategy, budget) = (self.plan.report.strategy?, self.plan.report.budget?);
        let settled = matches!(node.outcome, NodeOutcome::UpToDate | NodeOutcome::NotTarget);
        if settled && !node.counts.lost {
            return None;
        }
        let Budget { desired, max_unavailable, max_surge, unavailable, not_ready, .. } = budget;
        let limit = match strategy {
            StrategyInForce::OnDelete => "no limit holds under OnDelete".to_owned(),
            StrategyInForce::Replace(limit) => {
                format!("maxUnavailable {limit} lets {max_unavailable} be without an available pod")
            }
            StrategyInForce::Surge(limit) => format!("maxSurge {limit} lets {max_surge} have two pods"),
            other => format!("{other:?}"),
        };
        let is = if unavailable == 1 { "is" } else { "are" };
        Some(format!(
            "The figures: {} should run a pod (desired); {limit}; {unavailable} {is} without an available one \
             (unavailable), {not_ready} without a Ready one (not Ready).",
            count(desired as usize, "node")
        ))
    }

    fn warnings(&self, node: &NodeVerdict) -> Vec<String> {
        let concerns = |warning: &&Warning| match warning {
            Warning::HostPortWithSurge { .. } => node.counts.doubled || node.pods.len() > 1,
            Warning::NodesLost { .. } => node.counts.lost,
            Warning::NoTargetNodes => true,
            // Pods without a node of theirs; and the settings, which are no single node's.
            Warning::GenerationHashConflict { .. }
            | Warning::PodsWithoutTarget { .. }
            | Warning::PodsOnUnknownNodes { .. }
            | Warning::PercentRoundsToAll { .. }
            | Warning::BothLimitsSet
            | Warning::BothLimitsZero
            | Warning::StrategyMissing
            | _ => false,
        };
        let warnings = self.plan.warnings.iter().filter(concerns);
        warnings.map(|warning| format!("Warning: {}.", words::warning(warning))).collect()
    }

    /// An instant to come: `at 2026-01-01T00:00:05Z, in 5s`.
    fn at(&self, at: Timestamp) -> String {
        format!("at {at}, {}", words::relative(at.max(self.now), self.now).replacen("for 0s", "now", 1))
    }

    /// An instant of the past: `2026-01-01T00:00:05Z (for 5s)`.
    fn since(&self, at: Timestamp) -> String {
        format!("{at} ({})", words::relative(at.min(self.now), self.now))
    }

    fn maybe_since(&self, at: Option<Timestamp>) -> String {
        at.map(|at| format!(" since {}", self.since(at))).unwrap_or_default()
    }
}

fn not_ready(since: String) -> String {
    match since.as_str() {
        "" => "runs, but is not Ready".to_owned(),
        since => format!("runs, but has not been Ready{since}"),
    }
}

fn is_live(state: PodState) -> bool {
    match state {
        PodState::Available { .. }
        | PodState::Ready { .. }
        | PodState::NotReady { .. }
        | PodState::Pending { .. } => true,
        PodState::Terminating { .. } | PodState::Failed | PodState::Succeeded | _ => false,
    }
}

fn outdated(node: &NodeVerdict) -> Option<&PodVerdict> {
    node.pods.iter().find(|pod| !pod.updated)
}

fn within_budget(reason: DeleteReason) -> bool {
    matches!(reason, DeleteReason::OutdatedAvailable | DeleteReason::OutdatedNotYetAvailable)
}

fn allowed(limit: u32, what: &str) -> String {
    format!("{} {what}", count(limit as usize, "node"))
}

fn times(number: u32) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

/// `key=value:NoSchedule`, as kubectl writes it.
fn tainted(taint: &Taint) -> String {
    let equals = if taint.value.is_empty() { "" } else { "=" };
    format!("{}{equals}{}:{}", taint.key, taint.value, taint.effect)
}
