//! The policy of one DaemonSet: that of its annotations, on top of the one of `--policy`.

use super::annotations;
use crate::yaml;
use daemonset::Policy;
use daemonset::model::DaemonSet;

/// Where the policies of the DaemonSets come from.
#[derive(Debug, Clone)]
pub struct Policies {
    of_file: Policy,
    role: Role,
}

/// The process that reads the policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The DaemonSet controller of the cluster.
    Controller,
    /// It drives updates beside the DaemonSet controller of the cluster (`--drive`).
    Driver,
    /// It compares its plans with the actions of a controller that reads no annotations (`--compare`).
    Comparison,
}

/// The policy of a DaemonSet, as far as it can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyReading {
    /// The policy in force; `None` if this process leaves the DaemonSet alone.
    pub policy: Option<Policy>,
    /// A problem that its author should know.
    pub problem: Option<PolicyProblem>,
}

/// A problem of a policy, as an event about the DaemonSet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyProblem {
    /// The reason of the event.
    pub reason: &'static str,
    /// Its text.
    pub message: String,
    /// The annotations that have the problem: a problem is reported once for each text.
    texts: Vec<(String, String)>,
}

impl Policies {
    /// Policies on top of this one.
    pub fn new(of_file: Policy, role: Role) -> Self {
        Policies { of_file, role }
    }

    /// The policy without any annotation.
    pub fn of_file(&self) -> &Policy {
        &self.of_file
    }

    /// The policy of this DaemonSet.
    pub fn read(&self, ds: &DaemonSet) -> PolicyReading {
        match self.role {
            Role::Comparison => PolicyReading { policy: Some(self.of_file.clone()), problem: None },
            Role::Controller => self.read_as_controller(ds),
            Role::Driver => self.read_as_driver(ds),
        }
    }

    /// This controller creates the pods, as the one of the cluster does beside a driver: of a policy to drive, only the update
    /// is left to a driver. To drive it here would leave the DaemonSet without new pods.
    fn read_as_controller(&self, ds: &DaemonSet) -> PolicyReading {
        match with_annotations(&self.of_file, ds) {
            Ok(policy) => {
                let problem = policy.drive.is_some().then(|| PolicyProblem::not_driven(ds));
                PolicyReading { policy: Some(policy.drive(None)), problem }
            }
            Err(Unreadable { policy, problem }) => {
                PolicyReading { policy: Some(policy), problem: Some(problem) }
            }
        }
    }

    /// A policy that can't be read drives nothing: nobody knows within which limits.
    fn read_as_driver(&self, ds: &DaemonSet) -> PolicyReading {
        let mut of_file = self.of_file.clone();
        if ds.spec.update_strategy.kind != "OnDelete" {
            // The policy of the file is for the DaemonSets that can be driven.
            of_file.drive = None;
        }
        match with_annotations(&of_file, ds) {
            Ok(policy) => {
                PolicyReading { policy: Some(policy).filter(|policy| policy.drive.is_some()), problem: None }
            }
            Err(Unreadable { problem, .. }) => {
                let concerns_it = of_file.drive.is_some() || annotations(ds).next().is_some();
                PolicyReading { policy: None, problem: Some(problem).filter(|_| concerns_it) }
            }
        }
    }
}

/// A policy that can't be read, or that does not fit the DaemonSet.
struct Unreadable {
    /// The policy to go on with: the rollout is paused.
    policy: Policy,
    problem: PolicyProblem,
}

fn with_annotations(of_file: &Policy, ds: &DaemonSet) -> Result<Policy, Unreadable> {
    of_file.clone().with_annotations(ds, yaml::read).map_err(|invalid| {
        let message = if invalid.annotation.is_empty() {
            let (path, problem) = (&invalid.path, &invalid.message);
            format!("The rollout is paused, since the policy of --policy does not fit: {path}: {problem}")
        } else {
            format!("The rollout is paused, since its policy can't be read: {invalid}")
        };
        let problem = PolicyProblem::new(ds, "InvalidRolloutPolicy", message);
        Unreadable { policy: invalid.policy(of_file.clone()), problem }
    })
}

impl PolicyProblem {
    fn new(ds: &DaemonSet, reason: &'static str, message: String) -> Self {
        let texts = annotations(ds).map(|(key, text)| (key.to_owned(), text.to_owned())).collect();
        PolicyProblem { reason, message, texts }
    }

    fn not_driven(ds: &DaemonSet) -> Self {
        let message = "The policy drives the update, but this controller runs without --drive: outdated pods wait until a driver or a \
                       person deletes them";
        PolicyProblem::new(ds, "UpdateNotDriven", message.to_owned())
    }
}

impl super::Rollout {
    /// The problem, if it was not reported yet.
    pub(crate) fn new_problem(&mut self, problem: Option<PolicyProblem>) -> Option<&PolicyProblem> {
        let is_new = self.problem != problem;
        self.problem = problem;
        self.problem.as_ref().filter(|_| is_new)
    }
}
