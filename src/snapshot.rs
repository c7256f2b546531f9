//! What a decision is made from: borrowed, checked once, never changed.

use crate::manifest::daemon_toleration_list;
use crate::matching::Selector;
use crate::memory::Memory;
use crate::model::{DaemonSet, IntOrString, Toleration};
use crate::policy::Policy;
use crate::problem::{InvalidSnapshot, Problem, Problems};
use crate::template::{RequiredAffinity, Template};
use crate::view::{NodeView, PodView, RevisionView};
use indexmap::IndexSet;
use indexmap::map::{Entry, IndexMap};
use jiff::{SignedDuration, Timestamp};
use std::hash::{BuildHasherDefault, DefaultHasher};

/// The annotation with the template generation.
const TEMPLATE_GENERATION_ANNOTATION: &str = "deprecated.daemonset.template.generation";

/// A keyed index that is only ever looked up in, with the same hashes on every run.
type Hasher = BuildHasherDefault<DefaultHasher>;

/// A checked snapshot of everything that a decision reads. Nothing in it can make [`reconcile`](crate::reconcile)
/// fail.
#[derive(Debug, Clone)]
pub struct Snapshot<'a> {
    pub(crate) daemon_set: &'a DaemonSet,
    pub(crate) now: Timestamp,
    pub(crate) nodes: Vec<NodeView<'a>>,
    pub(crate) pods: Vec<PodView<'a>>,
    pub(crate) revisions: Vec<RevisionView<'a>>,
    pub(crate) memory: Option<&'a Memory>,
    pub(crate) policy: Policy,
    pub(crate) selector: Selector<'a>,
    pub(crate) template: Template,
    pub(crate) affinity: Option<RequiredAffinity>,
    /// The template's tolerations and those of every daemon pod.
    pub(crate) tolerations: Vec<Toleration>,
    pub(crate) strategy: Strategy,
    /// As it stands in the label of a pod.
    pub(crate) template_generation: Option<String>,
    node_index: IndexSet<&'a str, Hasher>,
}

/// The update strategy with its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strategy {
    OnDelete,
    /// Delete, then create: maxUnavailable.
    Replace(IntOrString),
    /// Create, then delete: maxSurge. What maxUnavailable says then is only told.
    Surge {
        limit: IntOrString,
        max_unavailable: Option<IntOrString>,
    },
}

impl<'a> Snapshot<'a> {
    /// Starts a snapshot of this DaemonSet at this instant; [`SnapshotBuilder::check`] ends it.
    #[allow(clippy::new_ret_no_self)]
    pub fn new(daemon_set: &'a DaemonSet, now: Timestamp) -> SnapshotBuilder<'a> {
        SnapshotBuilder {
            daemon_set,
            now,
            nodes: Vec::new(),
            pods: Vec::new(),
            revisions: Vec::new(),
            memory: None,
            policy: Policy::default(),
        }
    }

    /// The instant that it is taken at.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The position of a node in `nodes`.
    pub(crate) fn node_position(&self, name: &str) -> Option<usize> {
        self.node_index.get_index_of(name)
    }

    /// `spec.minReadySeconds`.
    pub(crate) fn min_ready(&self) -> SignedDuration {
        SignedDuration::from_secs(self.daemon_set.spec.min_ready_seconds.into())
    }

    /// Until when an action accepted at `at` is believed in; none when that time is over.
    pub(crate) fn in_flight_until(&self, at: Timestamp) -> Option<Timestamp> {
        let expiry = SignedDuration::from_secs(self.policy.in_flight_expiry_seconds.into());
        at.checked_add(expiry).ok().filter(|until| self.now < *until)
    }

    /// The template generation, or where there is none `metadata.generation`: what a failure counts against.
    pub(crate) fn failure_generation(&self) -> i64 {
        let template = self.template_generation.as_deref().and_then(|text| text.parse().ok());
        template.unwrap_or(self.daemon_set.metadata.generation)
    }
}

/// A snapshot whose parts are being gathered.
#[derive(Debug, Clone)]
#[must_use = "a snapshot is made by `check`"]
pub struct SnapshotBuilder<'a> {
    daemon_set: &'a DaemonSet,
    now: Timestamp,
    nodes: Vec<NodeView<'a>>,
    pods: Vec<PodView<'a>>,
    revisions: Vec<RevisionView<'a>>,
    memory: Option<&'a Memory>,
    policy: Policy,
}

impl<'a> SnapshotBuilder<'a> {
    /// All pods of the DaemonSet's namespace, whoever owns them: adoption and name collisions need them. Those of other
    /// namespaces do no harm.
    pub fn pods<I>(mut self, pods: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<PodView<'a>>,
    {
        self.pods.extend(pods.into_iter().map(Into::into));
        self
    }

    /// All nodes of the cluster.
    pub fn nodes<I>(mut self, nodes: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<NodeView<'a>>,
    {
        self.nodes.extend(nodes.into_iter().map(Into::into));
        self
    }

    /// All ControllerRevisions of the DaemonSet's namespace, whoever owns them.
    pub fn revisions<I>(mut self, revisions: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<RevisionView<'a>>,
    {
        self.revisions.extend(revisions.into_iter().map(Into::into));
        self
    }

    /// What the caller remembers from earlier reconciles of this DaemonSet.
    pub fn memory(mut self, memory: &'a Memory) -> Self {
        self.memory = Some(memory);
        self
    }

    /// The caller's choices; without this [`Policy::default`].
    pub fn policy(mut self, policy: &Policy) -> Self {
        self.policy = policy.clone();
        self
    }

    /// Checks the input.
    ///
    /// # Errors
    /// Every problem of the input at once, each with its field's path: a missing or malformed selector, an unknown
    /// strategy, negative limits, what the template says of placement and can't be evaluated, objects without name or
    /// uid, and objects that are there twice.
    pub fn check(self) -> Result<Snapshot<'a>, InvalidSnapshot> {
        let mut problems = Problems::default();
        let spec = &self.daemon_set.spec;
        check_metadata(self.daemon_set, &mut problems);
        let selector = selector(self.daemon_set, &mut problems);
        let template = Template::parse(&spec.template, &mut problems);
        if problems.is_empty() && !selector.matches(&template.metadata.labels) {
            let path = "spec.template.metadata.labels";
            let must = "must match spec.selector, or each created pod would be released at once";
            problems.add(Problem::invalid(path, &template.metadata.labels, must));
        }
        let affinity = template.required_affinity().map(|a| RequiredAffinity::compile(a, &mut problems));
        let strategy = strategy(self.daemon_set, &mut problems);
        check_policy(&self.policy, &mut problems);
        let node_index = index_nodes(&self.nodes, &mut problems);
        check_pods(&self.pods, &mut problems);
        check_revisions(&self.revisions, &mut problems);
        problems.into_result()?;
        let mut tolerations = template.spec.tolerations.clone();
        tolerations.extend(daemon_toleration_list(template.spec.host_network));
        Ok(Snapshot {
            daemon_set: self.daemon_set,
            now: self.now,
            nodes: self.nodes,
            pods: self.pods,
            revisions: self.revisions,
            memory: self.memory,
            policy: self.policy,
            selector,
            template,
            affinity,
            tolerations,
            strategy,
            template_generation: template_generation(self.daemon_set),
            node_index,
        })
    }
}

fn check_metadata(ds: &DaemonSet, problems: &mut Problems) {
    problems.require(&ds.metadata.name, "metadata.name");
    problems.require(&ds.metadata.namespace, "metadata.namespace");
    problems.require(ds.metadata.uid.as_str(), "metadata.uid");
    let not_negative = "must be greater than or equal to 0";
    if ds.spec.min_ready_seconds < 0 {
        problems.add(Problem::invalid("spec.minReadySeconds", ds.spec.min_ready_seconds, not_negative));
    }
    if let Some(limit @ ..0) = ds.spec.revision_history_limit {
        problems.add(Problem::invalid("spec.revisionHistoryLimit", limit, not_negative));
    }
}

fn selector<'a>(ds: &'a DaemonSet, problems: &mut Problems) -> Selector<'a> {
    match &ds.spec.selector {
        Some(selector) => Selector::compile(selector, "spec.selector", problems),
        None => {
            problems.add(Problem::required("spec.selector"));
            Selector::default()
        }
    }
}

/// Which limit counts. An absent type is OnDelete, as in the proposal; surge is on when maxSurge is above 0 or 0 %,
/// whatever the number of target nodes.
fn strategy(ds: &DaemonSet, problems: &mut Problems) -> Strategy {
    let strategy = &ds.spec.update_strategy;
    match strategy.kind.as_str() {
        "" | "OnDelete" => Strategy::OnDelete,
        "RollingUpdate" => {
            let limits = strategy.rolling_update.clone().unwrap_or_default();
            let max_unavailable = limits.max_unavailable.unwrap_or(IntOrString::Int(1));
            match limits.max_surge.filter(|surge| !surge.is_zero()) {
                Some(limit) => Strategy::Surge { limit, max_unavailable: Some(max_unavailable) },
                None => Strategy::Replace(max_unavailable),
            }
        }
        "SurgingRollingUpdate" => {
            let limit = strategy.surging_rolling_update.as_ref().and_then(|limits| limits.max_surge);
            let surge = limit.unwrap_or(IntOrString::Int(1));
            if surge.is_zero() {
                let path = "spec.updateStrategy.surgingRollingUpdate.maxSurge";
                problems.add(Problem::invalid(path, surge.to_string(), "must be greater than 0"));
            }
            Strategy::Surge { limit: surge, max_unavailable: None }
        }
        other => {
            let must = "must be OnDelete, RollingUpdate or SurgingRollingUpdate";
            problems.add(Problem::invalid("spec.updateStrategy.type", other, must));
            Strategy::OnDelete
        }
    }
}

fn check_policy(policy: &Policy, problems: &mut Problems) {
    problems.require(&policy.unique_label_key, "policy.uniqueLabelKey");
    if policy.burst == 0 {
        problems.add(Problem::invalid("policy.burst", 0, "must be at least 1"));
    }
}

/// The template generation as a pod's label would hold it. One that does not parse never matches, and is never
/// written (v1.36 `util.GetTemplateGeneration`).
fn template_generation(ds: &DaemonSet) -> Option<String> {
    let generation = match ds.metadata.annotations.get(TEMPLATE_GENERATION_ANNOTATION) {
        Some(text) => text.parse().ok(),
        None => ds.spec.template_generation,
    };
    generation.map(|number: i64| number.to_string())
}

fn index_nodes<'a>(nodes: &[NodeView<'a>], problems: &mut Problems) -> IndexSet<&'a str, Hasher> {
    let mut index = IndexSet::with_capacity_and_hasher(nodes.len(), Hasher::default());
    for (position, node) in nodes.iter().enumerate() {
        let path = || format!("nodes[{position}].metadata.name");
        if node.name.is_empty() {
            problems.add(Problem::required(path()));
        }
        let (first, new) = index.insert_full(node.name);
        if !new {
            let first = format!("nodes[{first}]");
            problems.add(Problem::duplicate(path(), node.name, first));
            // Keeps the positions in step with the list; the snapshot is refused anyway.
            return index;
        }
    }
    index
}

fn check_pods(pods: &[PodView<'_>], problems: &mut Problems) {
    let mut names = Unique::new("pods", "metadata.name", pods.len());
    let mut uids = Unique::new("pods", "metadata.uid", pods.len());
    for (position, pod) in pods.iter().enumerate() {
        if pod.namespace.is_empty() {
            problems.add(Problem::required(format!("pods[{position}].metadata.namespace")));
        }
        names.see(position, pod.name, (pod.namespace, pod.name), problems);
        uids.see(position, pod.uid, pod.uid, problems);
    }
}

fn check_revisions(revisions: &[RevisionView<'_>], problems: &mut Problems) {
    let mut names = Unique::new("revisions", "metadata.name", revisions.len());
    let mut uids = Unique::new("revisions", "metadata.uid", revisions.len());
    for (position, revision) in revisions.iter().enumerate() {
        if revision.namespace.is_empty() {
            problems.add(Problem::required(format!("revisions[{position}].metadata.namespace")));
        }
        names.see(position, revision.name, (revision.namespace, revision.name), problems);
        uids.see(position, revision.uid, revision.uid, problems);
    }
}

/// Tells values that are missing, or there twice, in a field of a list.
struct Unique<K> {
    list: &'static str,
    field: &'static str,
    seen: IndexMap<K, usize, Hasher>,
}

impl<K: std::hash::Hash + Eq> Unique<K> {
    fn new(list: &'static str, field: &'static str, capacity: usize) -> Self {
        Unique { list, field, seen: IndexMap::with_capacity_and_hasher(capacity, Hasher::default()) }
    }

    fn see(&mut self, position: usize, value: &str, key: K, problems: &mut Problems) {
        let Unique { list, field, seen } = self;
        if value.is_empty() {
            problems.add(Problem::required(format!("{list}[{position}].{field}")));
            return;
        }
        match seen.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(position);
            }
            Entry::Occupied(entry) => {
                let first = format!("{list}[{}]", entry.get());
                problems.add(Problem::duplicate(format!("{list}[{position}].{field}"), value, first));
            }
        }
    }
}
