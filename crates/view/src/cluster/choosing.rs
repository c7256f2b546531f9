//! One DaemonSet out of the objects of a cluster, or everything as decisions read it.

use crate::cluster::object::{full_name, name, namespace, object, uid};
use crate::cluster::objects::{Chosen, Models, Objects, RawItem, RecordedDecision};
use crate::cluster::places::Places;
use crate::cluster::policy::{AnnotationProblem, is_annotated, set_annotation, with_annotations};
use crate::cluster::{Choice, Wanted};
use crate::words;
use daemonset::model::{DaemonSet, Node, ResourceList};
use daemonset::{Policy, Recording};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A message names at most so many DaemonSets.
const MOST_NAMES: usize = 10;

impl Objects {
    /// Every DaemonSet, as `NAMESPACE/NAME`.
    pub fn daemon_set_names(&self) -> Vec<String> {
        self.daemon_sets.iter().map(|item| full_name(&item.raw)).collect()
    }

    /// Each of the DaemonSets that are wanted, by its name.
    ///
    /// # Errors
    /// There is none.
    pub fn each(&self, wanted: Option<&Wanted>) -> Result<Vec<Wanted>, String> {
        let found = self.daemon_sets.iter().filter(|item| item.is(wanted));
        let named = found.map(|item| {
            let namespace = Some(namespace(&item.raw)).filter(|namespace| !namespace.is_empty());
            Wanted::named(namespace, name(&item.raw))
        });
        let each: Vec<Wanted> = named.collect();
        if each.is_empty() { self.select(wanted).map(|_| each) } else { Ok(each) }
    }

    /// The DaemonSet that is wanted, as a position; without one, the only one.
    fn select(&self, wanted: Option<&Wanted>) -> Result<usize, String> {
        let found: Vec<(usize, &RawItem<DaemonSet>)> =
            self.daemon_sets.iter().enumerate().filter(|(_, item)| item.is(wanted)).collect();
        let names = |found: &[(usize, &RawItem<DaemonSet>)]| {
            words::names(found.iter().map(|(_, item)| full_name(&item.raw)), MOST_NAMES)
        };
        match (found.as_slice(), wanted) {
            ([(only, _)], _) => Ok(*only),
            ([], _) if self.daemon_sets.is_empty() => Err(self.no_daemon_set()),
            ([], wanted) => {
                let wanted = wanted.map(Wanted::to_string).unwrap_or_default();
                let there = words::names(self.daemon_set_names(), MOST_NAMES);
                Err(format!("no DaemonSet {wanted} in {}: there is {there}", self.holder))
            }
            ([(_, first), .., (_, last)], Some(_)) if full_name(&first.raw) == full_name(&last.raw) => {
                Err(format!("{} and {} are both DaemonSet {}", first.path, last.path, full_name(&last.raw)))
            }
            (several, _) => {
                let count = several.len();
                Err(format!("{count} DaemonSets: choose one with --daemonset: {}", names(several)))
            }
        }
    }

    fn no_daemon_set(&self) -> String {
        format!("no DaemonSet in {}{}", self.holder, self.hint)
    }

    /// Whether it can be planned from, and is no manifest.
    pub fn is_cluster(&self) -> bool {
        self.is_recorded() || !(self.daemon_sets.is_empty() || self.nodes.is_empty())
    }

    /// Takes the nodes of another List, and nothing else.
    pub fn take_nodes(&mut self, other: Objects) {
        self.nodes.extend(other.nodes);
        self.newest = self.newest.max(other.newest);
    }

    /// The uid of this DaemonSet; `None` if there is none.
    pub fn uid_of(&self, wanted: &Wanted) -> Option<&str> {
        self.daemon_sets.iter().find(|item| item.is(Some(wanted))).map(|item| uid(&item.raw))
    }

    /// Whether there is such a DaemonSet.
    pub fn has(&self, wanted: Option<&Wanted>) -> bool {
        self.number_of(wanted) > 0
    }

    /// How many of these DaemonSets there are.
    pub fn number_of(&self, wanted: Option<&Wanted>) -> usize {
        self.daemon_sets.iter().filter(|item| item.is(wanted)).count()
    }

    /// One DaemonSet as kubectl and the API server read it; other objects may be unreadable.
    pub fn choose(&self, wanted: Option<&Wanted>) -> Result<Chosen, String> {
        let position = self.select(wanted)?;
        let daemon_set = self.daemon_sets.get(position).map(|item| item.raw.clone()).unwrap_or_default();
        let beside = self.revisions.iter().map(|item| &item.raw);
        let beside = beside.filter(|revision| namespace(revision) == namespace(&daemon_set));
        Ok(Chosen { revisions: beside.cloned().collect(), daemon_set })
    }

    /// Everything as a decision reads it.
    ///
    /// # Errors
    /// The first object that can't be read, wherever it is.
    pub fn models(self) -> Result<Models, String> {
        if let Some(error) = self.unreadable {
            return Err(error);
        }
        let nodes: Vec<Node> = self.nodes.into_iter().map(|item| item.model).collect();
        // The first of a name, which no snapshot has twice.
        let positions = nodes.iter().enumerate().rev().map(|(at, node)| (node.metadata.name.clone(), at));
        Ok(Models {
            positions: positions.collect(),
            positions_of_pods: OnceLock::new(),
            daemon_sets: self.daemon_sets.into_iter().filter_map(|item| item.model).collect(),
            nodes,
            pods: self.pods.into_iter().map(|item| item.model).collect(),
            notes: self.notes,
            events: self.events,
            local_storage: self.local_storage,
            revisions: self.revisions.into_iter().filter_map(|item| item.model).collect(),
            policy: self.policy,
            powers: self.powers,
            ending_namespaces: self.ending_namespaces,
            memory: self.memory,
            free: self.free,
            inputs: self.inputs,
            pods_version: self.pods_version,
            nodes_version: self.nodes_version,
        })
    }

    /// Takes one DaemonSet, the nodes, and the objects of its namespace.
    pub(super) fn recording(self, choice: &Choice) -> Result<RecordedDecision, String> {
        if let Some(error) = self.unreadable {
            return Err(error);
        }
        let position = self.select(choice.daemon_set.as_ref())?;
        let Some(now) = choice.now.or(self.now).or(self.newest) else {
            return Err(format!("nothing in {} tells the time: pass --now", self.holder));
        };
        let Some(RawItem { path, model: Some(daemon_set), .. }) = self.daemon_sets.into_iter().nth(position)
        else {
            return Err("the DaemonSet can't be read".to_owned());
        };
        let namespace = &daemon_set.metadata.namespace;
        let of_namespace = self.pods.into_iter().filter(|pod| pod.model.metadata.namespace == *namespace);
        let (pod_places, pods) = of_namespace.map(|item| (item.path, item.model)).unzip();
        let revisions = self.revisions.into_iter().filter_map(|item| Some((item.path, item.model?)));
        let of_namespace = revisions.filter(|(_, revision)| revision.metadata.namespace == *namespace);
        let (revision_places, revisions) = of_namespace.unzip();
        let (node_places, nodes) = self.nodes.into_iter().map(|item| (item.path, item.model)).unzip();
        let places =
            Places { daemon_set: path, nodes: node_places, pods: pod_places, revisions: revision_places };
        let name = format!("{namespace}/{}", daemon_set.metadata.name);
        let powers = self.powers.of(namespace);
        let (policy, policy_problems) = match choice.policy.clone().or(self.policy) {
            Some(policy) => (policy, Vec::new()),
            None => with_annotations(&self.base_policy, &daemon_set, &powers),
        };
        let mut recording = Recording::new(daemon_set, now);
        recording.name = name;
        recording.nodes = nodes;
        recording.pods = pods;
        recording.revisions = revisions;
        recording.policy = policy;
        recording.memory = self.memory;
        recording.free = self.free;
        recording.inputs = self.inputs;
        (recording.pods_version, recording.nodes_version) = (self.pods_version, self.nodes_version);
        Ok(RecordedDecision { recording, places, policy_problems, powers, notes: self.notes })
    }

    /// The policy of one DaemonSet, and its problems.
    pub fn policy_of(&self, wanted: Option<&Wanted>) -> Result<(Policy, Vec<AnnotationProblem>), String> {
        match &self.policy {
            Some(policy) => Ok((policy.clone(), Vec::new())),
            None => {
                let daemon_set = self.model_of(wanted)?;
                let powers = self.powers.of(&daemon_set.metadata.namespace);
                Ok(with_annotations(&self.base_policy, &daemon_set, &powers))
            }
        }
    }

    /// Whether a Recording's policy, or an annotation of the DaemonSet, steers its rollout.
    pub fn is_steered(&self, wanted: Option<&Wanted>) -> bool {
        match &self.policy {
            Some(policy) => policy.rollout.is_some(),
            None => {
                self.daemon_sets.iter().filter(|item| item.is(wanted)).any(|item| is_annotated(&item.raw))
            }
        }
    }

    /// Gives one DaemonSet an annotation, in place of the one that it has; `None` takes it away. The annotations replace the rollout of a Recording
    /// then.
    pub fn annotate(
        &mut self,
        wanted: Option<&Wanted>,
        key: &str,
        value: Option<&str>,
    ) -> Result<(), String> {
        let position = self.select(wanted)?;
        let Some(RawItem { path, raw, model }) = self.daemon_sets.get_mut(position) else {
            return Err(self.no_daemon_set());
        };
        set_annotation(raw, key, value);
        *model = Some(object(path, raw)?);
        if let Some(policy) = self.policy.take() {
            self.base_policy = policy.rollout(None);
        }
        Ok(())
    }

    /// The allocatable resources of nodes, by name.
    pub fn allocatable(&self) -> &BTreeMap<String, ResourceList> {
        &self.allocatable
    }

    /// Names of the priority classes; `None` where there are no such objects.
    pub fn priority_classes(&self) -> Option<&[String]> {
        Some(self.priority_classes.as_slice()).filter(|names| !names.is_empty())
    }

    /// One DaemonSet as a decision reads it.
    pub fn model_of(&self, wanted: Option<&Wanted>) -> Result<DaemonSet, String> {
        let position = self.select(wanted)?;
        match self.daemon_sets.get(position) {
            Some(RawItem { model: Some(model), .. }) => Ok(model.clone()),
            Some(RawItem { path, raw, model: None }) => object(path, raw),
            None => Err(self.no_daemon_set()),
        }
    }
}
