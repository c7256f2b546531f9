//! The objects of a List, a Recording, or YAML documents, by kind; and one DaemonSet out of them.

use crate::cluster::documents;
use crate::cluster::input::Form;
use crate::cluster::notes::Notes;
use crate::cluster::object::{
    Kind, allocatable, at, entries, full_name, has_local_storage, is_of_another_era, joined, member, name,
    namespace, object, prefix, signs_of_life, times,
};
use crate::cluster::places::Places;
use crate::cluster::policy::{
    POLICY, PolicyProblem, is_annotated, may_need_powers, set_annotation, with_annotations,
};
use crate::cluster::{Choice, Wanted};
use crate::shell::hostile;
use daemonset::model::{ControllerRevision, DaemonSet, Labels, Node, NodeName, Pod, PodMeta, ResourceList};
use daemonset::policy::Powers;
use daemonset::{Memory, Policy, Recording};
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// An object as a decision reads it, and where it was: `items[3]`; an empty path where it is the whole file.
#[derive(Clone)]
pub(super) struct Item<T> {
    path: String,
    pub(super) model: T,
}

/// An object that kubectl and the API server read too. It has no model where it could not be read.
#[derive(Clone)]
pub(super) struct RawItem<T> {
    path: String,
    pub(super) raw: Value,
    pub(super) model: Option<T>,
}

impl<T> RawItem<T> {
    pub(super) fn is(&self, wanted: Option<&Wanted>) -> bool {
        let labels = || self.raw.pointer("/metadata/labels").and_then(|it| Labels::deserialize(it).ok());
        wanted.is_none_or(|wanted| {
            wanted.matches(namespace(&self.raw), name(&self.raw), &labels().unwrap_or_default())
        })
    }
}

/// The powers of the annotations of DaemonSets, by their namespace.
#[derive(Debug, Clone, Default)]
pub(crate) struct NamespacePowers(BTreeMap<String, Powers>);

impl NamespacePowers {
    /// None for a namespace that is not among the objects.
    pub(crate) fn of(&self, namespace: &str) -> Powers {
        self.0.get(namespace).copied().unwrap_or_default()
    }
}

/// The objects of a cluster.
#[derive(Clone)]
pub(crate) struct Objects {
    pub(super) daemon_sets: Vec<RawItem<DaemonSet>>,
    pub(super) revisions: Vec<RawItem<ControllerRevision>>,
    pub(super) nodes: Vec<Item<Node>>,
    pub(super) pods: Vec<Item<Pod>>,
    pub(super) notes: Notes,
    /// Pods with an emptyDir volume, by namespace and name: only a drain reads volumes.
    local_storage: BTreeSet<(String, String)>,
    priority_classes: Vec<String>,
    /// Of nodes, by name: only the linter reads it.
    allocatable: BTreeMap<String, ResourceList>,
    powers: NamespacePowers,
    /// The first object, or time in it, that can't be read: some questions do not need it.
    pub(super) unreadable: Option<String>,
    /// The newest creation, condition change or sign of life of any object.
    newest: Option<Timestamp>,
    /// A Recording's own time, policy and memory.
    now: Option<Timestamp>,
    policy: Option<Policy>,
    memory: Option<Memory>,
    /// The free resources of the nodes of a Recording.
    free: BTreeMap<NodeName, ResourceList>,
    /// The choices that the annotations of a DaemonSet change.
    base_policy: Policy,
    /// As messages call it: `the List`.
    pub(super) holder: String,
    /// Where else to look.
    hint: &'static str,
}

impl Default for Objects {
    fn default() -> Self {
        Objects {
            daemon_sets: Vec::new(),
            revisions: Vec::new(),
            nodes: Vec::new(),
            pods: Vec::new(),
            notes: Notes::default(),
            local_storage: BTreeSet::new(),
            priority_classes: Vec::new(),
            allocatable: BTreeMap::new(),
            powers: NamespacePowers::default(),
            unreadable: None,
            newest: None,
            now: None,
            policy: None,
            memory: None,
            free: BTreeMap::new(),
            base_policy: Policy::default(),
            holder: "the List".to_owned(),
            hint: "",
        }
    }
}

/// One DaemonSet and its namespace, as kubectl and the API server read them.
pub(crate) struct Chosen {
    pub(crate) daemon_set: Value,
    /// Of its namespace.
    pub(crate) revisions: Vec<Value>,
}

/// Everything that a decision about any DaemonSet reads.
pub(crate) struct Models {
    pub(crate) daemon_sets: Vec<DaemonSet>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) pods: Vec<Pod>,
    pub(crate) notes: Notes,
    /// Pods with an emptyDir volume, by namespace and name.
    pub(crate) local_storage: BTreeSet<(String, String)>,
    pub(crate) revisions: Vec<ControllerRevision>,
    /// Of a Recording or the command line; without one the annotations of each DaemonSet decide.
    pub(crate) policy: Option<Policy>,
    pub(crate) powers: NamespacePowers,
    pub(crate) memory: Option<Memory>,
    /// The free resources of nodes, where they are known.
    pub(crate) free: BTreeMap<NodeName, ResourceList>,
}

/// Everything that a decision about one DaemonSet reads.
pub(super) struct Decision {
    pub(super) recording: Recording,
    pub(super) places: Places,
    pub(super) policy_problems: Vec<PolicyProblem>,
    pub(super) powers: Powers,
}

impl Objects {
    /// Reads Lists, single objects or a Recording, in JSON or YAML.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        // A JSON List is the common case: it is read item by item, without a copy of the whole.
        match Form::first_byte(bytes)? {
            b'{' if matches!(Form::of_json(bytes), Ok(Form::List)) => Objects::from_json_list(bytes),
            _ => Objects::of_documents(documents::read(bytes)?),
        }
    }

    pub(crate) fn of_documents(documents: Vec<Value>) -> Result<Self, String> {
        let mut objects = Objects::default();
        let one = documents.len() == 1;
        for (number, document) in documents.into_iter().enumerate() {
            objects.add(if one { String::new() } else { format!("documents[{number}]") }, document)?;
        }
        Ok(objects)
    }

    fn add(&mut self, path: String, mut value: Value) -> Result<(), String> {
        if !value.is_object() {
            return Err(format!("{}must be an object", prefix(&path)));
        }
        if value.get("daemonSet").is_some() {
            return self.add_recording(&path, value);
        }
        let Some(items) = value.get_mut("items").map(Value::take) else {
            return self.add_object(path, value);
        };
        for (path, item) in entries(&joined(&path, "items"), items)? {
            self.add_object(path, item)?;
        }
        Ok(())
    }

    fn add_recording(&mut self, path: &str, mut value: Value) -> Result<(), String> {
        if let Some(now) = value.get("now").and_then(Value::as_str) {
            let invalid = |error| format!("{}: {error}", joined(path, "now"));
            self.now = Some(now.parse().map_err(invalid)?);
        }
        // A recorded decision is made again with its own policy: annotations change nothing.
        self.policy = Some(member(path, &value, "policy")?.unwrap_or_default());
        self.memory = member(path, &value, "memory")?;
        self.free = member(path, &value, "free")?.unwrap_or_default();
        let mut take = |member: &str| value.get_mut(member).map_or(Value::Null, Value::take);
        self.add_of_kind(Kind::DaemonSet, joined(path, "daemonSet"), take("daemonSet"));
        for (member, kind) in
            [("revisions", Kind::ControllerRevision), ("nodes", Kind::Node), ("pods", Kind::Pod)]
        {
            for (path, entry) in entries(&joined(path, member), take(member))? {
                self.add_of_kind(kind, path, entry);
            }
        }
        "the Recording".clone_into(&mut self.holder);
        Ok(())
    }

    /// An object without a kind is an error to everybody.
    pub(super) fn add_object(&mut self, path: String, value: Value) -> Result<(), String> {
        let kind = Kind::of(&path, &value)?;
        self.add_of_kind(kind, path, value);
        Ok(())
    }

    pub(super) fn add_of_kind(&mut self, kind: Kind, path: String, mut raw: Value) {
        hostile::put_stand_ins(&mut raw);
        if let Err(error) = self.note_times(kind, &path, &raw) {
            self.unreadable.get_or_insert(error);
        }
        match kind {
            Kind::DaemonSet => {
                let model = self.model(&path, &raw);
                self.daemon_sets.push(RawItem { path, raw, model });
            }
            Kind::ControllerRevision => {
                let model = self.model(&path, &raw);
                self.revisions.push(RawItem { path, raw, model });
            }
            Kind::Node => {
                if let Some(model) = self.model::<Node>(&path, &raw) {
                    self.notes.add_node(&raw);
                    let allocatable = allocatable(&raw);
                    self.allocatable.extend(allocatable.map(|list| (model.metadata.name.to_string(), list)));
                    self.nodes.push(Item { path, model });
                }
            }
            Kind::Pod => {
                if let Some(model) = self.model::<Pod>(&path, &raw) {
                    self.notes.add_pod(&model.metadata.uid, &raw);
                    if has_local_storage(&raw) {
                        let PodMeta { namespace, name, .. } = &model.metadata;
                        self.local_storage.insert((namespace.clone(), name.clone()));
                    }
                    self.pods.push(Item { path, model });
                }
            }
            Kind::Namespace => {
                let annotations = raw.pointer("/metadata/annotations");
                let annotations = annotations.and_then(|value| Labels::deserialize(value).ok());
                let powers = annotations.as_ref().map(Powers::of_namespace).unwrap_or_default();
                self.powers.0.insert(name(&raw).to_owned(), powers);
            }
            Kind::PriorityClass => self.priority_classes.push(name(&raw).to_owned()),
            Kind::Other => {}
        }
    }

    fn model<T: DeserializeOwned>(&mut self, path: &str, raw: &Value) -> Option<T> {
        match object(path, raw) {
            Ok(model) => Some(model),
            Err(error) => {
                self.unreadable.get_or_insert(error);
                None
            }
        }
    }

    fn note_times(&mut self, kind: Kind, place: &str, item: &Value) -> Result<(), String> {
        for (path, time) in times(item) {
            match time.parse() {
                Ok(time) => self.newest = self.newest.max(Some(time)),
                Err(_) if kind == Kind::Other || is_of_another_era(time) => {}
                Err(error) => return Err(at(place, &path, item, &error)),
            }
        }
        self.newest = self.newest.max(signs_of_life(item).max());
        Ok(())
    }

    /// Adds the objects of another List.
    pub(crate) fn append(&mut self, mut other: Objects) {
        self.daemon_sets.append(&mut other.daemon_sets);
        self.revisions.append(&mut other.revisions);
        self.nodes.append(&mut other.nodes);
        self.pods.append(&mut other.pods);
        self.notes.append(other.notes);
        self.local_storage.append(&mut other.local_storage);
        self.priority_classes.append(&mut other.priority_classes);
        self.allocatable.append(&mut other.allocatable);
        self.powers.0.append(&mut other.powers.0);
        self.unreadable = self.unreadable.take().or(other.unreadable);
        self.newest = self.newest.max(other.newest);
        self.now = self.now.or(other.now);
    }

    /// Takes the priority classes of another List, and nothing else.
    pub(crate) fn learn_priority_classes(&mut self, other: Option<Objects>) {
        self.priority_classes.extend(other.into_iter().flat_map(|other| other.priority_classes));
    }

    /// Takes the powers of the namespaces of another List, and nothing else.
    pub(super) fn learn_powers(&mut self, mut other: Objects) {
        self.powers.0.append(&mut other.powers.0);
    }

    /// The powers of a namespace; none where there is no such object.
    pub(crate) fn powers_of(&self, namespace: &str) -> Powers {
        self.powers.of(namespace)
    }

    /// Whether this namespace is among the objects.
    pub(super) fn knows_powers_of(&self, namespace: &str) -> bool {
        self.powers.0.contains_key(namespace)
    }

    /// The namespaces whose powers the policy of a DaemonSet may need.
    pub(super) fn namespaces_that_need_powers(&self) -> BTreeSet<String> {
        let needs_some = |item: &&RawItem<DaemonSet>| {
            let annotations = item.model.as_ref().map(|model| &model.metadata.annotations);
            annotations.and_then(|annotations| annotations.get(POLICY)).is_some_and(may_need_powers)
        };
        self.daemon_sets.iter().filter(needs_some).map(|item| namespace(&item.raw).to_owned()).collect()
    }

    /// The namespaces with a DaemonSet.
    pub(crate) fn namespaces(&self) -> BTreeSet<String> {
        self.daemon_sets.iter().map(|item| namespace(&item.raw).to_owned()).collect()
    }

    /// How messages call where the objects were found.
    pub(crate) fn found_in(&mut self, holder: String, hint: &'static str) {
        self.holder = holder;
        self.hint = hint;
    }

    /// When to look at the cluster: a Recording's own time, or the newest creation or condition change.
    pub(crate) fn now(&self) -> Option<Timestamp> {
        self.now.or(self.newest)
    }

    /// Whether it has the time of a Recording.
    pub(crate) fn is_recorded(&self) -> bool {
        self.now.is_some()
    }

    /// Every DaemonSet, as `NAMESPACE/NAME`.
    pub(crate) fn daemon_set_names(&self) -> Vec<String> {
        self.daemon_sets.iter().map(|item| full_name(&item.raw)).collect()
    }

    /// The DaemonSet that is wanted, as a position; without one, the only one.
    fn select(&self, wanted: Option<&Wanted>) -> Result<usize, String> {
        let found: Vec<(usize, &RawItem<DaemonSet>)> =
            self.daemon_sets.iter().enumerate().filter(|(_, item)| item.is(wanted)).collect();
        let names = |found: &[(usize, &RawItem<DaemonSet>)]| {
            found.iter().map(|(_, item)| full_name(&item.raw)).collect::<Vec<_>>().join(", ")
        };
        match (found.as_slice(), wanted) {
            ([(only, _)], _) => Ok(*only),
            ([], _) if self.daemon_sets.is_empty() => Err(self.no_daemon_set()),
            ([], wanted) => {
                let wanted = wanted.map(Wanted::to_string).unwrap_or_default();
                let there = self.daemon_set_names().join(", ");
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
    pub(super) fn is_cluster(&self) -> bool {
        self.is_recorded() || !(self.daemon_sets.is_empty() || self.nodes.is_empty())
    }

    /// Whether there is such a DaemonSet.
    pub(crate) fn has(&self, wanted: Option<&Wanted>) -> bool {
        self.number_of(wanted) > 0
    }

    /// How many of these DaemonSets there are.
    pub(crate) fn number_of(&self, wanted: Option<&Wanted>) -> usize {
        self.daemon_sets.iter().filter(|item| item.is(wanted)).count()
    }

    /// One DaemonSet as kubectl and the API server read it; other objects may be unreadable.
    pub(crate) fn choose(&self, wanted: Option<&Wanted>) -> Result<Chosen, String> {
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
    pub(crate) fn models(self) -> Result<Models, String> {
        if let Some(error) = self.unreadable {
            return Err(error);
        }
        Ok(Models {
            daemon_sets: self.daemon_sets.into_iter().filter_map(|item| item.model).collect(),
            nodes: self.nodes.into_iter().map(|item| item.model).collect(),
            pods: self.pods.into_iter().map(|item| item.model).collect(),
            notes: self.notes,
            local_storage: self.local_storage,
            revisions: self.revisions.into_iter().filter_map(|item| item.model).collect(),
            policy: self.policy,
            powers: self.powers,
            memory: self.memory,
            free: self.free,
        })
    }

    /// Takes one DaemonSet, the nodes, and the objects of its namespace.
    pub(super) fn recording(self, choice: &Choice) -> Result<Decision, String> {
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
        Ok(Decision { recording, places, policy_problems, powers })
    }

    /// The policy of one DaemonSet, and its problems.
    pub(crate) fn policy_of(&self, wanted: Option<&Wanted>) -> Result<(Policy, Vec<PolicyProblem>), String> {
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
    pub(crate) fn is_steered(&self, wanted: Option<&Wanted>) -> bool {
        match &self.policy {
            Some(policy) => policy.rollout.is_some(),
            None => {
                self.daemon_sets.iter().filter(|item| item.is(wanted)).any(|item| is_annotated(&item.raw))
            }
        }
    }

    /// Gives one DaemonSet an annotation, in place of the one that it has. The annotations replace the rollout of a Recording
    /// then.
    pub(crate) fn annotate(&mut self, wanted: Option<&Wanted>, key: &str, value: &str) -> Result<(), String> {
        let position = self.select(wanted)?;
        let Some(RawItem { path, raw, model }) = self.daemon_sets.get_mut(position) else {
            return Err(self.no_daemon_set());
        };
        set_annotation(raw, key, Some(value));
        *model = Some(object(path, raw)?);
        if let Some(policy) = self.policy.take() {
            self.base_policy = policy.rollout(None);
        }
        Ok(())
    }

    /// The allocatable resources of nodes, by name.
    pub(crate) fn allocatable(&self) -> &BTreeMap<String, ResourceList> {
        &self.allocatable
    }

    /// Names of the priority classes; `None` where there are no such objects.
    pub(crate) fn priority_classes(&self) -> Option<&[String]> {
        Some(self.priority_classes.as_slice()).filter(|names| !names.is_empty())
    }

    /// One DaemonSet as a decision reads it.
    pub(crate) fn model_of(&self, wanted: Option<&Wanted>) -> Result<DaemonSet, String> {
        let position = self.select(wanted)?;
        match self.daemon_sets.get(position) {
            Some(RawItem { model: Some(model), .. }) => Ok(model.clone()),
            Some(RawItem { path, raw, model: None }) => object(path, raw),
            None => Err(self.no_daemon_set()),
        }
    }
}
