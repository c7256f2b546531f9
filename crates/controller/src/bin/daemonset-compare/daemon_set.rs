//! The comparison of one DaemonSet: matches the actions of the other controller with our plans.
//!
//! The caller passes the time, as a duration since the comparison began.

use crate::action_id::{ActionId, UsedLimit};
use crate::counters::{CounterDifference, differences};
use crate::known_differences::{explaining_counter, placements};
use crate::observed::{ObservedAction, Previous};
use crate::planned::{PlanMatch, PlannedActions, possible_limits};
use crate::unmatched::{UnmatchedOurs, UnmatchedTheirs, done_by_garbage_collector, node_verdict};
use crate::verdict::{ComparisonFinding, Verdict};
use daemonset::model::DaemonSet;
use daemonset::{Action, Plan};
use daemonset_controller::comparison::Reverted;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Plans that are kept at most; the window rarely has as many.
const MAX_PLANS: usize = 64;
/// Rounds of one reconcile: one round explains a delete, the next one the create that followed it.
const MAX_ROUNDS: usize = 4;
/// How far the clocks of two controllers, and the watches of DaemonSets and of pods, may be apart.
const MAX_SKEW: Duration = Duration::from_secs(1);

/// How long the comparison waits before it reports a difference.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    /// The most time between an action of theirs and a plan of ours that contains it, in either order.
    pub(crate) window: Duration,
    /// How long an action of ours may wait for theirs.
    pub(crate) grace: Duration,
    /// How long nothing must have changed before statuses are compared.
    pub(crate) quiet: Duration,
}

/// The comparison of one DaemonSet.
#[derive(Debug)]
pub(crate) struct DaemonSetComparison {
    name: String,
    timeouts: Timeouts,
    theirs: Vec<UnmatchedTheirs>,
    ours: BTreeMap<ActionId, UnmatchedOurs>,
    recent_plans: VecDeque<PlannedActions>,
    latest_plan: Option<Plan>,
    last_change: Duration,
    /// When a node last became a target node, or ceased to be one.
    placements_changed: Duration,
    /// When the other controller was last seen to write something for this DaemonSet.
    last_sync: Duration,
    reported_counters: Vec<CounterDifference>,
    is_back_off_reset: bool,
}

impl DaemonSetComparison {
    /// The comparison of a DaemonSet that has not changed yet.
    pub(crate) fn new(name: String, timeouts: Timeouts, now: Duration) -> Self {
        DaemonSetComparison {
            name,
            timeouts,
            theirs: Vec::new(),
            ours: BTreeMap::new(),
            recent_plans: VecDeque::new(),
            latest_plan: None,
            last_change: now,
            placements_changed: now,
            last_sync: now,
            reported_counters: Vec::new(),
            is_back_off_reset: false,
        }
    }

    /// Records a change of the DaemonSet or of its pods, by any author.
    pub(crate) fn changed(&mut self, now: Duration) {
        self.last_change = now;
    }

    /// Records that the other controller wrote something, and so has just synced the DaemonSet.
    pub(crate) fn synced(&mut self, now: Duration) {
        self.last_sync = now;
        self.changed(now);
    }

    /// Records an action of the other controller.
    pub(crate) fn observe(&mut self, action: ObservedAction, now: Duration) {
        self.synced(now);
        self.theirs.push(UnmatchedTheirs::new(action, now));
    }

    /// The number of their actions that no plan has explained yet.
    pub(crate) fn unmatched(&self) -> usize {
        self.theirs.len()
    }

    /// Whether it was ever planned.
    pub(crate) fn is_planned(&self) -> bool {
        self.latest_plan.is_some()
    }

    /// The time of the last change.
    pub(crate) fn last_change(&self) -> Duration {
        self.last_change
    }

    /// Plans the cluster without their unmatched actions, to explain these, and then as it is. `plan` plans the cluster
    /// without the reverted actions.
    pub(crate) fn reconcile(
        &mut self,
        now: Duration,
        mut plan: impl FnMut(&Reverted) -> Option<Plan>,
    ) -> Vec<ComparisonFinding> {
        let mut findings = self.take_over_limit(now);
        for _ in 0..MAX_ROUNDS {
            let explained = self.explain(&self.reverted(|_| true), now, &mut plan);
            if explained.is_empty() {
                break;
            }
            findings.extend(explained);
        }
        // Another author may have done the remaining deletes, and their creates followed from these: revert the creates alone.
        let is_create = |action: &ObservedAction| matches!(action.id, ActionId::CreatePod(_));
        findings.extend(self.explain(&self.reverted(is_create), now, &mut plan));
        if let Some(plan) = plan(&Reverted::default()) {
            self.planned(plan, now);
        }
        findings
    }

    fn reverted(&self, is_reverted: impl Fn(&ObservedAction) -> bool) -> Reverted {
        let mut reverted = Reverted::default();
        for action in self.theirs.iter().map(|theirs| &theirs.action).filter(|action| is_reverted(action)) {
            match &action.previous {
                Previous::Pod(uid, pod) => reverted.revert_pod(uid, pod.as_ref()),
                Previous::Revision(uid, revision) => reverted.revert_revision(uid, revision.as_ref()),
            }
        }
        reverted
    }

    /// Matches their actions with a plan for the cluster without them, and with the recent plans.
    fn explain(
        &mut self,
        reverted: &Reverted,
        now: Duration,
        plan: &mut impl FnMut(&Reverted) -> Option<Plan>,
    ) -> Vec<ComparisonFinding> {
        let Some(plan) = (!reverted.is_empty()).then(|| plan(reverted)).flatten() else { return Vec::new() };
        let plan = &plan;
        self.keep_planned(plan, now);
        let mut findings = Vec::new();
        let mut theirs = std::mem::take(&mut self.theirs);
        // Equal actions first: the rest of each limit is then left for actions on other nodes.
        for find_match in [DaemonSetComparison::same_action, DaemonSetComparison::other_node] {
            theirs.retain(|theirs| match find_match(self, &theirs.action, plan) {
                Some(matched) => {
                    findings.push(self.matched(&theirs.action, matched));
                    false
                }
                None => true,
            });
        }
        theirs.retain_mut(|theirs| match done_by_garbage_collector(&theirs.action, plan) {
            Some(reason) => {
                findings.push(self.finding(Verdict::NotTheirs, &theirs.action, reason));
                false
            }
            None => {
                theirs.note_plan(plan, now);
                true
            }
        });
        self.theirs = theirs;
        findings
    }

    /// Whether the other controller did not wait for a back-off since the last call, as after a restart, which resets it.
    pub(crate) fn take_back_off_reset(&mut self) -> bool {
        std::mem::take(&mut self.is_back_off_reset)
    }

    /// Their actions that a limit held back in our first plan and still did a second later. Later plans don't excuse them:
    /// once the replaced pods are Ready, a plan contains the action, even if too many nodes were down at its time.
    fn take_over_limit(&mut self, now: Duration) -> Vec<ComparisonFinding> {
        let is_over = |theirs: &mut UnmatchedTheirs| theirs.is_held_back_for(MAX_SKEW, now);
        let over: Vec<UnmatchedTheirs> = self.theirs.extract_if(.., is_over).collect();
        self.is_back_off_reset |= over.iter().any(UnmatchedTheirs::ignores_back_off);
        over.into_iter().map(|theirs| theirs.into_finding(&self.name)).collect()
    }

    fn same_action(&self, action: &ObservedAction, _: &Plan) -> Option<PlanMatch> {
        self.recent_plans.iter().rev().find_map(|planned| planned.same_action(&action.id))
    }

    fn other_node(&self, action: &ObservedAction, plan: &Plan) -> Option<PlanMatch> {
        let verdict = node_verdict(plan, action.node.as_ref())?;
        let limits: &[UsedLimit] = possible_limits(&action.id, &verdict.outcome);
        self.recent_plans.iter().rev().find_map(|planned| planned.other_node(limits))
    }

    fn matched(&mut self, action: &ObservedAction, matched: PlanMatch) -> ComparisonFinding {
        for planned in &mut self.recent_plans {
            planned.use_up(&action.id, matched);
        }
        match (self.ours.remove(&action.id), matched) {
            (Some(ours), _) if ours.is_reported => {
                self.finding(Verdict::Late, action, "they did it now, and so would we")
            }
            (_, PlanMatch::SameAction(_)) => self.finding(Verdict::Agreed, action, ""),
            (_, PlanMatch::OtherNode(_)) => self.finding(Verdict::OtherNodeFirst, action, ""),
        }
    }

    fn keep_planned(&mut self, plan: &Plan, now: Duration) {
        let window = self.timeouts.window;
        self.recent_plans.retain(|planned| now.saturating_sub(planned.at) <= window);
        if self.recent_plans.len() >= MAX_PLANS {
            self.recent_plans.pop_front();
        }
        self.recent_plans.push_back(PlannedActions::new(plan, now));
    }

    /// Keeps the plan for the cluster as it is.
    fn planned(&mut self, plan: Plan, now: Duration) {
        self.keep_planned(&plan, now);
        let mut before = std::mem::take(&mut self.ours);
        let unmatched = |action: &Action| {
            let id = ActionId::new(action)?;
            // An action that the last plan had, too, keeps its age.
            let (since, is_reported) =
                before.remove(&id).map_or((now, false), |ours| (ours.since, ours.is_reported));
            Some((id, UnmatchedOurs { action: action.clone(), since, is_reported }))
        };
        self.ours = plan.actions.iter().filter_map(unmatched).collect();
        let is_new = |ours: &UnmatchedOurs| ours.since == now;
        if !before.is_empty()
            || self.ours.values().any(is_new)
            || self.latest_plan.as_ref().is_none_or(|latest| latest.status != plan.status)
        {
            self.changed(now);
        }
        if self.latest_plan.as_ref().is_some_and(|latest| placements(latest) != placements(&plan)) {
            self.placements_changed = now;
        }
        self.latest_plan = Some(plan);
    }

    /// Their actions that no plan within the window has contained. A DaemonSet that was never planned has no findings: it is
    /// outside of our scope.
    pub(crate) fn take_overdue_theirs(&mut self, now: Duration) -> Vec<ComparisonFinding> {
        let window = self.timeouts.window;
        let is_overdue = |theirs: &mut UnmatchedTheirs| now.saturating_sub(theirs.since) > window;
        let overdue: Vec<UnmatchedTheirs> = self.theirs.extract_if(.., is_overdue).collect();
        if !self.is_planned() {
            return Vec::new();
        }
        overdue.into_iter().map(|theirs| theirs.into_finding(&self.name)).collect()
    }

    /// Our actions that they did not do within the grace time; each is reported once.
    pub(crate) fn report_overdue_ours(&mut self, now: Duration) -> Vec<ComparisonFinding> {
        let grace = self.timeouts.grace;
        let Some(plan) = &self.latest_plan else { return Vec::new() };
        let mut findings = Vec::new();
        for ours in self.ours.values_mut() {
            if !ours.is_reported && now.saturating_sub(ours.since) >= grace {
                ours.is_reported = true;
                findings.push(ours.finding(&self.name, plan, grace));
            }
        }
        findings
    }

    /// The counters that differ from the status in the cluster, once nothing changes any more; each difference is reported
    /// once.
    ///
    /// v1.36 `updateDaemonSetStatus` syncs again minReadySeconds after a sync, and not when the next pod becomes available:
    /// its status may be so much older.
    pub(crate) fn report_status(&mut self, ds: &DaemonSet, now: Duration) -> Vec<ComparisonFinding> {
        let min_ready = Duration::from_secs(ds.spec.min_ready_seconds.try_into().unwrap_or_default());
        let quiet = self.timeouts.quiet.saturating_add(min_ready);
        let is_quiet = self.theirs.is_empty() && now.saturating_sub(self.last_change) >= quiet;
        let Some(plan) = self.latest_plan.as_ref().filter(|_| is_quiet) else { return Vec::new() };
        let Some(ours) = &plan.status else { return Vec::new() };
        let differences = differences(&ds.status, ours);
        let is_behind = self.placements_changed > self.last_sync;
        let deliberate =
            |field: &str| explaining_counter(field, plan).or(is_behind.then_some("status-follows-nodes"));
        let new = differences.iter().filter(|counter| !self.reported_counters.contains(counter));
        let findings = new.map(|counter| counter.finding(&self.name, deliberate(counter.field))).collect();
        self.reported_counters = differences;
        findings
    }

    /// The findings on a DaemonSet that is gone: the garbage collector did the remaining actions on its pods.
    pub(crate) fn deleted(self) -> Vec<ComparisonFinding> {
        if !self.is_planned() {
            return Vec::new();
        }
        let finding = |theirs: &UnmatchedTheirs| {
            self.finding(Verdict::NotTheirs, &theirs.action, "the DaemonSet is gone")
        };
        self.theirs.iter().map(finding).collect()
    }

    fn finding(&self, verdict: Verdict, action: &ObservedAction, explanation: &str) -> ComparisonFinding {
        ComparisonFinding {
            verdict,
            daemon_set: self.name.clone(),
            subject: action.description.clone(),
            explanation: explanation.to_owned(),
        }
    }
}
