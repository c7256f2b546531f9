//! A plan from the kept state.

use super::facts::Slot;
use super::{Kept, evaluate, excerpt};
use crate::action::Action;
use crate::memory::Memory;
use crate::model::NodeName;
use crate::reconcile::actions::{FromTemplate, actions};
use crate::reconcile::claim::claim;
use crate::reconcile::explain::explain;
use crate::reconcile::fleet::Fleet;
use crate::reconcile::history::History;
use crate::reconcile::node_sync::node_sync;
use crate::reconcile::outside::Outside;
use crate::reconcile::steps::decide_beside;
use crate::report::Plan;
use crate::snapshot::{ObservedAt, Snapshot};

impl Kept {
    /// The plan of the whole cluster. Its report has the verdicts of the nodes that have changed since the last plan or that
    /// the plan can touch. `memory` observes the objects.
    pub(crate) fn plan(&mut self, memory: &mut Memory, at: ObservedAt) -> Plan {
        self.advance(at);
        let (changed, names) = self.changed(memory, at);
        let (plan, observed) = {
            let chosen = self.choose(&changed, memory);
            let outside = self.outside(&chosen);
            let slots: Vec<Slot> = chosen.slots.iter().copied().collect();
            let snapshot = self.with_gone_pods(excerpt::excerpt(self, &slots, memory, &names, at), memory);
            let decision = decide_beside(&snapshot, &outside);
            let Ok(actions) = actions(&snapshot, &decision, &FromTemplate);
            let plan = explain(&snapshot, &decision, actions);
            (plan, observed(&snapshot))
        };
        let (before, after) = observed;
        memory.forget(&before, &after);
        for node in self.recheck.forget(&before, &after) {
            self.mark_dirty(&node);
        }
        let is_over = |node: &NodeName| !memory.has_entries_of(node.as_str());
        self.recheck.unknown.retain(|node| !is_over(node));
        self.keep_pod_template(&plan);
        plan
    }

    /// Lets time go on, or back: then every standing may change.
    fn advance(&mut self, at: ObservedAt) {
        if at.now < self.now {
            self.objects.mark_all_dirty();
        }
        self.now = at.now;
        let due = self.standings.due.range(..=(at.now, Slot::MAX));
        let due: Vec<Slot> = due.map(|(_, slot)| *slot).collect();
        due.into_iter().for_each(|slot| self.objects.mark_dirty(slot));
        self.recheck.advance(at.pods_version);
    }

    /// Finds the standings of the dirty nodes. Returns the nodes that have changed, and all nodes, known or not, whose
    /// entries in the memory must be compared.
    fn changed(&mut self, memory: &Memory, at: ObservedAt) -> (Vec<Slot>, Vec<NodeName>) {
        let mut names: Vec<NodeName> = std::mem::take(&mut self.recheck.nodes).into_iter().collect();
        names.extend(self.recheck.unknown.iter().cloned());
        if self.is_history_stale {
            names.extend(memory.creates.keys().cloned());
        }
        names.iter().for_each(|node| self.mark_dirty(node));
        self.compare_history(at);
        let mut changed = Vec::new();
        while let Some(slot) = self.objects.next_dirty() {
            changed.push(slot);
        }
        changed.sort_unstable();
        if self.basis.is_some() {
            self.evaluate(&changed, memory, at);
        } else {
            // Without a history no node has a standing.
            changed.iter().for_each(|slot| self.objects.mark_dirty(*slot));
        }
        (changed, names)
    }

    /// Where the history has changed in a way that standings depend on, all nodes are dirty.
    fn compare_history(&mut self, at: ObservedAt) {
        let is_unknown = |hash: &str| {
            self.basis.as_ref().is_none_or(|basis| !basis.meanings.contains_key(hash))
        };
        if !self.is_history_stale && self.basis.is_some() && !self.objects.live_hashes().any(is_unknown) {
            return;
        }
        let basis = {
            let snapshot = excerpt::excerpt(self, &[], &Memory::default(), &[], at);
            let claimed = crate::reconcile::claim::claim_revisions(&snapshot);
            let history = History::new(&snapshot, &claimed);
            history.ok().map(|history| self.basis_of(&history, &snapshot))
        };
        let is_same = match (&self.basis, &basis) {
            (Some(old), Some(new)) => old.allows(new),
            (None, _) | (_, None) => false,
        };
        if !is_same {
            self.objects.mark_all_dirty();
        }
        self.is_history_stale = basis.is_none();
        self.basis = basis;
    }

    fn evaluate(&mut self, slots: &[Slot], memory: &Memory, at: ObservedAt) {
        if slots.is_empty() {
            return;
        }
        let standings = {
            let snapshot = excerpt::excerpt(self, slots, memory, &[], at);
            let claim = claim(&snapshot);
            let Ok(history) = History::new(&snapshot, &claim.revisions) else { return };
            let fleet = Fleet::build(&snapshot, Outside::none(), &claim, &history);
            let node_sync = node_sync(&fleet);
            let steps = evaluate::Steps {
                snapshot: &snapshot,
                history: &history,
                fleet: &fleet,
                node_sync: &node_sync,
            };
            steps.standings(&claim)
        };
        for (slot, standing) in slots.iter().zip(standings) {
            self.set_standing(*slot, standing);
        }
    }

    /// Adds the deletes of pods that are gone: they end with this plan.
    fn with_gone_pods<'k>(&self, mut snapshot: Snapshot<'k>, memory: &Memory) -> Snapshot<'k> {
        if let Some(part) = &mut snapshot.memory {
            let gone = self.recheck.pods.iter();
            let gone = gone.filter_map(|uid| Some((uid.clone(), *memory.deletes.get(uid)?)));
            part.deletes.extend(gone);
        }
        snapshot
    }

    fn keep_pod_template(&mut self, plan: &Plan) {
        self.recheck.pods.clear();
        let created = plan.actions.iter().find_map(|action| match action {
            Action::CreatePod { pod, .. } => Some(pod),
            _ => None,
        });
        if let Some(pod) = created {
            self.pod_template = Some(std::sync::Arc::clone(&pod.shared));
        }
    }
}

/// The memory of an excerpt before and after it has observed the objects.
fn observed(snapshot: &Snapshot<'_>) -> (Memory, Memory) {
    let before = snapshot.memory.clone().unwrap_or_default();
    let mut after = before.clone();
    after.observe(snapshot);
    (before, after)
}

impl super::Basis {
    /// Whether the standings that rest on this basis are the same on another one. A hash that only one of them has is of pods
    /// that came or went since, whose nodes are dirty anyway.
    fn allows(&self, other: &super::Basis) -> bool {
        self.current_hash == other.current_hash
            && self.created_at == other.created_at
            && self.meanings.iter().all(|(hash, meaning)| {
                other.meanings.get(hash).is_none_or(|found| found == meaning)
            })
    }
}

