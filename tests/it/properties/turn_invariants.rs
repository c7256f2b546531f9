//! The promises of turns, pulls, changes in place and fit that one plan can show, told without the crate's code.

use super::invariants::{Promise, ensure};
use super::oracle::{Fleet, max_unavailable, rounded_up};
use super::world::pull_name;
use crate::support::TURN_KEY;
use daemonset::model::{Node, Pod};
use daemonset::policy::{FitPolicy, InPlacePolicy, OnTimeout, PullPolicy, TurnMode, TurnPolicy};
use daemonset::{Action, CreateReason, Plan, Recording, TurnReason};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The promises that this plan breaks. In random fleets no policy drives, so that a strategy that replaces has a M.
pub fn broken(recording: &Recording, plan: &Plan) -> Vec<String> {
    let view = View::new(recording, plan);
    [view.takes(), view.turn_limit(), view.parallel(), view.preconditions(), view.in_place(), view.cordons()]
        .into_iter()
        .filter_map(Result::err)
        .collect()
}

/// The nodes in turn whose turn this plan does not end.
pub fn in_turn<'r>(recording: &'r Recording, plan: &'r Plan) -> BTreeSet<&'r str> {
    View::new(recording, plan).in_turn().into_iter().map(|turn| turn.node).collect()
}

struct View<'r> {
    recording: &'r Recording,
    plan: &'r Plan,
    fleet: Fleet<'r>,
    memory: Value,
    limit: Option<usize>,
}

/// A node in turn.
struct Turn<'r> {
    node: &'r str,
    at: Timestamp,
    /// `None` while the snapshot does not show it.
    request: Option<&'r str>,
}

impl<'r> View<'r> {
    fn new(recording: &'r Recording, plan: &'r Plan) -> Self {
        let memory = serde_json::to_value(&recording.memory).unwrap();
        let (fleet, limit) = (Fleet::of(recording), max_unavailable(recording));
        View { recording, plan, fleet, memory, limit }
    }

    fn node(&self, name: &str) -> Option<&'r Node> {
        self.recording.nodes.iter().find(|node| node.metadata.name.as_str() == name)
    }

    fn rules(&self) -> Option<&'r TurnPolicy> {
        match &self.recording.policy.turn {
            Some(TurnMode::Take(rules)) if self.limit.is_some() => Some(rules),
            _ => None,
        }
    }

    fn pulls(&self) -> Option<&'r PullPolicy> {
        self.recording.policy.pull.as_ref().filter(|_| self.limit.is_some())
    }

    /// When a patch of the node was accepted that the snapshot does not show.
    fn patched_at(&self, node: &str) -> Option<Timestamp> {
        let patch = &self.memory["turns"]["patches"][node];
        let at: Timestamp = patch["at"].as_str()?.parse().unwrap();
        let shown = patch["version"].as_u64().zip(self.recording.nodes_version);
        let is_shown = shown.is_some_and(|(written, read)| written <= read);
        (!is_shown && self.recording.now < at + SignedDuration::from_mins(5)).then_some(at)
    }

    fn turn(&self, node: &'r Node) -> Option<Turn<'r>> {
        let value = node.metadata.annotations.get(&format!("turn.daemonset/{TURN_KEY}"));
        let request = value.map(|value| value.strip_suffix(" cordoned").unwrap_or(value));
        let parsed = |request: &str| {
            let (number, at) = request.split_once(' ')?;
            number.parse::<i64>().ok()?;
            at.parse::<Timestamp>().ok()
        };
        let written = request.and_then(|request| Some((request, parsed(request)?)));
        let name = node.metadata.name.as_str();
        let at = written.map(|(_, at)| at).or(self.patched_at(name))?;
        Some(Turn { node: name, at, request: written.map(|(request, _)| request) })
    }

    /// The nodes in turn whose turn this plan does not end.
    fn in_turn(&self) -> Vec<Turn<'r>> {
        let ends =
            |name: &str| self.patches().any(|(node, reason)| node == name && reason == TurnReason::TurnEnds);
        let turns = self.recording.nodes.iter().filter_map(|node| self.turn(node));
        turns.filter(|turn| !ends(turn.node)).collect()
    }

    fn patches(&self) -> impl Iterator<Item = (&'r str, TurnReason)> + use<'r> {
        self.plan.actions.iter().filter_map(|action| match action {
            Action::PatchNode { node, reason, .. } => Some((node.name.as_str(), *reason)),
            _ => None,
        })
    }

    /// The pods that the update takes, each with its node and whether it stays.
    fn taken(&self) -> impl Iterator<Item = (&'r Pod, &'r Node, bool)> + use<'_, 'r> {
        self.plan.actions.iter().filter_map(|action| {
            let (pod, stays) = match action {
                Action::DeletePod { pod, reason, .. } if reason.is_update() => (pod, false),
                Action::UpdatePodInPlace { pod, .. } => (pod, true),
                _ => return None,
            };
            let pod = self.recording.pods.iter().find(|own| own.metadata.uid == pod.uid)?;
            Some((pod, self.node(Fleet::target(pod)?)?, stays))
        })
    }

    fn is_excused(&self, node: &str) -> bool {
        self.plan.report.node(node).is_some_and(|verdict| verdict.counts.excused)
    }

    /// The pods of a node once node sync is done, which no rule of turns holds back.
    fn has(&self, node: &str, good: impl Fn(&Pod) -> bool) -> bool {
        let goes = |pod: &Pod| {
            self.plan.actions.iter().any(|action| match action {
                Action::DeletePod { pod: gone, reason, .. } => {
                    gone.uid == pod.metadata.uid && !reason.is_update()
                }
                _ => false,
            })
        };
        let mut pods = self.fleet.owned().filter(|pod| Fleet::target(pod) == Some(node));
        pods.any(|pod| good(pod) && !goes(pod))
    }

    /// The nodes in turn, not excused, for which M has no room: those that are down come first.
    fn without_room(&self) -> BTreeSet<&'r str> {
        let Some(limit) = self.limit else { return BTreeSet::new() };
        let has_available = |node: &str| self.has(node, |pod| self.fleet.available(pod));
        let mut turns = self.in_turn();
        let all: BTreeSet<&str> = turns.iter().map(|turn| turn.node).collect();
        let is_down = |node: &&Node| {
            let name = node.metadata.name.as_str();
            let is_target = self.fleet.targets.contains(name);
            let is_lost = self.plan.report.node(name).is_some_and(|verdict| verdict.counts.down_after_update);
            let is_down =
                (is_target && !has_available(name)) || is_lost || (!is_target && self.is_taken(name));
            is_down && !all.contains(name) && !self.is_excused(name)
        };
        let down = self.recording.nodes.iter().filter(is_down).count();
        turns.retain(|turn| !self.is_excused(turn.node));
        turns.sort_by_key(|turn| (has_available(turn.node), turn.at, turn.node));
        (down..).zip(turns).filter(|(before, _)| *before >= limit).map(|(_, turn)| turn.node).collect()
    }

    fn is_taken(&self, node: &str) -> bool {
        self.plan.report.node(node).is_some_and(|verdict| verdict.counts.deleted_by_update)
    }

    /// A pod is taken in its turn, with open gates; a Ready one with room, its images and a place.
    fn takes(&self) -> Promise {
        let without_room = self.without_room();
        for (pod, node, stays) in self.taken() {
            let name = node.metadata.name.as_str();
            let why = |rule: &str| format!("takes: {} {rule}", pod.metadata.name);
            ensure(self.recording.policy.turn != Some(TurnMode::Keep), || why("though turns are kept"))?;
            ensure(self.patched_at(name).is_none(), || why("while a patch is in flight"))?;
            if let Some(rules) = self.rules() {
                let turn = self.turn(node);
                ensure(turn.is_some(), || why("out of turn"))?;
                let turn = turn.unwrap();
                let seconds = rules.timeout_seconds.filter(|_| rules.on_timeout == OnTimeout::Proceed);
                let proceeds = seconds.is_some_and(|seconds| self.is_over(turn.at, seconds));
                let answer = |gate: &String| {
                    node.metadata.annotations.get(&format!("{gate}.gate.daemonset/{TURN_KEY}"))
                };
                let is_open = |gate: &String| answer(gate).is_some() && answer(gate) == turn.request;
                ensure(proceeds || rules.gates.iter().all(is_open), || why("behind a closed gate"))?;
            }
            if !self.fleet.ready(pod) {
                continue;
            }
            ensure(!without_room.contains(name) || self.rules().is_none(), || why("without room"))?;
            ensure(self.is_pulled(node), || why("before its images are there"))?;
            ensure(stays || self.rules().is_some() || self.fits(name), || {
                why("though its successor does not fit")
            })?;
        }
        Ok(())
    }

    fn is_over(&self, since: Timestamp, seconds: u32) -> bool {
        since + SignedDuration::from_secs(seconds.into()) <= self.recording.now
    }

    /// In these fleets a pod has one image.
    fn is_pulled(&self, node: &Node) -> bool {
        let Some(rules) = self.pulls() else { return true };
        let container = &self.recording.daemon_set.spec.template["spec"]["containers"][0];
        let image = container["image"].as_str().unwrap();
        match container["imagePullPolicy"].as_str() {
            Some("Never") => return true,
            Some("IfNotPresent")
                if node
                    .status
                    .images
                    .iter()
                    .any(|on_node| on_node.names.iter().any(|name| name == image)) =>
            {
                return true;
            }
            _ => {}
        }
        let name = node.metadata.name.as_str();
        let hash = &self.plan.report.current_revision.as_ref().unwrap().hash;
        let refused = &self.memory["turns"]["refusedPulls"][pull_name(name, hash)];
        let refused_at: Option<Timestamp> = refused.as_str().map(|at| at.parse().unwrap());
        let mut pods = self.pull_pods().filter(|pod| {
            Fleet::target(pod) == Some(name)
                && pod.metadata.labels.get("pull.daemonset/revision") == Some(hash)
        });
        refused_at.is_some_and(|at| self.recording.now < at + SignedDuration::from_mins(30))
            || pods.any(|pod| has_image(pod) || self.is_late(pod, rules))
    }

    fn pull_pods(&self) -> impl Iterator<Item = &'r Pod> + use<'r> {
        let uid = self.recording.daemon_set.metadata.uid.as_str();
        let pods = self.recording.pods.iter();
        pods.filter(move |pod| pod.metadata.labels.get("pull.daemonset/owner") == Some(uid))
    }

    fn is_late(&self, pod: &Pod, rules: &PullPolicy) -> bool {
        pod.metadata.creation_timestamp.is_some_and(|at| self.is_over(at, rules.timeout_seconds))
    }

    /// In these fleets only places for pods are scarce, and each pod gives its own back.
    fn fits(&self, node: &str) -> bool {
        let free = json!(self.recording.free.get(node));
        // The pods that go give their places back.
        let live =
            self.recording.pods.iter().filter(|pod| Fleet::target(pod) == Some(node) && self.fleet.live(pod));
        self.recording.policy.fit == FitPolicy::Ignore || free["pods"] != "-1" || live.count() > 1
    }

    /// A turn begins while fewer nodes are in turn than may be unavailable: those that count, and the excused ones by themselves.
    fn turn_limit(&self) -> Promise {
        let begun: BTreeSet<&str> = self
            .patches()
            .filter(|(_, reason)| *reason == TurnReason::TurnBegins)
            .map(|(node, _)| node)
            .collect();
        let without_room = self.without_room();
        for excused in [false, true] {
            let begins = begun.iter().filter(|node| self.is_excused(node) == excused).count();
            let is_up = |name: &str| {
                let mut conditions = self.node(name).unwrap().status.conditions.iter();
                !conditions.any(|condition| condition.kind == "Ready" && condition.status == "Unknown")
            };
            let can_go_on = |name: &str| {
                let is_ready = self.has(name, |pod| self.fleet.ready(pod));
                !without_room.contains(name) || !is_ready
            };
            let in_turn = self.in_turn();
            let counted = in_turn.iter().filter(|turn| {
                self.is_excused(turn.node) == excused && is_up(turn.node) && can_go_on(turn.node)
            });
            let counted = counted.count();
            let limit = self.limit.unwrap_or(0);
            ensure(begins == 0 || begins + counted <= limit, || {
                format!("turns: {begins} begin beside {counted}, {limit} may")
            })?;
        }
        for node in begun {
            ensure(self.rules().is_some(), || format!("turns: {node} begins one that nobody asks for"))?;
            ensure(self.fleet.targets.contains(node), || format!("turns: {node} is no target"))?;
            ensure(self.turn(self.node(node).unwrap()).is_none(), || format!("turns: {node} is in turn"))?;
        }
        Ok(())
    }

    /// No more nodes pull than the policy says, and none twice.
    fn parallel(&self) -> Promise {
        let created = self.plan.actions.iter().filter_map(|action| match action {
            Action::CreatePod { node, reason: CreateReason::PullImages, pod, .. } => {
                Some((node.as_str(), pod.name().unwrap()))
            }
            _ => None,
        });
        let created: Vec<_> = created.collect();
        if created.is_empty() {
            return Ok(());
        }
        let rules = self.pulls().ok_or("pulls: nobody asks for them")?;
        let limit = rounded_up(rules.parallel, self.fleet.targets.len());
        let pulls = |pod: &&Pod| {
            pod.metadata.deletion_timestamp.is_none() && !has_image(pod) && !self.is_late(pod, rules)
        };
        let pulling = self.pull_pods().filter(pulls).count();
        ensure(pulling + created.len() <= limit, || {
            format!("pulls: {} beside {pulling}, {limit} may", created.len())
        })?;
        for (node, name) in created {
            let mut there = self.recording.pods.iter().filter(|pod| pod.metadata.namespace == "ns");
            ensure(there.all(|pod| pod.metadata.name != name), || format!("pulls: {node} has {name}"))?;
        }
        Ok(())
    }

    /// The node or pod of an action is the one of the snapshot.
    fn preconditions(&self) -> Promise {
        for action in &self.plan.actions {
            let is_there = match action {
                Action::PatchNode { node, .. } => self.node(&node.name).is_some_and(|own| {
                    own.metadata.uid == node.uid && own.metadata.resource_version == node.resource_version
                }),
                Action::UpdatePodInPlace { pod, node, .. } => self.recording.pods.iter().any(|own| {
                    own.metadata.uid == pod.uid
                        && own.metadata.name == pod.name
                        && own.spec.node_name == *node
                }),
                _ => true,
            };
            ensure(is_there, || format!("preconditions: {action}"))?;
        }
        Ok(())
    }

    /// Only the one live pod of a node is changed in its place, while it runs, does not settle, and gets nothing but an image.
    fn in_place(&self) -> Promise {
        for action in &self.plan.actions {
            let Action::UpdatePodInPlace { pod, patch, .. } = action else { continue };
            let pod = self.recording.pods.iter().find(|own| own.metadata.uid == pod.uid).unwrap();
            let why = |rule: &str| format!("in place: {} {rule}", pod.metadata.name);
            ensure(self.recording.policy.in_place == InPlacePolicy::IfPossible, || why("is not asked for"))?;
            ensure(self.limit.is_some(), || why("under another strategy"))?;
            let node = pod.spec.node_name.as_str();
            let live =
                self.fleet.owned().filter(|own| self.fleet.live(own) && Fleet::target(own) == Some(node));
            ensure(live.count() == 1, || why("is not alone"))?;
            ensure(!node.is_empty() && pod.status.phase == "Running", || why("does not run"))?;
            ensure(!self.fleet.settles(pod) && !self.fleet.is_changing(pod), || why("settles"))?;
            let container = &self.recording.daemon_set.spec.template["spec"]["containers"][0];
            let image = json!([{"name": "c", "image": container["image"]}]);
            ensure(patch["spec"]["containers"] == image, || why("gets something else"))?;
            let has_container =
                pod.status.container_statuses.iter().any(|status| !status.container_id.is_empty());
            ensure(has_container && pod.spec.containers[0].image != container["image"], || why("has it"))?;
            let hash = &self.plan.report.current_revision.as_ref().unwrap().hash;
            ensure(patch["metadata"]["labels"]["controller-revision-hash"] == **hash, || {
                why("gets another hash")
            })?;
        }
        Ok(())
    }

    /// A node becomes schedulable only at the end of a turn that has cordoned it, and no other turn is there.
    fn cordons(&self) -> Promise {
        for action in &self.plan.actions {
            let Action::PatchNode { node, unschedulable, reason, .. } = action else { continue };
            let annotations = &self.node(&node.name).unwrap().metadata.annotations;
            let own = annotations.get(&format!("turn.daemonset/{TURN_KEY}")).unwrap_or_default();
            match unschedulable {
                Some(false) => ensure(*reason == TurnReason::TurnEnds && own.ends_with(" cordoned"), || {
                    format!("cordons: a person cordoned {}", node.name)
                })?,
                Some(true) => ensure(
                    *reason == TurnReason::TurnBegins && self.rules().is_some_and(|rules| rules.cordon),
                    || format!("cordons: {} is cordoned by nobody's wish", node.name),
                )?,
                None => {}
            }
        }
        Ok(())
    }
}

/// Whether a pull pod of one container shows that its image is there.
fn has_image(pod: &Pod) -> bool {
    let mut statuses = pod.status.container_statuses.iter();
    statuses.any(|status| {
        !status.image_id.is_empty()
            || status.terminated_reason.is_some()
            || status.waiting_reason == "CreateContainerError"
    })
}
