//! Rollout policies in a few bytes, and edits of marks by hand.

use daemonset::Policy;
use daemonset::model::{ControllerRevision, DaemonSet, IntOrString, LabelSelector};
use daemonset::policy::{FailureAction, FailurePolicy, RolloutPolicy, Wave};
use daemonset_sim::{Actor, Change, Cluster};
use jiff::{SignedDuration, Timestamp};

/// A rollout policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Steering {
    pub waves: [Option<WaveChoice>; 3],
    pub paused: bool,
    pub on_failure: Option<FailureChoice>,
}

/// A wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaveChoice {
    /// Whether it has the nodes with or without an SSD; `None` for all.
    pub ssd: Option<bool>,
    pub up_to: Option<UpTo>,
    pub bake: u8,
    pub approval: bool,
}

/// How many of the matching nodes a wave has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpTo {
    Nodes(u8),
    Percent(u8),
}

/// A failure policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureChoice {
    pub action: FailureAction,
    pub max_failures: u8,
    /// More than any minReadySeconds of these runs.
    pub available_within: u8,
    pub deadline: Option<u16>,
    /// The largest number of restarts, and how long a container may wait in vain.
    pub restarts: Option<u8>,
    pub waiting: Option<u8>,
}

impl Steering {
    pub fn policy(self) -> RolloutPolicy {
        RolloutPolicy::default()
            .paused(self.paused)
            .waves(self.waves.into_iter().flatten().map(WaveChoice::wave).collect())
            .on_failure(self.on_failure.map(FailureChoice::policy))
    }
}

impl WaveChoice {
    fn wave(self) -> Wave {
        let disk = |ssd| LabelSelector {
            match_labels: [("disk", if ssd { "ssd" } else { "hdd" })].into_iter().collect(),
            ..LabelSelector::default()
        };
        let up_to = self.up_to.map(|up_to| match up_to {
            UpTo::Nodes(nodes) => IntOrString::Int(nodes.into()),
            UpTo::Percent(percent) => IntOrString::Percent(percent.into()),
        });
        let wave = Wave::default().bake_seconds(self.bake.into()).needs_approval(self.approval);
        wave.nodes(self.ssd.map(disk)).up_to(up_to)
    }
}

impl FailureChoice {
    pub fn policy(self) -> FailurePolicy {
        FailurePolicy::default()
            .action(self.action)
            .max_failures(IntOrString::Int(self.max_failures.into()))
            .available_within_seconds(u32::from(self.available_within))
            .progress_deadline_seconds(self.deadline.map(u32::from))
            .max_restarts(self.restarts.map(u32::from))
            .waiting_seconds(self.waiting.map(u32::from))
    }
}

/// An edit of a revision's mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkEdit {
    Remove,
    Garbage,
    /// With the number of another revision.
    OfAnotherNumber,
    /// Valid; a wave's index, the reason of a failure, or an undo that has begun: of another generation, now, or long ago.
    Set {
        rest: u8,
    },
}

/// The revision whose mark is edited.
struct Edited {
    number: i64,
    /// The number of the newest revision.
    newest: i64,
    /// Of the DaemonSet.
    generation: i64,
    now: Timestamp,
}

/// The names of the marks.
pub const MARKS: [&str; 6] = ["started", "wave", "failed", "completed", "restored", "undone"];

/// The annotation of a mark.
pub fn key(mark: &str) -> String {
    format!("rollout.daemonset/{mark}")
}

impl MarkEdit {
    /// The value for a revision with this number; `None` removes the annotation.
    fn value(self, mark: &str, edited: &Edited) -> Option<String> {
        let Edited { number, newest, generation, now } = *edited;
        match (self, mark) {
            (MarkEdit::Remove, _) => None,
            (MarkEdit::Garbage, _) => Some("yes".to_owned()),
            (MarkEdit::OfAnotherNumber, _) => Some(format!("{} {now} 2", number + 1)),
            (MarkEdit::Set { rest }, "wave") => Some(format!("{number} {now} {}", rest % 4)),
            (MarkEdit::Set { .. }, "failed") => Some(format!("{number} {now} by hand")),
            (MarkEdit::Set { .. }, "restored") => Some(format!("{newest} {now}")),
            (MarkEdit::Set { rest }, "undone") => {
                let (is_stale, is_old) = (rest % 4 == 0, rest % 4 == 2);
                let at = now - SignedDuration::from_hours(if is_old { 2 } else { 0 });
                Some(format!("{number} {at} {}", generation - i64::from(is_stale)))
            }
            (MarkEdit::Set { .. }, _) => Some(format!("{number} {now}")),
        }
    }
}

/// A person edits a mark: of the current revision, or of another one.
pub fn edit_mark(cluster: &mut Cluster, revision: u8, mark: u8, edit: MarkEdit) {
    let mut revisions: Vec<_> = cluster.revisions().collect();
    revisions.sort_by_key(|revision| (-revision.revision, &revision.metadata.name));
    // Half of all edits are of the newest revision.
    let position = usize::from(revision / 2) * usize::from(revision % 2);
    let Some(revision) = revisions.get(position % revisions.len().max(1)) else { return };
    let mark = MARKS[usize::from(mark) % MARKS.len()];
    let newest = revisions.first().map_or(0, |newest| newest.revision);
    let generation = cluster.daemon_set().map_or(0, |ds| ds.metadata.generation);
    let edited = Edited { number: revision.revision, newest, generation, now: cluster.now() };
    let value = edit.value(mark, &edited);
    let name = revision.metadata.name.clone();
    cluster.annotate_revision(&name, &key(mark), value.as_deref());
}

/// A tool puts the template back that a person has written last.
pub fn put_back(cluster: &mut Cluster) {
    let written = cluster.history().iter().rev().find_map(|event| match &event.change {
        Change::DaemonSetChanged { spec, .. } if event.by == Actor::User => Some(spec.template.clone()),
        _ => None,
    });
    cluster.edit(|ds| ds.spec.template = written.unwrap_or_else(|| ds.spec.template.clone()));
}

/// The policy with this rollout. A driver can't roll back: it stops instead.
pub fn policy_with(policy: Policy, mut rollout: Option<RolloutPolicy>) -> Policy {
    if policy.external_controller.is_some() {
        let failures = rollout.iter_mut().filter_map(|rollout| rollout.on_failure.as_mut());
        let rolls_back = |failure: &&mut FailurePolicy| failure.action == FailureAction::RollBack;
        failures.filter(rolls_back).for_each(|failure| failure.action = FailureAction::Pause);
    }
    policy.rollout(rollout)
}

/// A person edits the rollout policy, which is an annotation of the DaemonSet.
pub fn edit_policy(cluster: &mut Cluster, edit: impl FnOnce(&mut Option<RolloutPolicy>)) {
    cluster.configure_controller(|controller| {
        let mut rollout = controller.policy.rollout.take();
        edit(&mut rollout);
        controller.policy = policy_with(controller.policy.clone(), rollout);
    });
    let version = cluster.now().to_string();
    cluster.edit(|ds| {
        ds.metadata.annotations = ds.metadata.annotations.with("rollout.daemonset/policy", &version);
    });
}

/// Whether a revision has the template of the DaemonSet.
pub fn is_current(revision: &ControllerRevision, ds: &DaemonSet) -> bool {
    let mut template = revision.data["spec"]["template"].clone();
    if let Some(members) = template.as_object_mut() {
        members.remove("$patch");
    }
    template == ds.spec.template
}
