//! Changes of objects, one at a time.

use super::facts::{Reads, is_of_turns};
use super::relation::PodRelation;
use super::rollout::KeptRollout;
use super::{HashFacts, HistoryFacts, Kept};
use crate::NeedsLists;
use daemonset::internal::{
    ClaimVerdict, HashMeaning, History, Placement, Problems, RevisionFacts, Spec, images, pull_pod_prefix,
    wave_selector,
};
use daemonset::model::{ControllerRevision, DaemonSet, DaemonSetMeta, TemplateFidelity};
use daemonset::policy::PodNames;
use daemonset::{Action, Memory, NodeView, PodView, RevisionView};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A change of one object, as a watch shows it. An object that is added or changed is the same to it.
///
/// See [`Tracker::apply`](crate::Tracker::apply).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Change<'a> {
    /// The DaemonSet. One with another uid is another DaemonSet: the next plan lists all objects.
    DaemonSet(&'a DaemonSet),
    /// A node.
    Node(NodeView<'a>),
    /// The node with this name is gone.
    NodeGone(&'a str),
    /// A pod. Those of other namespaces do no harm. A pod stays on its node, and a uid, of a revision as well, is that of one
    /// object for ever: the API server binds a pod once, and gives no uid twice.
    Pod(PodView<'a>),
    /// The pod with this namespace and name is gone.
    PodGone {
        /// `metadata.namespace`.
        namespace: &'a str,
        /// `metadata.name`.
        name: &'a str,
    },
    /// A revision. Those of other namespaces do no harm.
    Revision(RevisionView<'a>),
    /// The revision with this namespace and name is gone.
    RevisionGone {
        /// `metadata.namespace`.
        namespace: &'a str,
        /// `metadata.name`.
        name: &'a str,
    },
}

impl Kept {
    /// Applies a change.
    ///
    /// # Errors
    /// [`NeedsLists::NotKept`] for a change of how objects are read, such as another selector or, where images are pulled, another image,
    /// and for an object that a check of the whole would refuse.
    pub(crate) fn apply(&mut self, change: Change<'_>, memory: &Memory) -> Result<(), NeedsLists> {
        match change {
            Change::DaemonSet(daemon_set) => self.change_daemon_set(daemon_set),
            Change::Node(node) if node.name.is_empty() => Err(NeedsLists::NotKept),
            Change::Node(node) => {
                self.change_node(&node);
                Ok(())
            }
            Change::NodeGone(name) => {
                self.remove_node(name, memory);
                Ok(())
            }
            Change::Pod(pod) if pod.name.is_empty() || pod.uid.is_empty() || pod.namespace.is_empty() => {
                Err(NeedsLists::NotKept)
            }
            Change::Pod(pod) => {
                self.put_pod(&pod);
                Ok(())
            }
            Change::PodGone { namespace, name } => {
                self.remove_pod(namespace, name);
                Ok(())
            }
            Change::Revision(revision) => self.change_revision(&revision),
            Change::RevisionGone { namespace, name } => self.remove_revision(namespace, name),
        }
    }

    /// The outcome of an action has changed the memory, whose entries about it were `before`.
    pub(crate) fn recorded(&mut self, action: &Action, before: &Memory, memory: &Memory) {
        self.recheck.recorded(action, before, memory, &self.objects);
    }

    fn change_node(&mut self, node: &NodeView<'_>) {
        let placement = self.spec.template.decide(node).placement;
        self.objects.put_node(node, placement, Reads::new(&self.spec, &self.images));
        self.change_rollout_node(node, placement);
        self.recheck.known(node.name);
    }

    /// The waves of a node depend on its labels.
    fn change_rollout_node(&mut self, node: &NodeView<'_>, placement: Placement) {
        let (Some(rollout), Some(policy)) = (&mut self.rollout, &self.spec.policy.rollout) else { return };
        let Some(slot) = self.objects.node_slot(node.name) else { return };
        let Some(name) = self.objects.node(slot).map(|node| node.facts.name.clone()) else { return };
        let selectors: Vec<_> = policy.waves.iter().map(wave_selector).collect();
        if rollout.put_node(&(name, slot), node, placement, &selectors) {
            self.objects.change_facts(slot);
        }
    }

    fn remove_node(&mut self, name: &str, memory: &Memory) {
        let Some(slot) = self.objects.node_slot(name) else { return };
        self.set_evaluation(slot, super::evaluation::KeptEvaluation::default());
        self.objects.remove_node(slot);
        if let Some(rollout) = &mut self.rollout {
            rollout.remove_node(slot);
        }
        self.recheck.unknown(name, memory);
    }

    pub(super) fn put_pod(&mut self, pod: &PodView<'_>) {
        let spec = Arc::clone(&self.spec);
        if pod.namespace != spec.daemon_set.metadata.namespace {
            return;
        }
        let ownership = spec.ownership(pod);
        let selected = spec.selector.matches(pod.labels);
        let is_kept = keeps(&spec, pod, ownership.verdict(|| selected, pod.deleted_at.is_some()));
        let old = self.objects.pod_slot(pod.name).and_then(|slot| self.objects.pod(slot));
        if let Some(replaced) = old.filter(|old| !is_kept || old.uid() != pod.uid) {
            self.recheck.pod(replaced.uid());
        }
        if !is_kept {
            self.remove_pod(pod.namespace, pod.name);
            return;
        }
        let relation = PodRelation::new(&spec, pod, ownership, selected);
        if self.objects.put_pod(pod, relation, Reads::new(&spec, &self.images)) {
            self.recheck.pod(pod.uid);
            self.recheck.pod_named(pod.name);
        }
    }

    fn remove_pod(&mut self, namespace: &str, name: &str) {
        if namespace != self.spec.daemon_set.metadata.namespace {
            return;
        }
        let removed = self.objects.pod_slot(name).and_then(|slot| self.objects.remove_pod(slot));
        if let Some(pod) = removed {
            self.recheck.pod(pod.uid());
        }
    }

    /// Whether a decision can depend on a revision: on one of the DaemonSet, and on one whose name a new one may get.
    pub(super) fn concerns(&self, revision: &RevisionView<'_>, facts: &RevisionFacts) -> bool {
        let ds = &self.spec.daemon_set.metadata;
        let may_collide = || revision.name.strip_prefix(&*ds.name).is_some_and(|rest| rest.starts_with('-'));
        facts.claim != ClaimVerdict::Ignore || (revision.namespace == ds.namespace && may_collide())
    }

    fn change_revision(&mut self, revision: &RevisionView<'_>) -> Result<(), NeedsLists> {
        if revision.name.is_empty() || revision.uid.is_empty() || revision.namespace.is_empty() {
            return Err(NeedsLists::NotKept);
        }
        if !self.spec.can_read(revision) {
            return Err(NeedsLists::NotKept);
        }
        let facts = self.spec.revision_facts(revision);
        let old = self.revision_position(revision.namespace, revision.name);
        if !self.concerns(revision, &facts) {
            return old.map_or(Ok(()), |_| self.remove_revision(revision.namespace, revision.name));
        }
        self.recover_template()?;
        let template = revision.data.pointer("/spec/template");
        if !template.is_none_or(|template| self.knows_images(template)) {
            return Err(NeedsLists::NotKept);
        }
        let revision = ControllerRevision::from(revision);
        if old.is_some_and(|old| self.revisions.get(old) == Some(&revision)) {
            return Ok(());
        }
        self.is_history_stale = true;
        match old.and_then(|position| {
            Some((self.revisions.get_mut(position)?, self.revision_facts.get_mut(position)?))
        }) {
            Some((old, old_facts)) => {
                let is_stable = |rollout: &KeptRollout| rollout.has_stable(old.metadata.uid.as_str());
                if old.data != revision.data && self.rollout.as_deref().is_some_and(is_stable) {
                    // The nodes were placed by the template that it had.
                    return Err(NeedsLists::NotKept);
                }
                (*old, *old_facts) = (revision, facts);
            }
            None => {
                self.revisions.push(revision);
                self.revision_facts.push(facts);
            }
        }
        Ok(())
    }

    fn remove_revision(&mut self, namespace: &str, name: &str) -> Result<(), NeedsLists> {
        let Some(position) = self.revision_position(namespace, name) else { return Ok(()) };
        self.recover_template()?;
        self.is_history_stale = true;
        self.revisions.remove(position);
        self.revision_facts.remove(position);
        Ok(())
    }

    /// Whether each image of a template is among those that nodes are asked for.
    fn knows_images(&self, template: &Value) -> bool {
        self.spec.policy.pull.is_none() || images_of(template).all(|image| self.images.contains(&image))
    }

    /// A template that has lost fields is recovered from revisions: with other revisions it may be another one.
    fn recover_template(&self) -> Result<(), NeedsLists> {
        let is_exact = self.spec.daemon_set.template_fidelity == TemplateFidelity::Exact;
        if is_exact { Ok(()) } else { Err(NeedsLists::NotKept) }
    }

    fn revision_position(&self, namespace: &str, name: &str) -> Option<usize> {
        let is_it = |r: &ControllerRevision| r.metadata.namespace == namespace && r.metadata.name == name;
        self.revisions.iter().position(is_it)
    }

    fn change_daemon_set(&mut self, daemon_set: &DaemonSet) -> Result<(), NeedsLists> {
        let old = &*self.spec.daemon_set;
        if all_but_status(old) == all_but_status(daemon_set) {
            // It is a part of the name of a new revision.
            self.is_history_stale |= old.status.collision_count != daemon_set.status.collision_count;
            Arc::make_mut(&mut self.spec).daemon_set = Cow::Owned(daemon_set.clone());
            return Ok(());
        }
        self.recover_template()?;
        let views: Vec<_> = self.revisions.iter().map(RevisionView::from).collect();
        let mut problems = Problems::default();
        let spec = Spec::compile(daemon_set, self.spec.policy.clone(), Value::Null, &views, &mut problems);
        problems.into_result().map_err(|_| NeedsLists::NotKept)?;
        if !reads_objects_alike(&self.spec, &spec) || !self.knows_images(spec.raw_template()) {
            return Err(NeedsLists::NotKept);
        }
        self.revision_facts = views.iter().map(|revision| spec.revision_facts(revision)).collect();
        self.spec = Arc::new(spec.into_owned());
        self.pod_template = None;
        self.history_facts = None;
        self.is_history_stale = true;
        self.objects.mark_all_dirty();
        Ok(())
    }

    /// The parts of the history that evaluations depend on.
    pub(super) fn history_facts_of(&self, history: &History<'_>) -> HistoryFacts {
        let stable = self.rollout.as_ref().and_then(|rollout| rollout.stable_in(history));
        let meaning = |hash: &str| {
            let HashMeaning { evidence, revision: position } = HashMeaning::new(history, hash);
            let revision = position.map(|position| history.revision(position));
            HashFacts {
                evidence,
                // Of the current one as well: on the way back to the stable revision its pods are the candidates.
                number: revision.map(|revision| revision.number),
                relabels: revision.is_some_and(|revision| history.relabels_pods_of(revision)),
                is_stable: stable.as_ref().is_some_and(|stable| stable.is_revision_of(position)),
                revision: revision.and_then(|revision| revision.view).map(|view| view.uid.into()),
            }
        };
        let hashes = self.objects.live_hashes().map(|hash| (Arc::from(hash), meaning(hash)));
        HistoryFacts {
            current_hash: history.current_hash().to_owned(),
            created_at: history.current().view.and_then(|view| view.created_at),
            exists: history.current().view.is_some(),
            is_awaited: history.awaits_current(self.spec.policy.external_controller.is_some()),
            hashes: BTreeMap::from_iter(hashes),
        }
    }
}

/// Whether a pod of the namespace is kept. The names of pods of others matter only where a new pod must not have one of them.
pub(super) fn keeps(spec: &Spec<'_>, pod: &PodView<'_>, verdict: ClaimVerdict) -> bool {
    let is_named_here = matches!(spec.policy.pod_names, PodNames::Deterministic | PodNames::OnePerNode);
    let may_be_pull = || spec.policy.pull.is_some() && pod.name.starts_with(&pull_pod_prefix(spec));
    let is_of_turns = || (pod.controller.is_none() && is_of_turns(pod)) || may_be_pull();
    let is_of_namespace = || pod.namespace == spec.daemon_set.metadata.namespace;
    verdict != ClaimVerdict::Ignore || ((is_named_here || is_of_turns()) && is_of_namespace())
}

/// The images of a template that nodes may have to pull.
pub(super) fn images_of(template: &Value) -> impl Iterator<Item = String> {
    images(template).into_iter().map(|image| image.reference)
}

/// All but the status, and but for metadata on which no decision depends.
fn all_but_status(daemon_set: &DaemonSet) -> impl PartialEq {
    let DaemonSet { owner, metadata, spec, template_fidelity, .. } = daemon_set;
    let DaemonSetMeta { name, namespace, uid, generation, annotations, deletion_timestamp, .. } = metadata;
    (name, namespace, uid, owner, template_fidelity, spec, (generation, annotations, deletion_timestamp))
}

/// Whether objects mean the same for both: which pods and revisions belong to the DaemonSet, and which nodes should run a
/// pod. Labels of nodes and pods are not kept.
fn reads_objects_alike(one: &Spec<'_>, other: &Spec<'_>) -> bool {
    fn claims(daemon_set: &DaemonSet) -> impl PartialEq {
        let DaemonSet { owner, metadata: DaemonSetMeta { name, namespace, uid, .. }, spec, .. } = daemon_set;
        // A list refuses another owner than the driver's kind.
        (owner, name, namespace, uid, &spec.selector, &daemon_set.template_fidelity)
    }
    claims(&one.daemon_set) == claims(&other.daemon_set) && one.template.places_as(&other.template)
}
