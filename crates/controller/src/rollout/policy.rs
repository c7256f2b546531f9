//! The policy of one DaemonSet: its annotations on top of `--policy`.

use super::annotations;
use crate::yaml;
use daemonset::Policy;
use daemonset::internal::steering;
use daemonset::model::DaemonSet;
use daemonset::policy::{AnnotationProblem, Permissions, TurnMode};

/// Where the policies of the DaemonSets come from.
#[derive(Debug, Clone)]
pub struct Policies {
    of_file: Policy,
    role: ProcessRole,
}

/// The process that reads the policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessRole {
    /// The DaemonSet controller of the cluster.
    Controller,
    /// It drives updates beside the DaemonSet controller of the cluster (`--drive`).
    Driver,
    /// It compares its plans with the actions of a controller that reads no annotations.
    Comparison,
}

/// The policy of a DaemonSet, as far as it can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyReading {
    /// The policy in force; `None` if this process leaves the DaemonSet alone.
    pub policy: Option<Policy>,
    /// A problem that its author should know.
    pub problem: Option<PolicyEvent>,
    /// Who carries out its turns.
    pub turns_of: TurnsOf,
}

/// The process that carries out the turns of a policy, and its pulls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnsOf {
    /// This one.
    This,
    /// The driver beside it.
    Driver,
}

impl PolicyReading {
    /// The same, which leaves turns as they are to the process that carries them out. The problem is told where there is no other.
    pub(crate) fn leaving_turns(self, problem: PolicyEvent) -> Self {
        let policy = self.policy.map(|policy| policy.turn(TurnMode::Keep));
        PolicyReading { policy, problem: self.problem.or(Some(problem)), turns_of: TurnsOf::Driver }
    }
}

/// The powers of a DaemonSet's annotations.
#[derive(Debug, Clone, Default)]
pub struct Granted {
    /// Those that its namespace has.
    pub powers: Permissions,
    /// Why they are unknown, if they are. Then it has none.
    pub unreadable: Option<String>,
}

/// A problem of a policy, as an event about the DaemonSet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyEvent {
    /// The reason of the event.
    pub reason: &'static str,
    /// Its text.
    pub message: String,
    /// The annotations that have the problem: a problem is reported once for each text.
    texts: Vec<(String, String)>,
}

impl Policies {
    /// Policies on top of this one.
    pub fn new(of_file: Policy, role: ProcessRole) -> Self {
        Policies { of_file, role }
    }

    /// The policy without any annotation.
    pub fn of_file(&self) -> &Policy {
        &self.of_file
    }

    /// Whether a policy may steer the rollout of this DaemonSet.
    pub fn may_steer(&self, ds: &DaemonSet) -> bool {
        let by_annotations = self.role != ProcessRole::Comparison && annotations(ds).next().is_some();
        by_annotations || self.of_file.rollout.is_some()
    }

    /// Whether the policy of this DaemonSet may need a power of its namespace.
    pub fn needs_powers(&self, ds: &DaemonSet) -> bool {
        self.role != ProcessRole::Comparison && may_need_powers(ds)
    }

    /// The policy of this DaemonSet.
    pub fn read(&self, ds: &DaemonSet, granted: &Granted) -> PolicyReading {
        match self.role {
            // Kubernetes' controller leaves the turns of a driver beside it alone.
            ProcessRole::Comparison => {
                let policy = Some(self.of_file.clone());
                PolicyReading { policy, problem: None, turns_of: TurnsOf::Driver }
            }
            ProcessRole::Controller => self.read_as_controller(ds, granted),
            ProcessRole::Driver => self.read_as_driver(ds, granted),
        }
    }

    /// This process is the controller that creates the pods: it leaves the update of a policy to drive to a driver, and does the
    /// rest. To drive here would leave nodes that join without a pod.
    fn read_as_controller(&self, ds: &DaemonSet, granted: &Granted) -> PolicyReading {
        let (policy, unreadable) = with_annotations(&self.of_file, ds, granted);
        let is_driven = policy.external_controller.is_some();
        let policy = Some(policy.external_controller(None));
        let reading = PolicyReading { policy, problem: unreadable, turns_of: TurnsOf::This };
        // Without `externalController` each turn would end here as soon as the driver has begun it.
        if is_driven { reading.leaving_turns(PolicyEvent::not_driven(ds)) } else { reading }
    }

    /// A policy that can't be read drives nothing: nobody knows within which limits.
    fn read_as_driver(&self, ds: &DaemonSet, granted: &Granted) -> PolicyReading {
        let of_file = self.of_file_of_driver(ds);
        let concerns_it = of_file.external_controller.is_some() || annotations(ds).next().is_some();
        let (policy, problem) = match with_annotations(&of_file, ds, granted) {
            (policy, None) => (Some(policy).filter(|policy| policy.external_controller.is_some()), None),
            (_, Some(problem)) => (None, Some(problem).filter(|_| concerns_it)),
        };
        PolicyReading { policy, problem, turns_of: TurnsOf::This }
    }

    /// The policy of the file is for the DaemonSets that can be driven.
    fn of_file_of_driver(&self, ds: &DaemonSet) -> Policy {
        let of_file = self.of_file.clone();
        if ds.spec.update_strategy.kind == "OnDelete" {
            of_file
        } else {
            of_file.external_controller(None).turn(None)
        }
    }

    /// Whether this process is a driver, and the policy of the DaemonSet asks for no driven turns: those that it has end. A policy that
    /// can't be read keeps them.
    pub(crate) fn has_stopped_driving(&self, ds: &DaemonSet) -> bool {
        if self.role != ProcessRole::Driver {
            return false;
        }
        // Whether a field is permitted is no matter here.
        let read = self.of_file_of_driver(ds).with_annotations(ds, &Permissions::all(), yaml::read);
        // With another strategy the turns are those of the controller that carries it out.
        let ends = |policy: &Policy| policy.turn.is_none() || ds.spec.update_strategy.kind == "OnDelete";
        read.is_ok_and(|policy| policy.external_controller.is_none() && ends(&policy))
    }
}

/// Whether the policy of a DaemonSet may have a field that needs a power.
pub(crate) fn may_need_powers(ds: &DaemonSet) -> bool {
    ds.metadata.annotations.get(steering::POLICY).is_some_and(steering::may_need_powers)
}

/// The policy to go on with. One that can't be read, is not permitted, or does not fit the DaemonSet, is a problem, and the rollout is
/// paused.
fn with_annotations(of_file: &Policy, ds: &DaemonSet, granted: &Granted) -> (Policy, Option<PolicyEvent>) {
    let invalid = match of_file.clone().with_annotations(ds, &granted.powers, yaml::read) {
        Ok(policy) => return (policy, None),
        Err(invalid) => invalid,
    };
    let sentence = if invalid.problems.iter().all(|problem| problem.annotation.is_empty()) {
        format!("The rollout is paused, since the policy of --policy does not fit: {invalid}")
    } else {
        invalid.sentence()
    };
    let is_not_permitted = invalid.problems.iter().any(AnnotationProblem::is_not_permitted);
    let unknown = granted.unreadable.iter().filter(|_| is_not_permitted);
    let unknown: String = unknown.map(|reason| format!(" (no namespace can be read: {reason})")).collect();
    let problem = PolicyEvent::new(ds, "InvalidRolloutPolicy", sentence + &unknown);
    (invalid.policy(of_file.clone()), Some(problem))
}

impl PolicyEvent {
    fn new(ds: &DaemonSet, reason: &'static str, message: String) -> Self {
        let texts = annotations(ds).map(|(key, text)| (key.to_owned(), text.to_owned())).collect();
        PolicyEvent { reason, message, texts }
    }

    fn not_driven(ds: &DaemonSet) -> Self {
        let message = "The policy drives the update, but this controller runs without --drive: outdated pods wait until a driver or a \
                       person deletes them";
        PolicyEvent::new(ds, "UpdateNotDriven", message.to_owned())
    }

    /// Another process begins turns that this one has ended, since its policy asks for none.
    pub(crate) fn turns_of_another(ds: &DaemonSet) -> Self {
        let message = "Another process begins turns of nodes, for which this controller's policy does not ask: they are left to it. Do both \
                       have the same --policy?";
        PolicyEvent::new(ds, "TurnsOfAnother", message.to_owned())
    }

    /// The policy holds pods that do not fit, and this process does not know what is free.
    pub(crate) fn fit_unknown(ds: &DaemonSet, reason: &str) -> Self {
        let message = format!(
            "Each new pod counts as one that fits, since the pods of the cluster can't be read: {reason}"
        );
        PolicyEvent::new(ds, "FitUnknown", message)
    }
}

impl super::Rollout {
    /// The problem, if it was not reported yet.
    pub(crate) fn new_problem(&mut self, problem: Option<PolicyEvent>) -> Option<&PolicyEvent> {
        let is_new = self.problem != problem;
        self.problem = problem;
        self.problem.as_ref().filter(|_| is_new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::Rollout;
    use daemonset::model::IntOrString;
    use daemonset::policy::{RolloutPolicy, TurnPolicy, UnreadyPolicy};
    use serde_json::{Value, from_value, json};

    const DRIVE: &str = "drive: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 2}}";

    fn ds(strategy: &str, annotations: Value) -> DaemonSet {
        let metadata = json!({"name": "a", "namespace": "ns", "uid": "u", "annotations": annotations});
        from_value(json!({"metadata": metadata, "spec": {"updateStrategy": {"type": strategy}}})).unwrap()
    }

    fn with_policy(strategy: &str, text: &str) -> DaemonSet {
        ds(strategy, json!({"rollout.daemonset/policy": text}))
    }

    fn read(role: ProcessRole, ds: &DaemonSet) -> PolicyReading {
        Policies::new(Policy::default(), role).read(ds, &Granted::default())
    }

    fn reason(reading: &PolicyReading) -> Option<&str> {
        reading.problem.as_ref().map(|problem| problem.reason)
    }

    #[test]
    fn annotations_are_read_as_yaml_and_json_on_top_of_the_file() {
        let yaml = "# the canary\nwaves:\n- upTo: 10%\n  nodes: {matchLabels: {pool: a}}\n- {}\napproved: {3: 2}\nconditions: true\n";
        let json = r#"{"waves": [{"upTo": "10%", "nodes": {"matchLabels": {"pool": "a"}}}, {}], "approved": {"3": 2}, "conditions": true}"#;
        let of_file = Policy::default().unready(UnreadyPolicy::WithinBudget).burst(7);
        let policies = Policies::new(of_file, ProcessRole::Controller);
        let [one, other] = [yaml, json].map(|text| {
            policies.read(&with_policy("RollingUpdate", text), &Granted::default()).policy.unwrap()
        });
        assert_eq!(one, other);
        assert_eq!((one.burst, one.unready, one.conditions), (7, UnreadyPolicy::WithinBudget, true));
        let rollout = one.rollout.unwrap();
        assert_eq!((rollout.waves[0].up_to, rollout.approved[&3]), (Some(IntOrString::Percent(10)), 2));
    }

    #[test]
    fn a_policy_that_cannot_be_read_pauses_and_names_the_field() {
        for (text, part) in [
            ("waves: [", "rollout.daemonset/policy: "),
            ("waves: [{upto: 1}]", "waves[0].upto: unknown field"),
            ("waves: 3\n", "waves: invalid type"),
            ("paused: true\npaused: false", "duplicate"),
            ("", "must be an object"),
        ] {
            let reading = read(ProcessRole::Controller, &with_policy("RollingUpdate", text));
            let (policy, problem) = (reading.policy.unwrap(), reading.problem.unwrap());
            assert!(policy.rollout.is_some_and(|rollout| rollout.paused), "{text}");
            assert!(problem.message.contains(part), "{}", problem.message);
            assert_eq!((problem.reason, problem.message.lines().count()), ("InvalidRolloutPolicy", 1));
        }
    }

    /// An admin delegates powers to a namespace.
    #[test]
    fn a_policy_beyond_the_powers_of_its_namespace_pauses_and_keeps_turns() {
        let ds = with_policy("RollingUpdate", "turn: {cordon: true}\nwaves: [{}]");
        let policies = Policies::new(Policy::default(), ProcessRole::Controller);
        assert!(
            policies.needs_powers(&ds)
                && !policies.needs_powers(&with_policy("RollingUpdate", "waves: [{}]"))
        );
        let granted = Granted { powers: Permissions::parse("turn"), unreadable: None };
        let turn = TurnMode::Take(TurnPolicy::default().cordon(true));
        let reading = policies.read(&ds, &granted);
        assert_eq!((reading.policy.unwrap().turn, reading.problem), (Some(turn), None));
        let reading = policies.read(&ds, &Granted::default());
        assert_eq!(reading.policy.unwrap().turn, Some(TurnMode::Keep));
        let message = reading.problem.unwrap().message;
        assert!(
            message.starts_with("The rollout is paused, since its policy is not permitted: "),
            "{message}"
        );
        assert!(message.contains("turn: Forbidden: needs the power turn"), "{message}");
        let unreadable =
            Granted { unreadable: Some("namespaces is forbidden".to_owned()), ..Granted::default() };
        let message = policies.read(&ds, &unreadable).problem.unwrap().message;
        assert!(message.ends_with(" (no namespace can be read: namespaces is forbidden)"), "{message}");
        let file = Policies::new(
            Policy::default().turn(TurnMode::Take(TurnPolicy::default())),
            ProcessRole::Controller,
        );
        assert_eq!(
            file.read(&with_policy("RollingUpdate", "{}"), &Granted::default()).problem,
            None,
            "an admin's own"
        );
    }

    /// The controller would end each turn as soon as the driver has begun it.
    #[test]
    fn a_controller_leaves_turns_to_the_driver() {
        let granted = Granted { powers: Permissions::all(), unreadable: None };
        let text = format!("{DRIVE}\nturn: {{cordon: true}}");
        let reading = Policies::new(Policy::default(), ProcessRole::Controller)
            .read(&with_policy("OnDelete", &text), &granted);
        assert_eq!((reading.policy.unwrap().turn, reading.turns_of), (Some(TurnMode::Keep), TurnsOf::Driver));
        let reading = Policies::new(Policy::default(), ProcessRole::Driver)
            .read(&with_policy("OnDelete", &text), &granted);
        assert!(matches!(reading.policy.unwrap().turn, Some(TurnMode::Take(_))));
        assert_eq!(reading.turns_of, TurnsOf::This);
    }

    #[test]
    fn the_turns_of_a_daemon_set_that_is_driven_no_more_are_the_drivers_to_end() {
        let has_stopped = |role: ProcessRole, strategy: &str, text: &str| {
            Policies::new(Policy::default(), role).has_stopped_driving(&with_policy(strategy, text))
        };
        let driven = format!("{DRIVE}\nturn: {{}}");
        assert!(!has_stopped(ProcessRole::Driver, "OnDelete", &driven));
        assert!(
            has_stopped(ProcessRole::Driver, "OnDelete", "{}")
                && has_stopped(ProcessRole::Driver, "OnDelete", "turn: {}")
        );
        assert!(
            !has_stopped(ProcessRole::Driver, "OnDelete", "turn: {cordn: true}"),
            "a typing error uncordons no node"
        );
        assert!(has_stopped(ProcessRole::Driver, "RollingUpdate", "{}"));
        assert!(!has_stopped(ProcessRole::Driver, "RollingUpdate", "turn: {}"), "they are the controller's");
        assert!(!has_stopped(ProcessRole::Controller, "OnDelete", "{}"), "it plans each DaemonSet");
        let drive = from_value(json!({"type": "RollingUpdate"})).unwrap();
        let file =
            Policy::default().external_controller(Some(drive)).turn(TurnMode::Take(TurnPolicy::default()));
        let policies = Policies::new(file, ProcessRole::Driver);
        assert!(!policies.has_stopped_driving(&ds("OnDelete", json!({}))));
        assert!(
            policies.has_stopped_driving(&ds("RollingUpdate", json!({}))),
            "the file is for those that can be driven"
        );
    }

    /// Nine lines that say the same nine times, again and again: four billion waves.
    #[test]
    fn aliases_repeat_no_more_than_a_text_could_say() {
        let nine = |alias: &str| [alias; 9].join(", ");
        let doubling = (1..9).map(|line| format!("&a{line} [{}]", nine(&format!("*a{}", line - 1))));
        let bomb = format!("waves: [&a0 {{}}, {}]", doubling.collect::<Vec<_>>().join(", "));
        let reading = read(ProcessRole::Controller, &with_policy("RollingUpdate", &bomb));
        let message = reading.problem.unwrap().message;
        assert!(message.contains("alias"), "{message}");
        let shared = "waves: [{nodes: &pool {matchLabels: {pool: a}}, upTo: 1}, {nodes: *pool}]";
        assert_eq!(read(ProcessRole::Controller, &with_policy("RollingUpdate", shared)).problem, None);
    }

    /// The policy of the file may fit one DaemonSet and not the other.
    #[test]
    fn a_policy_of_the_file_that_does_not_fit_pauses() {
        let on_failure: daemonset::policy::FailurePolicy =
            from_value(json!({"availableWithinSeconds": 30})).unwrap();
        let of_file = Policy::default().rollout(RolloutPolicy::default().on_failure(on_failure));
        let policies = Policies::new(of_file, ProcessRole::Controller);
        let mut ds = ds("RollingUpdate", json!({}));
        assert_eq!(policies.read(&ds, &Granted::default()).problem, None);
        ds.spec.min_ready_seconds = 60;
        let reading = policies.read(&ds, &Granted::default());
        assert!(reading.policy.unwrap().rollout.unwrap().paused);
        let message = reading.problem.unwrap().message;
        assert!(
            message.contains("the policy of --policy does not fit: onFailure.availableWithinSeconds: "),
            "{message}"
        );
        assert_eq!(
            Policies::new(policies.of_file, ProcessRole::Driver).read(&ds, &Granted::default()).problem,
            None,
            "it is not driven"
        );
    }

    #[test]
    fn a_problem_is_reported_once_for_each_text() {
        let mut rollout = Rollout::default();
        let mut is_reported = |text: &str| {
            let reading = read(ProcessRole::Controller, &with_policy("RollingUpdate", text));
            rollout.new_problem(reading.problem).is_some()
        };
        let reported = ["waves: 1", "waves: 1", "waves: 2", "{}", "waves: 2"].map(&mut is_reported);
        assert_eq!(reported, [true, false, true, false, true]);
    }

    #[test]
    fn a_driver_plans_only_what_asks_to_be_driven() {
        let driven = read(ProcessRole::Driver, &with_policy("OnDelete", DRIVE));
        assert!(
            driven.policy.is_some_and(|policy| policy.external_controller.is_some())
                && driven.problem.is_none()
        );
        for (strategy, text, expected) in [
            ("OnDelete", "{}", None),
            ("RollingUpdate", "{}", None),
            ("RollingUpdate", DRIVE, Some("InvalidRolloutPolicy")),
            ("OnDelete", "drive: {type: OnDelete}", Some("InvalidRolloutPolicy")),
            ("OnDelete", "waves: 1", Some("InvalidRolloutPolicy")),
        ] {
            let reading = read(ProcessRole::Driver, &with_policy(strategy, text));
            assert_eq!((&reading.policy, reason(&reading)), (&None, expected), "{strategy} {text}");
        }
    }

    #[test]
    fn the_file_of_a_driver_drives_every_daemon_set_with_on_delete() {
        let drive = from_value(json!({"type": "RollingUpdate"})).unwrap();
        let policies = Policies::new(Policy::default().external_controller(Some(drive)), ProcessRole::Driver);
        assert!(policies.read(&ds("OnDelete", json!({})), &Granted::default()).policy.is_some());
        let other = policies.read(&ds("RollingUpdate", json!({})), &Granted::default());
        assert_eq!((other.policy, other.problem), (None, None));
    }

    #[test]
    fn a_controller_leaves_the_update_to_a_driver() {
        let reading = read(
            ProcessRole::Controller,
            &with_policy("OnDelete", &format!("{DRIVE}\nwaves: [{{upTo: 1}}]")),
        );
        assert_eq!(reason(&reading), Some("UpdateNotDriven"));
        let policy = reading.policy.unwrap();
        assert!(policy.external_controller.is_none());
        assert_eq!(policy.rollout.unwrap().waves.len(), 1, "held nodes keep the old version");
    }

    #[test]
    fn the_policies_of_the_readme_are_valid() {
        let readme = include_str!("../../README.md");
        let between = |from: &str, to: &str| readme.split_once(from).unwrap().1.split_once(to).unwrap().0;
        let steered = with_policy("RollingUpdate", between("rollout.daemonset/policy='", "'\n"));
        let reading = read(ProcessRole::Controller, &steered);
        assert_eq!(reading.problem, None);
        assert_eq!(reading.policy.unwrap().rollout.unwrap().waves.len(), 3);
        let turns = between("before and after its pod is replaced:\n\n```yaml\n", "```");
        let granted = Granted { powers: Permissions::all(), unreadable: None };
        let reading = Policies::new(Policy::default(), ProcessRole::Controller)
            .read(&with_policy("RollingUpdate", turns), &granted);
        assert_eq!(reading.problem, None);
        let driven = between("a policy that says how to update:\n\n```yaml\n", "```");
        let driven: DaemonSet = from_value(yaml::read(driven).unwrap()).unwrap();
        let reading = read(ProcessRole::Driver, &driven);
        assert_eq!(reading.problem, None);
        assert!(reading.policy.is_some_and(|policy| policy.rollout.is_some()));
    }

    #[test]
    fn a_comparison_reads_no_annotations() {
        let reading = read(ProcessRole::Comparison, &with_policy("RollingUpdate", "waves: 1"));
        assert_eq!((reading.policy, reading.problem), (Some(Policy::default()), None));
        let steered = with_policy("RollingUpdate", "{}");
        let may_steer = [ProcessRole::Comparison, ProcessRole::Driver, ProcessRole::Controller]
            .map(|role| Policies::new(Policy::default(), role).may_steer(&steered));
        assert_eq!(may_steer, [false, true, true]);
    }
}
