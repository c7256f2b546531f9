//! One DaemonSet: what the other controller did, what we would have done, and what comes of it.
//!
//! Time is what the caller says it is: a duration since the comparison began.

use super::act::Act;
use super::counters::{Differing, differing};
use super::deliberate::{self, placements};
use super::intent::{Fit, Intent, places};
use super::seen::Seen;
use super::standing::Standing;
use super::undone::Undone;
use super::verdict::{Finding, Verdict};
use super::waiting::{Waiting, not_theirs, verdict};
use daemonset::model::DaemonSet;
use daemonset::{Action, Plan};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Plans that are remembered; within the window there are rarely as many.
const REMEMBERED: usize = 64;
/// One look explains a delete, the next the create that followed it.
const LOOKS: usize = 4;
/// How far the clocks of two controllers, and the watches of DaemonSets and of pods, may be apart.
const HELD: Duration = Duration::from_secs(1);

/// How patient the comparison is.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// An action of theirs may be in a plan of ours so much earlier or later.
    pub window: Duration,
    /// An action of ours may wait so long for theirs.
    pub grace: Duration,
    /// Statuses are compared when nothing has changed for so long.
    pub quiet: Duration,
}

/// The comparison of one DaemonSet.
#[derive(Debug)]
pub struct Ledger {
    name: String,
    patience: Patience,
    waiting: Vec<Waiting>,
    intents: VecDeque<Intent>,
    standing: BTreeMap<Act, Standing>,
    latest: Option<Plan>,
    changed: Duration,
    /// When a node became a target, or ceased to be one.
    nodes_changed: Duration,
    /// When the other controller was last seen to look at this DaemonSet.
    synced: Duration,
    told: Vec<Differing>,
    forgotten: bool,
}

impl Ledger {
    /// Nothing has happened yet to the DaemonSet of this name.
    pub fn new(name: String, patience: Patience, now: Duration) -> Self {
        Ledger {
            name,
            patience,
            waiting: Vec::new(),
            intents: VecDeque::new(),
            standing: BTreeMap::new(),
            latest: None,
            changed: now,
            nodes_changed: now,
            synced: now,
            told: Vec::new(),
            forgotten: false,
        }
    }

    /// Something of the DaemonSet has changed, whoever did it.
    pub fn touched(&mut self, now: Duration) {
        self.changed = now;
    }

    /// The other controller has written something, so that it has looked at the DaemonSet.
    pub fn synced(&mut self, now: Duration) {
        self.synced = now;
        self.touched(now);
    }

    /// The other controller did something.
    pub fn saw(&mut self, seen: Seen, now: Duration) {
        self.synced(now);
        self.waiting.push(Waiting::new(seen, now));
    }

    /// How many actions of theirs are to be explained.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Whether it was ever planned.
    pub fn is_planned(&self) -> bool {
        self.latest.is_some()
    }

    /// When something changed last.
    pub fn last_change(&self) -> Duration {
        self.changed
    }

    /// Plans without what is to be explained, to explain it, and then with it; `decide` plans the cluster with this undone.
    pub fn look(&mut self, now: Duration, mut decide: impl FnMut(&Undone) -> Option<Plan>) -> Vec<Finding> {
        let mut findings = self.over_the_limit(now);
        for _ in 0..LOOKS {
            let explained = self.explain(&self.undone(|_| true), now, &mut decide);
            if explained.is_empty() {
                break;
            }
            findings.extend(explained);
        }
        // What remains may have been done by somebody else; theirs is then what followed from it.
        let is_create = |seen: &Seen| matches!(seen.act, Act::CreatePod(_));
        findings.extend(self.explain(&self.undone(is_create), now, &mut decide));
        if let Some(plan) = decide(&Undone::default()) {
            self.plan(plan, now);
        }
        findings
    }

    fn undone(&self, which: impl Fn(&Seen) -> bool) -> Undone {
        Undone::new(self.waiting.iter().map(|waiting| &waiting.seen).filter(|seen| which(seen)))
    }

    /// Finds in a plan for the cluster without what they did, or in one a moment ago, what they did.
    fn explain(
        &mut self,
        undone: &Undone,
        now: Duration,
        decide: &mut impl FnMut(&Undone) -> Option<Plan>,
    ) -> Vec<Finding> {
        let Some(plan) = (!undone.is_empty()).then(|| decide(undone)).flatten() else { return Vec::new() };
        let plan = &plan;
        self.remember(plan, now);
        let mut findings = Vec::new();
        let mut waiting = std::mem::take(&mut self.waiting);
        // What is the same goes first: the places that are left are for other nodes.
        for fits in [Ledger::same, Ledger::other_node] {
            waiting.retain(|waiting| match fits(self, &waiting.seen, plan) {
                Some(fit) => {
                    findings.push(self.explained(&waiting.seen, fit));
                    false
                }
                None => true,
            });
        }
        waiting.retain_mut(|waiting| match not_theirs(&waiting.seen, plan) {
            Some(why) => {
                findings.push(self.finding(Verdict::NotTheirs, waiting.seen.told.clone(), why.to_owned()));
                false
            }
            None => {
                waiting.puzzle(plan, now);
                true
            }
        });
        self.waiting = waiting;
        findings
    }

    /// Whether they did not wait for a back-off, as when they have forgotten the failures.
    pub fn take_forgotten(&mut self) -> bool {
        std::mem::take(&mut self.forgotten)
    }

    /// What a limit held back when we looked first, and still did a second later. Once the pods that were taken in its
    /// stead are Ready, a plan would have it, which says nothing about how many were down at a time.
    fn over_the_limit(&mut self, now: Duration) -> Vec<Finding> {
        let is_over = |waiting: &mut Waiting| waiting.is_held(now, HELD);
        let over: Vec<Waiting> = self.waiting.extract_if(.., is_over).collect();
        self.forgotten |= over.iter().any(Waiting::is_back_off);
        over.into_iter().map(|waiting| waiting.puzzling(&self.name)).collect()
    }

    fn same(&self, seen: &Seen, _: &Plan) -> Option<Fit> {
        self.intents.iter().rev().find_map(|intent| intent.has(&seen.act))
    }

    fn other_node(&self, seen: &Seen, plan: &Plan) -> Option<Fit> {
        let places = places(&seen.act, &verdict(plan, seen.node.as_ref())?.outcome);
        self.intents.iter().rev().find_map(|intent| intent.has_place(places))
    }

    fn explained(&mut self, seen: &Seen, fit: Fit) -> Finding {
        for intent in &mut self.intents {
            intent.done(&seen.act, fit);
        }
        let stood = self.standing.remove(&seen.act);
        match (stood, fit) {
            (Some(standing), _) if standing.told => {
                let why = "they did it now, and so would we".to_owned();
                self.finding(Verdict::Late, seen.told.clone(), why)
            }
            (_, Fit::Same(_)) => self.finding(Verdict::Agreed, seen.told.clone(), String::new()),
            (_, Fit::OtherNode(_)) => self.finding(Verdict::OtherNodeFirst, seen.told.clone(), String::new()),
        }
    }

    fn remember(&mut self, plan: &Plan, now: Duration) {
        let window = self.patience.window;
        self.intents.retain(|intent| now.saturating_sub(intent.at) <= window);
        if self.intents.len() >= REMEMBERED {
            self.intents.pop_front();
        }
        self.intents.push_back(Intent::of(plan, now));
    }

    /// The plan for the cluster as it is.
    fn plan(&mut self, plan: Plan, now: Duration) {
        self.remember(&plan, now);
        let mut before = std::mem::take(&mut self.standing);
        let stands = |action: &Action| {
            let act = Act::of(action)?;
            let (since, told) = before.remove(&act).map_or((now, false), |was| (was.since, was.told));
            Some((act, Standing { action: action.clone(), since, told }))
        };
        self.standing = plan.actions.iter().filter_map(stands).collect();
        let is_new = |standing: &Standing| standing.since == now;
        let status = |plan: &Plan| plan.status.clone();
        if !before.is_empty()
            || self.standing.values().any(is_new)
            || self.latest.as_ref().map(status) != Some(status(&plan))
        {
            self.touched(now);
        }
        if self.latest.as_ref().is_some_and(|latest| placements(latest) != placements(&plan)) {
            self.nodes_changed = now;
        }
        self.latest = Some(plan);
    }

    /// What no plan within the window had. Nothing is said of a DaemonSet that was never planned: it is not ours to watch.
    pub fn unexplained(&mut self, now: Duration) -> Vec<Finding> {
        let window = self.patience.window;
        let is_over = |waiting: &Waiting| now.saturating_sub(waiting.since) > window;
        let (over, waiting) = std::mem::take(&mut self.waiting).into_iter().partition(is_over);
        self.waiting = waiting;
        let over: Vec<Waiting> = over;
        if !self.is_planned() {
            return Vec::new();
        }
        over.into_iter().map(|waiting| waiting.puzzling(&self.name)).collect()
    }

    /// What stood in our plans for too long.
    pub fn unfollowed(&mut self, now: Duration) -> Vec<Finding> {
        let grace = self.patience.grace;
        let Some(plan) = &self.latest else { return Vec::new() };
        let mut findings = Vec::new();
        for standing in self.standing.values_mut() {
            if !standing.told && now.saturating_sub(standing.since) >= grace {
                standing.told = true;
                findings.push(standing.finding(&self.name, plan, grace));
            }
        }
        findings
    }

    /// Where the status in the cluster differs from ours, once both are quiet; each difference once.
    ///
    /// v1.36 `updateDaemonSetStatus` looks again minReadySeconds after it has looked, and not when the next pod is available.
    pub fn status(&mut self, ds: &DaemonSet, now: Duration) -> Vec<Finding> {
        let later = Duration::from_secs(ds.spec.min_ready_seconds.try_into().unwrap_or_default());
        let quiet = self.patience.quiet.saturating_add(later);
        let is_quiet = self.waiting.is_empty() && now.saturating_sub(self.changed) >= quiet;
        let Some(plan) = self.latest.as_ref().filter(|_| is_quiet) else { return Vec::new() };
        let Some(ours) = &plan.status else { return Vec::new() };
        let differing = differing(&ds.status, ours);
        let is_behind = self.nodes_changed > self.synced;
        let name =
            |field: &str| deliberate::counter(field, plan).or(is_behind.then_some("status-follows-nodes"));
        let new = differing.iter().filter(|counter| !self.told.contains(counter));
        let new = new.map(|counter| counter.finding(&self.name, name(counter.field)));
        let findings = new.collect();
        self.told = differing;
        findings
    }

    /// The DaemonSet is gone: what was done to its pods then was the garbage collector's.
    pub fn gone(self) -> Vec<Finding> {
        let finding = |waiting: Waiting| Finding {
            verdict: Verdict::NotTheirs,
            daemon_set: self.name.clone(),
            what: waiting.seen.told,
            why: "the DaemonSet is gone".to_owned(),
        };
        let is_planned = self.latest.is_some();
        self.waiting.into_iter().filter(|_| is_planned).map(finding).collect()
    }

    fn finding(&self, verdict: Verdict, what: String, why: String) -> Finding {
        Finding { verdict, daemon_set: self.name.clone(), what, why }
    }
}
