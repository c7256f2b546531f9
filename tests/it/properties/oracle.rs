//! A second, simple interpretation of a recording: ownership, availability, limits. It shares no code with the crate.

use daemonset::model::{IntOrString, Pod};
use daemonset::report::NodePlacement;
use daemonset::{Recording, plan};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The annotation of a pod that was changed in its place.
const SINCE: &str = "in-place.daemonset/since";

/// The fleet as one would count it on paper.
pub struct Fleet<'r> {
    recording: &'r Recording,
    memory: Value,
    pub targets: BTreeSet<String>,
    pub tolerated: BTreeSet<String>,
}

impl<'r> Fleet<'r> {
    pub fn of(recording: &'r Recording) -> Self {
        let report = plan(&recording.snapshot().unwrap()).report;
        let nodes = |wanted: fn(&NodePlacement) -> bool| {
            let nodes = report.nodes.iter().filter(|node| wanted(&node.placement));
            nodes.map(|node| node.node.to_string()).collect()
        };
        Fleet {
            recording,
            memory: serde_json::to_value(&recording.memory).unwrap(),
            targets: nodes(|p| matches!(p, NodePlacement::Run)),
            tolerated: nodes(|p| matches!(p, NodePlacement::ContinueOnly { .. })),
        }
    }

    /// Pods that the DaemonSet controls, or adopts in this pass.
    pub fn owned(&self) -> impl Iterator<Item = &'r Pod> + '_ {
        self.recording.pods.iter().filter(|pod| self.owns(pod))
    }

    pub fn owns(&self, pod: &Pod) -> bool {
        let meta = &pod.metadata;
        let controller = meta.owner_references.iter().find(|owner| owner.controller == Some(true));
        let ours = match controller {
            Some(owner) => owner.uid == self.recording.daemon_set.metadata.uid,
            None => meta.deletion_timestamp.is_none(),
        };
        let matches = meta.labels.get("app").is_some_and(|app| app == "agent");
        ours && matches
            && meta.namespace == "ns"
            && !meta.annotations.contains_key("kubernetes.io/config.mirror")
    }

    pub fn target(pod: &Pod) -> Option<&str> {
        let bound = Some(pod.spec.node_name.as_str()).filter(|node| !node.is_empty());
        bound.or(pod.spec.affinity_node.as_ref().map(|node| node.as_str()))
    }

    pub fn finished(pod: &Pod) -> bool {
        matches!(pod.status.phase.as_ref(), "Failed" | "Succeeded")
    }

    /// Whether a pod is terminating, or memory holds its delete.
    pub fn going(&self, pod: &Pod) -> bool {
        let deleted = self.memory["deletes"][pod.metadata.uid.as_str()].as_str();
        let recently = |at: &str| {
            let at: jiff::Timestamp = at.parse().unwrap();
            self.recording.now < at + SignedDuration::from_mins(5)
        };
        pod.metadata.deletion_timestamp.is_some() || deleted.is_some_and(recently)
    }

    pub fn live(&self, pod: &Pod) -> bool {
        !Self::finished(pod) && !self.going(pod)
    }

    pub fn ready(&self, pod: &Pod) -> bool {
        let is_ready = pod.status.conditions.iter().any(|c| c.kind == "Ready" && c.status == "True");
        self.live(pod) && is_ready && !self.settles(pod) && !self.is_changing(pod)
    }

    pub fn available(&self, pod: &Pod) -> bool {
        let seconds = self.recording.daemon_set.spec.min_ready_seconds;
        let since = pod.status.conditions.first().and_then(|c| c.last_transition_time);
        let since = since.map(|since| since.max(self.changed(pod).map_or(since, |(_, starts)| starts)));
        let long_enough = since
            .is_some_and(|since| since + SignedDuration::from_secs(seconds.into()) <= self.recording.now);
        self.ready(pod) && (seconds == 0 || long_enough)
    }

    /// When a pod was changed in its place, and when its new containers have started since.
    fn changed(&self, pod: &Pod) -> Option<(Timestamp, Timestamp)> {
        let since = pod.metadata.annotations.get(SINCE)?;
        let since: Value = serde_json::from_str(since).ok()?;
        let at: Timestamp = since["at"].as_str()?.parse().ok()?;
        let changed = since["containers"].as_object()?;
        let statuses = pod.status.container_statuses.iter();
        let starts = statuses.filter(|status| changed.contains_key(&status.name));
        Some((at, starts.filter_map(|status| status.started_at).fold(at, Timestamp::max)))
    }

    /// Whether the old containers of a changed pod may still run. In these fleets each pod has one container.
    pub fn settles(&self, pod: &Pod) -> bool {
        let Some((at, _)) = self.changed(pod) else { return false };
        let since: Value = serde_json::from_str(pod.metadata.annotations.get(SINCE).unwrap()).unwrap();
        let (was, status) = (&since["containers"]["c"], pod.status.container_statuses.first());
        let is_late = at + SignedDuration::from_secs(60) <= self.recording.now;
        let is_new = |id: &str, member: &str| !id.is_empty() && was[member] != id;
        !status.is_some_and(|status| {
            is_new(&status.container_id, "id") && (is_late || is_new(&status.image_id, "imageID"))
        })
    }

    /// Whether memory holds a change of the pod that the pod does not show.
    pub fn is_changing(&self, pod: &Pod) -> bool {
        let change = &self.memory["turns"]["inPlace"][pod.metadata.uid.as_str()];
        let instant = |member: &str| change[member].as_str().map(|at| at.parse::<Timestamp>().unwrap());
        let (Some(at), Some(changed_at)) = (instant("at"), instant("changedAt")) else { return false };
        let is_shown = self.changed(pod).is_some_and(|(shown, _)| changed_at <= shown);
        !is_shown && self.recording.now < at + SignedDuration::from_mins(5)
    }

    /// Whether the node may not count while it has no Ready pod: the policy excuses some of these nodes, and this counts
    /// none of them.
    pub fn may_be_excused(&self, node: &str) -> bool {
        let policy = serde_json::to_value(&self.recording.policy).unwrap();
        let node = self.recording.nodes.iter().find(|other| other.metadata.name.as_str() == node);
        node.into_iter().flat_map(|node| &node.status.conditions).any(|condition| {
            let is_true = condition.status == "True";
            match condition.kind.as_ref() {
                "Ready" => !is_true && policy["downNodes"] == "ExcuseIfDownBefore",
                "MemoryPressure" => false,
                _ => is_true && policy["lifecycle"] == "Respect",
            }
        })
    }

    /// Nodes that an update took down, that are no target nodes any more, and that have no Ready pod.
    pub fn taken_elsewhere(&self) -> usize {
        let taken = self.memory["taken"].as_object().into_iter().flat_map(|taken| taken.keys());
        let is_there =
            |name: &&String| self.recording.nodes.iter().any(|node| node.metadata.name.as_str() == *name);
        let has_ready = |name: &String| {
            self.owned().any(|pod| self.ready(pod) && Self::target(pod) == Some(name.as_str()))
        };
        taken.filter(is_there).filter(|name| !self.targets.contains(*name) && !has_ready(name)).count()
    }

    /// For each target node, the number of pods that satisfy the condition.
    pub fn count(&self, good: impl Fn(&Pod) -> bool) -> BTreeMap<&str, usize> {
        let mut counts: BTreeMap<&str, usize> = self.targets.iter().map(|node| (node.as_str(), 0)).collect();
        for pod in self.owned().filter(|pod| good(pod)) {
            if let Some(count) = Self::target(pod).and_then(|node| counts.get_mut(node)) {
                *count += 1;
            }
        }
        counts
    }

    pub fn unavailable_targets(&self) -> usize {
        self.without(|pod| self.available(pod))
    }

    /// Target nodes without a pod that satisfies the condition, but for those that may be excused.
    pub fn without(&self, good: impl Fn(&Pod) -> bool) -> usize {
        let counts = self.count(good);
        counts.iter().filter(|(node, count)| **count == 0 && !self.may_be_excused(node)).count()
    }
}

pub fn rounded_up(limit: IntOrString, targets: usize) -> usize {
    match limit {
        IntOrString::Int(number) => number as usize,
        IntOrString::Percent(percent) => {
            (0..=targets * 2).find(|n| n * 100 >= percent as usize * targets).unwrap()
        }
    }
}

/// M, if the strategy replaces pods.
pub fn max_unavailable(recording: &Recording) -> Option<usize> {
    let strategy = &recording.daemon_set.spec.update_strategy;
    if strategy.kind != "RollingUpdate" || max_surge(recording).is_some() {
        return None;
    }
    let limit =
        strategy.rolling_update.as_ref().and_then(|r| r.max_unavailable).unwrap_or(IntOrString::Int(1));
    let targets = Fleet::of(recording).targets.len();
    Some(rounded_up(limit, targets).max(usize::from(targets > 0)))
}

/// S, if the strategy surges.
pub fn max_surge(recording: &Recording) -> Option<usize> {
    let strategy = &recording.daemon_set.spec.update_strategy;
    let limit = match strategy.kind.as_str() {
        "SurgingRollingUpdate" => Some(IntOrString::Int(1)),
        "RollingUpdate" => strategy.rolling_update.as_ref().and_then(|r| r.max_surge),
        _ => None,
    };
    let limit = limit.filter(|limit| !limit.is_zero())?;
    Some(rounded_up(limit, Fleet::of(recording).targets.len()))
}
