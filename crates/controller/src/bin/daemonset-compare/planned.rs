//! The actions of one plan, kept for a while: the other controller may do them a moment later.

use crate::action_id::{ActionId, UsedLimit};
use daemonset::Plan;
use daemonset::report::{NodeOutcome, Wait};
use std::collections::BTreeMap;
use std::time::Duration;

/// The actions of one plan that the other controller was not seen to do yet.
#[derive(Debug, Clone)]
pub(crate) struct PlannedActions {
    /// When the plan was made.
    pub(crate) at: Duration,
    actions: BTreeMap<ActionId, Option<UsedLimit>>,
    /// How many actions each limit still allows.
    remaining: BTreeMap<UsedLimit, usize>,
}

/// How an action of theirs matches a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanMatch {
    /// The plan contains the action.
    SameAction(Option<UsedLimit>),
    /// The plan contains an action of the same limit on another node.
    OtherNode(UsedLimit),
}

impl PlannedActions {
    /// The actions of a plan that was made now.
    pub(crate) fn new(plan: &Plan, at: Duration) -> Self {
        let mut planned = PlannedActions { at, actions: BTreeMap::new(), remaining: BTreeMap::new() };
        for action in &plan.actions {
            let Some(id) = ActionId::new(action) else { continue };
            let limit = UsedLimit::used_by(action);
            planned.actions.insert(id, limit);
            if let Some(limit) = limit {
                *planned.remaining.entry(limit).or_default() += 1;
            }
        }
        planned
    }

    /// The match if the plan contains this action.
    pub(crate) fn same_action(&self, id: &ActionId) -> Option<PlanMatch> {
        self.actions.get(id).map(|limit| PlanMatch::SameAction(*limit))
    }

    /// The match if one of these limits still allows an action, on another node.
    pub(crate) fn other_node(&self, limits: &[UsedLimit]) -> Option<PlanMatch> {
        let is_left = |limit: &&UsedLimit| self.remaining.get(limit).is_some_and(|left| *left > 0);
        limits.iter().find(is_left).map(|limit| PlanMatch::OtherNode(*limit))
    }

    /// Uses up the action and its limit, so that neither matches again.
    pub(crate) fn use_up(&mut self, id: &ActionId, matched: PlanMatch) {
        self.actions.remove(id);
        if let PlanMatch::SameAction(Some(limit)) | PlanMatch::OtherNode(limit) = matched {
            self.remaining.entry(limit).and_modify(|left| *left = left.saturating_sub(1));
        }
    }
}

/// The limits that an action on a node with this outcome could use: those that hold this node back in our plan.
pub(crate) fn possible_limits(id: &ActionId, outcome: &NodeOutcome) -> &'static [UsedLimit] {
    match (id, outcome) {
        (ActionId::DeletePod(_), NodeOutcome::Waits(Wait::MaxUnavailable { .. })) => {
            &[UsedLimit::MaxUnavailable]
        }
        (ActionId::DeletePod(_), NodeOutcome::Waits(Wait::NextPlan)) => {
            &[UsedLimit::MaxUnavailable, UsedLimit::DeleteBurst]
        }
        (ActionId::CreatePod(_), NodeOutcome::Waits(Wait::MaxSurge { .. })) => &[UsedLimit::MaxSurge],
        (ActionId::CreatePod(_), NodeOutcome::Waits(Wait::NextPlan)) => {
            &[UsedLimit::CreateBurst, UsedLimit::MaxSurge]
        }
        _ => &[],
    }
}
