//! The end of a run: once all disturbances stop, a good version is rolled out completely and, if rollouts are steered, a broken
//! one goes back to the stable revision, and then its template is undone, each within a bound.

use super::super::commands::{BROKEN, CACHES, CONDITIONS, Command};
use super::super::rollout::{Revision, Since, View};
use super::super::steering::{FailureChoice, edit_policy, is_current, key};
use super::{Trial, watch};
use daemonset::Action;
use daemonset::model::{ControllerRevision, UpdateStrategy};
use daemonset::policy::{FailureAction, Wave};
use daemonset::report::{NodeOutcome, NodePlacement, Wait};
use daemonset_sim::{Cluster, Kind, Probability, RolloutEnd};
use jiff::SignedDuration;

/// No command delays a cache by more.
const LONGEST_DELAY: SignedDuration = SignedDuration::from_secs(90);

impl Trial {
    /// Ends all disturbances: nodes are up, caches are quick, requests are answered, and the newest version is a good
    /// one. The rollout must then end within the maximum time of its rounds.
    pub fn settle(&mut self) -> Result<(), String> {
        self.thaw();
        for kind in 0..CACHES {
            Command::Lag { kind, seconds: 0 }.perform(&mut self.cluster);
        }
        self.cluster.configure_controller(|controller| {
            controller.refused = Probability::NEVER;
            controller.answer_lost = Probability::NEVER;
        });
        self.cluster.set_absence_taint(None);
        for node in 0..u8::try_from(self.cluster.nodes().count()).unwrap() {
            Command::BringUp { node }.perform(&mut self.cluster);
            for kind in (0..).take(CONDITIONS.len()) {
                Command::Condition { node, kind, is_true: false }.perform(&mut self.cluster);
            }
        }
        Command::Release { version: 1 }.perform(&mut self.cluster);
        self.open_everything();
        self.watch(Since::ACommand);
        let bound = self.bound();
        let waits = self.strategy().kind == "OnDelete";
        let last = self.cluster.now() + bound;
        let patience = SignedDuration::from_hours(1);
        if waits {
            self.pass(bound);
        } else {
            // A status of the past must not end the rollout, nor one without a node that a cache still lacks.
            if self.is_behind() || self.is_driven() {
                self.pass(LONGEST_DELAY);
            }
            let a_while = SignedDuration::from_secs(5);
            self.pass(a_while);
            let mut end = self.watch_rollout(patience, bound);
            if bring_back(&mut self.cluster) {
                self.pass(a_while);
                end = self.watch_rollout(patience, bound);
            }
            if end != RolloutEnd::Complete && self.open_all_waves() {
                self.pass(a_while);
                end = self.watch_rollout(patience, bound);
                // A wave has reached a node that stable revision may run on and the new version may not.
                if end != RolloutEnd::Complete && bring_back(&mut self.cluster) {
                    self.pass(a_while);
                    end = self.watch_rollout(patience, bound);
                }
            }
            if end != RolloutEnd::Complete {
                return Err(format!("{end:?} at {last}: {:#?}", self.cluster.plan()));
            }
            // Cleanup after the rollout.
            self.pass(SignedDuration::from_mins(6));
        }
        self.at_rest(waits)?;
        if waits || self.rollouts.policy.is_none() {
            return Ok(());
        }
        self.is_marked_complete()?;
        let stable = self.revision_hash();
        // A driver can't roll back.
        if !self.is_driven() {
            self.release_broken(FailureAction::RollBack);
            self.ends_on_stable(stable.as_deref())?;
        }
        self.ends_undone(stable.as_deref())
    }

    fn is_driven(&self) -> bool {
        self.watcher.driven.is_some()
    }

    /// The strategy in force.
    fn strategy(&self) -> UpdateStrategy {
        let own = || self.cluster.daemon_set().unwrap().spec.update_strategy.clone();
        self.watcher.driven.clone().unwrap_or_else(own)
    }

    /// Whether a cache lacks an earlier change.
    fn is_behind(&self) -> bool {
        let kinds = [Kind::Pods, Kind::Nodes, Kind::DaemonSets, Kind::Revisions];
        kinds.into_iter().any(|kind| !self.cluster.cache_lag(kind).is_zero())
    }

    /// A person lets the rollout go on: nothing is paused or judged, all waves are approved, and each node is in one. The stable revision is
    /// the good version 0; where that is gone there are no waves, since broken pods of a stable revision would spend the budget for ever.
    fn open_everything(&mut self) {
        let ds = self.cluster.daemon_set().unwrap();
        let role = |revision: &ControllerRevision| {
            let is_good = revision.data["spec"]["template"]["spec"]["containers"][0]["image"] == "v0";
            (revision.metadata.name.clone(), !is_current(revision, ds) && is_good)
        };
        let revisions: Vec<_> = self.cluster.revisions().map(role).collect();
        let stable = revisions.iter().filter(|(_, is_good)| *is_good).map(|(name, _)| name).next_back();
        // The newest mark makes the stable revision: a rollout that completes in this instant is newer.
        let before = self.cluster.now() - SignedDuration::from_secs(1);
        for (name, _) in &revisions {
            let completed = (Some(name) == stable).then(|| format!("0 {before}"));
            self.annotate(name, "failed", None);
            self.annotate(name, "completed", completed.as_deref());
            // A version with one of these is waited for, or stays failed, for an hour.
            self.annotate(name, "undone", None);
            self.annotate(name, "restored", None);
        }
        // The current revision has the newest number, or gets one of the next.
        let newest = self.cluster.revisions().map(|revision| revision.revision).max().unwrap_or(0);
        edit_policy(&mut self.cluster, |rollout| {
            let Some(rollout) = rollout else { return };
            rollout.paused = false;
            rollout.on_failure = None;
            rollout.approved = (newest - 1..newest + 50).map(|number| (number, u32::MAX)).collect();
            if stable.is_none() {
                rollout.waves.clear();
            } else if !rollout.waves.is_empty() {
                rollout.waves.push(Wave::default());
            }
        });
        self.note_policy();
    }

    /// A person edits a mark. The controller may see this edit without the next one.
    fn annotate(&mut self, revision: &str, mark: &str, value: Option<&str>) {
        self.cluster.annotate_revision(revision, &key(mark), value);
        self.watch(Since::ACommand);
    }

    /// A canary waits for its node: where a taint came just before its pod, that pod is never bound. A person opens all waves.
    /// Whether there are any.
    fn open_all_waves(&mut self) -> bool {
        let has_waves = self.rollouts.policy.as_ref().is_some_and(|policy| !policy.waves.is_empty());
        let ds = self.cluster.daemon_set().unwrap();
        let current = self.cluster.revisions().find(|revision| is_current(revision, ds));
        let Some(current) = current.filter(|_| has_waves) else { return false };
        let (name, number) = (current.metadata.name.clone(), current.revision);
        let mark = format!("{number} {} 99", self.cluster.now());
        self.annotate(&name, "wave", Some(&mark));
        true
    }

    fn is_marked_complete(&self) -> Result<(), String> {
        let revisions: Vec<Revision> = self.cluster.revisions().map(Revision::new).collect();
        let spec = &self.cluster.daemon_set().unwrap().spec;
        let generation = self.cluster.daemon_set().unwrap().metadata.generation;
        let (t, drives) = (self.cluster.now(), self.is_driven());
        let view = View { t, spec, generation, revisions: &revisions, just_failed: None, drives };
        let has_targets = self.cluster.status().desired_number_scheduled > 0;
        if has_targets && !view.is_over() { Err(format!("not complete: {revisions:#?}")) } else { Ok(()) }
    }

    /// A version that never becomes Ready is released, unless it is there already, under a policy with this action.
    fn release_broken(&mut self, action: FailureAction) {
        // A person allows one more try, whatever was undone in this life.
        let names: Vec<String> =
            self.cluster.revisions().map(|revision| revision.metadata.name.clone()).collect();
        for (name, mark) in names.iter().flat_map(|name| [(name, "restored"), (name, "undone")]) {
            self.annotate(name, mark, None);
        }
        let choice = FailureChoice {
            action,
            max_failures: 0,
            available_within: 60,
            deadline: None,
            restarts: None,
            waiting: None,
        };
        edit_policy(&mut self.cluster, |rollout| {
            rollout.iter_mut().for_each(|rollout| rollout.on_failure = Some(choice.policy()));
        });
        self.note_policy();
        Command::Release { version: BROKEN }.perform(&mut self.cluster);
        self.watch(Since::ACommand);
    }

    /// The rollout fails, and each node goes back to the stable revision, within the maximum time of the rounds.
    fn ends_on_stable(&mut self, stable: Option<&str>) -> Result<(), String> {
        let bound = self.bound() + SignedDuration::from_secs(60);
        self.pass(bound);
        let failed = self.cluster.revisions().map(Revision::new).any(|revision| revision.has_failed());
        let status = self.cluster.status();
        if !failed && status.desired_number_scheduled > 0 {
            return Err("a version that never becomes Ready has not failed".to_owned());
        }
        self.is_on_stable(stable)?;
        self.at_rest_on_stable()
    }

    fn is_on_stable(&self, stable: Option<&str>) -> Result<(), String> {
        let plan = self.cluster.plan().unwrap().map_err(|e| e.to_string())?;
        let targets = plan.report.nodes.iter().filter(|node| node.placement == NodePlacement::Run);
        for node in targets {
            let live = node.pods.iter().filter(|pod| pod.deleted.is_none());
            let live: Vec<_> = live.map(|pod| self.pod_hash(pod.pod.uid.as_str())).collect();
            if live != [stable.map(str::to_owned)] {
                return Err(format!("not on stable {stable:?}: {live:?} on {node:#?}"));
            }
        }
        Ok(())
    }

    /// The template of the stable revision comes back in the place of a version that has failed, and is complete within the maximum time of the
    /// rounds. A tool puts the broken one back, and that stays: it is undone once.
    fn ends_undone(&mut self, stable: Option<&str>) -> Result<(), String> {
        let bound = self.bound() + SignedDuration::from_secs(120);
        if self.is_driven() || bound > SignedDuration::from_mins(50) {
            // The other controller deletes each revision without a pod: the stable revision, and the failed one with the mark that it was undone. So does
            // this one after an hour.
            self.cluster.edit(|ds| ds.spec.revision_history_limit = None);
            // An undo that begins before the controller sees this edit would find the DaemonSet changed.
            self.pass(LONGEST_DELAY);
        }
        self.release_broken(FailureAction::Undo);
        self.pass(bound);
        if self.cluster.status().desired_number_scheduled == 0 {
            return Ok(());
        }
        if self.revision_hash().as_deref() != stable {
            return Err(format!("the template is not undone: {:#?}", self.cluster.plan()));
        }
        self.is_on_stable(stable)?;
        self.is_marked_complete()?;
        self.at_rest_on_stable()?;
        Command::PutBack.perform(&mut self.cluster);
        self.watch(Since::ACommand);
        let broken = self.revision_hash();
        self.pass(bound);
        if self.revision_hash() == broken { Ok(()) } else { Err("the template is undone twice".to_owned()) }
    }

    /// The hash of the current revision.
    fn revision_hash(&self) -> Option<String> {
        let ds = self.cluster.daemon_set().unwrap();
        let current = self.cluster.revisions().find(|revision| is_current(revision, ds));
        current.map(|revision| Revision::new(revision).hash)
    }

    fn pod_hash(&self, uid: &str) -> Option<String> {
        let pod = self.cluster.pods().find(|pod| pod.metadata.uid.as_str() == uid)?;
        pod.metadata.labels.get("controller-revision-hash").map(str::to_owned)
    }

    /// Nothing is left to do, and each pod is available.
    fn at_rest_on_stable(&self) -> Result<(), String> {
        let plan = self.cluster.plan().unwrap().map_err(|e| e.to_string())?;
        let busy =
            plan.actions.iter().any(|a| !matches!(a, Action::Requeue { .. } | Action::RecordEvent { .. }));
        if busy || plan.status.is_none_or(|status| status.number_unavailable > 0) {
            return Err(format!("not at rest on the stable revision: {:#?}", plan.actions));
        }
        Ok(())
    }

    fn watch_rollout(&mut self, patience: SignedDuration, bound: SignedDuration) -> RolloutEnd {
        let Trial { cluster, watcher, rollouts, .. } = self;
        let end =
            cluster.watch_rollout(patience, bound, |cluster| watch(watcher, rollouts, cluster, Since::AStep));
        // An undo that goes before may have put back the template of the good version, which nobody then changes.
        if end == RolloutEnd::RolledBack && cluster.is_rolled_out() { RolloutEnd::Complete } else { end }
    }

    /// The maximum duration of the rest of the rollout. Each round stops, binds, pulls and starts pods, and waits for
    /// minReadySeconds; before the first one a back-off, an action in flight or a container restart may have to end.
    fn bound(&self) -> SignedDuration {
        let spec = &self.cluster.daemon_set().unwrap().spec;
        let targets = self.cluster.nodes().count().max(1);
        let strategy = self.strategy();
        let at_once = match strategy.kind.as_str() {
            "RollingUpdate" => {
                let limits = strategy.rolling_update.unwrap_or_default();
                let nodes = |limit: Option<daemonset::model::IntOrString>| {
                    limit.map_or(0, |l| l.scaled(targets as u32))
                };
                nodes(limits.max_surge).max(nodes(limits.max_unavailable)).max(1)
            }
            _ => 1,
        };
        let rounds = targets.div_ceil(at_once as usize) + 2;
        let round = 10 + 1 + 2 + 1 + 5 + i64::from(spec.min_ready_seconds) + 5;
        let before = 15 * 60 + 300 + 300 + 60;
        let waves = self.rollouts.policy.as_ref().map_or(&[][..], |policy| &policy.waves);
        let bakes: i64 = waves.iter().map(|wave| i64::from(wave.bake_seconds)).sum();
        let rounds = (rounds as i64 + 2) * (waves.len() as i64).max(1);
        SignedDuration::from_secs(before + bakes + rounds * round)
    }

    /// Whether the rollout is complete and every node has the right pods.
    fn at_rest(&self, on_delete: bool) -> Result<(), String> {
        let plan = self.cluster.plan().unwrap().map_err(|e| e.to_string())?;
        for verdict in &plan.report.nodes {
            let live = verdict.pods.iter().filter(|pod| pod.deleted.is_none()).count();
            let target = matches!(verdict.placement, daemonset::report::NodePlacement::Run);
            let updated = verdict.pods.iter().all(|pod| pod.updated);
            // A surge pod that was created when its node stopped being a target waits unbound beside the other pod.
            let waits = !target && verdict.outcome == NodeOutcome::Waits(Wait::Ready);
            if (live > 1 && !waits) || (target && live == 0) || (target && !on_delete && !updated) {
                return Err(format!("not as it should be: {verdict:#?}"));
            }
            // A driver deletes for the update alone, and beside it Kubernetes' controller lets such a pod go on.
            let stays_by_withdrawn = !target
                && !on_delete
                && !self.is_driven()
                && verdict
                    .pods
                    .iter()
                    .any(|pod| !pod.updated && self.tolerates_dedicated(pod.pod.uid.as_str()));
            if stays_by_withdrawn {
                return Err(format!("stays though its toleration is withdrawn: {verdict:#?}"));
            }
        }
        let busy =
            plan.actions.iter().any(|a| !matches!(a, Action::Requeue { .. } | Action::RecordEvent { .. }));
        if busy { Err(format!("still busy: {:#?}", plan.actions)) } else { Ok(()) }
    }

    fn tolerates_dedicated(&self, uid: &str) -> bool {
        let pod = self.cluster.pods().find(|pod| pod.metadata.uid.as_str() == uid);
        pod.is_some_and(|pod| pod.spec.tolerations.iter().any(|t| t.key == "dedicated"))
    }
}

/// A person looks at the nodes that an update took down and that are no target nodes any more: they hold the budget until
/// they are back. Whether there are any.
fn bring_back(cluster: &mut Cluster) -> bool {
    let plan = cluster.plan().unwrap().unwrap();
    let taken: Vec<_> = plan
        .report
        .nodes
        .iter()
        .filter(|node| node.counts.deleted_by_update)
        .map(|node| &node.node)
        .collect();
    for node in &taken {
        cluster.untaint(node.as_str(), "dedicated");
        cluster.label_node(node.as_str(), "disk", "ssd");
    }
    !taken.is_empty()
}
