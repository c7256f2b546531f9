//! Checks the promises of a steered rollout against the actual state of the cluster: released nodes, waves, failures, the
//! way back. It reads the history and the stored revisions, and has its own definitions, straight from the contract.
//!
//! A controller decides by caches. A step of it is a breach only if no state of nodes, pods, spec and revisions allows it
//! that its caches may have shown: each of its caches shows some instant since the oldest change that it still lacks.

mod fleet;
mod undo;
mod view;

use super::watcher::Behind;
use daemonset::model::DaemonSetSpec;
use daemonset::policy::{FailureAction, RolloutPolicy};
use daemonset::report::{FailureEvidence, RolloutStage, Warning, WaveProgress};
use daemonset::{DeleteReason, Plan};
use daemonset_sim::{Actor, Change, Cluster, Event, PodIdentity};
use fleet::{Fleet, since};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeSet;
use undo::Undos;
pub use view::{Revision, View};

/// A step that no view allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    pub promise: &'static str,
    pub at: Timestamp,
    pub subject: String,
}

#[derive(Default)]
pub struct RolloutWatcher {
    seen: usize,
    behind: Behind,
    /// The policy that the next plan follows.
    pub policy: Option<RolloutPolicy>,
    /// Whether the update is driven beside another controller.
    pub drives: bool,
    /// With their generations.
    specs: Vec<(Timestamp, (i64, DaemonSetSpec))>,
    /// Each state of them, in the order of time.
    revisions: Vec<(Timestamp, Vec<Revision>)>,
    /// How many of these states were there before this step.
    before_this_step: usize,
    fleet: Fleet,
    /// The revision that the last plan has marked as failed.
    just_failed: Option<String>,
    undos: Undos,
    pub breaches: Vec<Breach>,
    /// The marks and states of rollouts in this life.
    pub reached: BTreeSet<&'static str>,
}

/// The cause of the changes since the last look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    ACommand,
    AStep,
}

impl RolloutWatcher {
    /// Processes everything new; `behind` is the lag of the caches now.
    pub fn watch(&mut self, cluster: &Cluster, behind: Behind, since: Since) {
        self.behind = behind;
        self.just_failed = None;
        self.before_this_step = self.revisions.len();
        self.note_revisions(cluster, since);
        for event in &cluster.history()[self.seen..] {
            if event.by == Actor::Controller {
                self.judge(event);
            }
            if let Change::DaemonSetChanged { generation, template_changed, spec } = &event.change {
                match event.by {
                    Actor::Controller => self.judge_restore(event.t, *generation, spec),
                    _ if *template_changed => self.undos.note_edit(),
                    _ => {}
                }
                self.specs.push((event.t, (*generation, DaemonSetSpec::clone(spec))));
            }
            self.fleet.apply(event);
        }
        self.seen = cluster.history().len();
    }

    /// Notes how far a plan finds the rollout.
    pub fn note_plan(&mut self, plan: &Plan) {
        let warns = plan
            .warnings
            .iter()
            .any(|warning| matches!(warning, Warning::PodsLostUnderExternalController { .. }));
        self.reached.extend(warns.then_some("held node lost under drive"));
        plan.warnings.iter().for_each(|warning| self.note_warning(warning));
        let Some(rollout) = &plan.report.rollout else { return };
        self.reached.insert(match rollout.stage {
            RolloutStage::Complete => "over",
            RolloutStage::Progressing => "going on",
            RolloutStage::Stopped { .. } => "stopped",
            RolloutStage::RolledBack { .. } => "rolled back",
            _ => "paused by a person",
        });
        self.reached.extend(rollout.waves.iter().filter_map(|wave| match wave.progress {
            WaveProgress::WaitsForWaveBefore => Some("wave waits for the one before"),
            WaveProgress::WaitsForApproval => Some("wave waits for approval"),
            WaveProgress::Baking { .. } => Some("wave bakes"),
            _ => None,
        }));
        self.reached.extend(rollout.failing.iter().filter_map(|node| match node.evidence {
            FailureEvidence::NodeDown { .. } => Some("node down under its new pod"),
            FailureEvidence::TooManyRestarts { .. } => Some("too many restarts"),
            FailureEvidence::Waiting { .. } => Some("container waits in vain"),
            FailureEvidence::Unavailable { .. } => Some("unavailable for too long"),
            // An eviction fails no version.
            _ => None,
        }));
    }

    /// Each mark is a write of its own, and a cache may show some of them.
    fn note_marks(&mut self, t: Timestamp, before: &[Revision], after: &[Revision]) {
        // The other changes of a plan stand before its marks.
        let mut state = after.to_vec();
        for revision in &mut state {
            let old = before.iter().find(|before| before.name == revision.name);
            revision.marks = old.map_or_else(|| revision.marks.clone(), |old| old.marks.clone());
        }
        for mark in super::steering::MARKS {
            for (index, after) in after.iter().enumerate() {
                if let Some(value) = after.marks.get(mark)
                    && state[index].marks.insert(mark.to_owned(), value.clone()).as_ref() != Some(value)
                {
                    self.revisions.push((t, state.clone()));
                }
            }
        }
        self.revisions.push((t, after.to_vec()));
    }

    /// The marks of a plan come before its creates and deletes.
    fn note_revisions(&mut self, cluster: &Cluster, since: Since) {
        let revisions: Vec<Revision> = cluster.revisions().map(Revision::new).collect();
        let before = self.revisions.last().map_or(&[][..], |(_, revisions)| revisions);
        if before == revisions {
            return;
        }
        let before = before.to_vec();
        self.note_marks(cluster.now(), &before, &revisions);
        // In the order of a plan: its verdict stands before the marks of the undo that follows from it.
        for mark in super::steering::MARKS {
            for after in &revisions {
                let Some(before) = before.iter().find(|before| before.name == after.name) else { continue };
                let (old, new) = (before.marks.get(mark), after.marks.get(mark));
                match since {
                    _ if old == new => {}
                    Since::AStep => self.judge_mark(cluster.now(), after, mark, new.map(String::as_str)),
                    Since::ACommand => {
                        self.undos.note_edit();
                        if mark == "undone" {
                            self.undos.allow(&after.name);
                        }
                    }
                }
            }
        }
    }

    fn judge(&mut self, event: &Event) {
        let t = event.t;
        let (promise, pod, allowed) = match &event.change {
            Change::PodCreated(pod) => {
                let fails = self.views(t).all(|view| self.has_failed(view, &pod.revision));
                let promise = if fails { "failed" } else { "released" };
                (promise, pod, self.views(t).any(|view| self.may_create(view, t, pod)))
            }
            Change::PodTerminating { pod, reason: Some(reason) } => {
                let updates = match reason {
                    DeleteReason::OutdatedAvailable | DeleteReason::OutdatedNotYetAvailable => true,
                    // Beside a pod of the stable revision the pair ends on a held node, too.
                    DeleteReason::SuccessorAvailable => {
                        let stable_revisions: Vec<&str> =
                            self.views(t).flat_map(View::stable_revisions).collect();
                        !stable_revisions.iter().any(|stable| self.possibly_has(t, pod.node.as_str(), stable))
                    }
                    // Others may lose a pod that is not Ready, but a node keeps the new version.
                    DeleteReason::OutdatedNotReady | DeleteReason::OutdatedPending => {
                        self.views(t).all(|view| self.is_current(view, &pod.revision))
                    }
                    _ => return,
                };
                if updates && self.views(t).all(View::is_way_back) {
                    self.reached.insert("way back");
                }
                let is_new = self.views(t).all(|view| self.is_current(view, &pod.revision));
                let promise = if is_new { "taken back" } else { "released" };
                (promise, pod, !updates || self.views(t).any(|view| self.may_delete(view, t, pod)))
            }
            _ => return,
        };
        if !allowed {
            let subject = format!("{pod:?} by {:?}", event.change);
            self.breaches.push(Breach { promise, at: t, subject });
        }
    }

    /// The specs and revisions that the controller may have seen together.
    fn views(&self, t: Timestamp) -> impl Iterator<Item = View<'_>> {
        let revisions = move || since(&self.revisions, t - self.behind.revisions);
        let (just_failed, drives) = (self.just_failed.as_deref(), self.drives);
        since(&self.specs, t - self.behind.spec).flat_map(move |(generation, spec)| {
            let view =
                move |revisions| View { t, spec, generation: *generation, revisions, just_failed, drives };
            revisions().map(move |revisions| view(revisions.as_slice()))
        })
    }

    /// Whether a revision with this hash has failed and is not the current one.
    fn has_failed(&self, view: View<'_>, hash: &str) -> bool {
        let failed = |revision: &Revision| revision.hash == hash && view.has_failed(revision);
        !self.is_current(view, hash) && view.revisions.iter().any(failed)
    }

    fn may_create(&self, view: View<'_>, t: Timestamp, pod: &PodIdentity) -> bool {
        let hash = pod.revision.as_str();
        if self.is_current(view, hash) {
            return view.stable_revisions().is_empty() || self.may_get(view, t, pod.node.as_str());
        }
        self.policy.is_some() && !view.is_over() && view.stable_revisions().contains(&hash)
    }

    fn may_delete(&self, view: View<'_>, t: Timestamp, pod: &PodIdentity) -> bool {
        let goes_back = self.rolls_back(view) && !view.stable_revisions().contains(&pod.revision.as_str());
        let node = pod.node.as_str();
        let is_new = self.is_current(view, &pod.revision);
        let updates = !is_new && self.may_get(view, t, node);
        // A node that the new template excludes takes no part in the rollout.
        let leaves = is_new && self.seen_by(view, t).may_be_excluded(node);
        goes_back || updates || leaves || (view.stable_revisions().len() > 1 && self.rolls_back(view))
    }

    fn is_stopped(&self, view: View<'_>) -> bool {
        let policy = self.policy.as_ref();
        policy.is_some_and(|p| p.paused || (p.on_failure.is_some() && view.is_failed()))
    }

    fn rolls_back(&self, view: View<'_>) -> bool {
        let on_failure = self.policy.as_ref().and_then(|policy| policy.on_failure.as_ref());
        let wants = on_failure.is_some_and(|policy| policy.action == FailureAction::RollBack);
        wants && view.is_failed() && !view.stable_revisions().is_empty()
    }

    /// Whether the node may get the new version, or has it already.
    fn may_get(&self, view: View<'_>, t: Timestamp, node: &str) -> bool {
        let Some(policy) = &self.policy else { return true };
        if view.is_over() || self.may_be_settled(view, t) {
            return true;
        }
        if self.rolls_back(view) {
            return false;
        }
        let has_it = view.current().is_some_and(|current| self.possibly_has(t, node, &current.hash));
        let goes_on = !self.is_stopped(view);
        has_it || (goes_on && (policy.waves.is_empty() || self.may_be_in_open_wave(view, t, node)))
    }

    /// A policy that is added to a settled fleet begins no rollout.
    fn may_be_settled(&self, view: View<'_>, t: Timestamp) -> bool {
        view.mark("started").is_none() && self.may_be_settled_before(view, t)
    }

    fn may_be_in_open_wave(&self, view: View<'_>, t: Timestamp, node: &str) -> bool {
        let policy = self.policy.as_ref().map_or(&[][..], |policy| &policy.waves);
        let seen = self.seen_by(view, t);
        let marked = view.wave();
        for (index, wave) in policy.iter().enumerate() {
            let was_open = marked.is_some_and(|marked| index <= marked);
            // Only a revision that a plan creates or renumbers opens waves before they are marked.
            let may_open = || self.is_approved(view, index) && self.may_be_done(view, t, index);
            if !was_open && !may_open() {
                return false;
            }
            if seen.may_be_in(wave, node) {
                return true;
            }
        }
        false
    }

    fn seen_by<'w>(&'w self, view: View<'w>, t: Timestamp) -> fleet::Seen<'w> {
        let hash = view.current().map(|current| current.hash.as_str());
        fleet::Seen { fleet: &self.fleet, spec: view.spec, hash, t, behind: self.behind }
    }

    fn is_approved(&self, view: View<'_>, index: usize) -> bool {
        let Some(policy) = &self.policy else { return false };
        // A cache that lacks a revision gives its number to the next one, too.
        let may_be = |number: i64| number == view.number() || !self.behind.revisions.is_zero();
        let approved =
            policy.approved.iter().any(|(number, count)| may_be(*number) && *count as usize > index);
        !policy.waves.get(index).is_some_and(|wave| wave.needs_approval) || approved
    }

    /// Whether all waves before this one may have seemed done.
    fn may_be_done(&self, view: View<'_>, t: Timestamp, index: usize) -> bool {
        let Some(policy) = &self.policy else { return true };
        let Some(last) = index.checked_sub(1).and_then(|last| policy.waves.get(last)) else { return true };
        let bake = last.bake_seconds.max(u32::try_from(view.spec.min_ready_seconds).unwrap());
        let bake = SignedDuration::from_secs(bake.into());
        let seen = self.seen_by(view, t);
        let lagging = seen.lagging(&policy.waves[..index], bake).count();
        let may_fail = match policy.on_failure.as_ref().and_then(|policy| policy.max_failures) {
            Some(daemonset::model::IntOrString::Int(nodes)) => nodes as usize,
            _ => 0,
        };
        lagging <= may_fail
    }

    fn possibly_has(&self, t: Timestamp, node: &str, hash: &str) -> bool {
        self.fleet.possibly_has(t - self.behind.pods, node, hash)
    }

    /// Judges a mark that the controller has set or removed.
    fn judge_mark(&mut self, t: Timestamp, revision: &Revision, mark: &'static str, value: Option<&str>) {
        let rest = value.map(|value| value.splitn(3, ' ').nth(2).unwrap_or_default());
        let views: Vec<View<'_>> =
            self.views(t).filter(|view| self.is_current(*view, &revision.hash)).collect();
        let policy = self.policy.as_ref();
        let (allowed, reached) = match (mark, rest) {
            ("started", Some(_)) => {
                let reached = if self.reached.contains("paused") { "resumed" } else { "started" };
                (policy.is_some_and(|policy| !policy.paused), reached)
            }
            ("started", None) => (policy.is_some_and(|policy| policy.paused), "paused"),
            ("failed", Some(reason)) => {
                let reached =
                    if reason == "TooManyFailures" { "too many failures" } else { "deadline exceeded" };
                (policy.is_some_and(|policy| policy.on_failure.is_some()), reached)
            }
            ("wave", Some(index)) => {
                let index: usize = index.parse().unwrap();
                let due = views.iter().any(|view| {
                    let opened =
                        view.wave().filter(|_| self.was_before_this_step(*view)).map_or(0, |wave| wave + 1);
                    !self.is_stopped(*view)
                        && opened <= index
                        && (opened..=index)
                            .all(|wave| self.is_approved(*view, wave) && self.may_be_done(*view, t, wave))
                });
                let approval = policy
                    .is_some_and(|policy| policy.waves.get(index).is_some_and(|wave| wave.needs_approval));
                (
                    due,
                    if approval {
                        "wave opened after approval"
                    } else if index > 0 {
                        "later wave opened"
                    } else {
                        "first wave opened"
                    },
                )
            }
            ("completed", Some(_)) => {
                let complete = views.iter().any(|view| self.may_be_complete(*view, t));
                let is_way_back = views.iter().all(|view| view.is_way_back());
                (complete, if is_way_back { "way back completed" } else { "completed" })
            }
            ("restored", Some(_)) => {
                let number = value.and_then(|value| value.split(' ').next()?.parse().ok());
                (
                    number.is_some_and(|failed| self.may_choose(t, &revision.hash, failed)),
                    "the stable revision chosen",
                )
            }
            ("undone", Some(generation)) => {
                let is_due = |view: &View<'_>| {
                    self.was_before_this_step(*view)
                        && view.may_begin_undo()
                        && view.generation.to_string() == generation
                };
                (self.undoes() && views.iter().any(is_due), "undo begun")
            }
            _ => (false, "mark removed"),
        };
        self.reached.insert(reached);
        if mark == "failed" {
            self.just_failed = Some(revision.name.clone());
        }
        if !allowed {
            let subject = format!("{mark} {value:?} on {} {}", revision.name, revision.number);
            self.breaches.push(Breach { promise: "marks", at: t, subject });
        }
    }

    /// Whether this hash is the one of the view's template, also where the view lacks the revision that is stored already.
    fn is_current(&self, view: View<'_>, hash: &str) -> bool {
        let stored = || {
            let (_, revisions) = self.revisions.last()?;
            View { revisions, ..view }.current()
        };
        view.current().or_else(stored).is_some_and(|current| current.hash == hash)
    }

    /// Whether these revisions are older than the step at this instant: the marks of the step do not justify themselves.
    fn was_before_this_step(&self, view: View<'_>) -> bool {
        let mut of_this_step = self.revisions.iter().skip(self.before_this_step);
        !of_this_step.any(|(_, revisions)| std::ptr::eq(revisions.as_slice(), view.revisions))
    }

    fn may_be_complete(&self, view: View<'_>, t: Timestamp) -> bool {
        let min_ready = SignedDuration::from_secs(view.spec.min_ready_seconds.into());
        self.may_be_settled_before(view, t) || self.seen_by(view, t).may_all_have_it(min_ready)
    }

    fn may_be_settled_before(&self, view: View<'_>, t: Timestamp) -> bool {
        // The same plan sets `started`. A rollout with an open wave has begun.
        let unmarked = !view.is_failed() && view.wave().is_none();
        // A version that was undone and put back begins again.
        let is_new = |current: &&Revision| unmarked && current.undone().is_none();
        let Some(current) = view.current().filter(is_new) else { return false };
        self.fleet.has_no_surely_other(t, self.behind, &current.hash)
    }
}
