//! Where a life with turns begins: a small cluster, and the choices of its policy.

use super::super::commands::Limits;
use super::super::steering::{FailureChoice, Steering, UpTo, WaveChoice};
use super::commands::{add_node, behaviour, set_version};
use crate::support::add_rules;
use daemonset::Policy;
use daemonset::model::IntOrString;
use daemonset::policy::{
    DownNodesPolicy, DrainPolicy, FailureAction, FitPolicy, InPlacePolicy, LifecyclePolicy, OnTimeout,
    PodNames, PullPolicy, TurnMode, TurnPolicy,
};
use daemonset_sim::{Cluster, Distribution, Probability, Runtime, Settings, Workload};
use jiff::SignedDuration;
use serde_json::json;

/// The initial state of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beginning {
    pub seed: u64,
    pub nodes: u8,
    /// maxUnavailable.
    pub limit: u8,
    pub min_ready: u8,
    pub memory_survives: bool,
    /// The caller keeps no memory at all.
    pub forgets: bool,
    /// The template tolerates all taints: a node that is down stays one of ours.
    pub tolerates_all: bool,
    /// Workloads of other people, perhaps with a disruption budget.
    pub workload: Option<Budgeted>,
    pub faults: Faults,
    pub choices: Choices,
}

/// Faults of the API server from the beginning on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Faults {
    None,
    Refuses,
    LosesAnswers,
}

/// Whether a disruption budget protects a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budgeted(pub bool);

/// The choices of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choices {
    pub turn: Option<TurnChoice>,
    /// How many nodes may pull at a time.
    pub pull: Option<u8>,
    pub in_place: bool,
    pub one_per_node: bool,
    pub fit: bool,
    /// Kubernetes' own controller is there, and this one only drives the update.
    pub drives: bool,
    pub excuses_down: bool,
    pub respects_lifecycle: bool,
    pub rollout: Option<RolloutChoice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnChoice {
    Keep,
    Take {
        cordon: bool,
        backup: bool,
        /// The gate that the controller's drain opens.
        drained: bool,
        /// Seconds until closed gates are overdue, and whether the node is taken then.
        timeout: Option<(u16, bool)>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolloutChoice {
    pub paused: bool,
    /// The first wave is one node.
    pub wave: bool,
    pub undoes: bool,
}

impl Choices {
    pub fn policy(self, limit: u8) -> Policy {
        let strategy = Limits::MaxUnavailable(limit).strategy();
        let mut policy = Policy::default()
            .external_controller(self.drives.then_some(strategy))
            .turn(self.turn.map(TurnChoice::mode))
            .drain(self.turn.filter(|turn| turn.drains()).map(|_| DrainPolicy::default()))
            .pull(self.pull.map(|parallel| {
                PullPolicy::default().parallel(IntOrString::Int(parallel.into())).timeout_seconds(60)
            }))
            .rollout(self.rollout.map(|rollout| rollout.steering().policy()));
        if self.in_place {
            policy.in_place = InPlacePolicy::IfPossible;
        }
        if self.one_per_node {
            policy.pod_names = PodNames::OnePerNode;
        }
        if self.fit {
            policy.fit = FitPolicy::Hold;
        }
        if self.excuses_down {
            policy.down_nodes = DownNodesPolicy::ExcuseIfDownBefore;
        }
        if self.respects_lifecycle {
            policy.lifecycle = LifecyclePolicy::Respect;
        }
        let mut policy = serde_json::to_value(policy).unwrap();
        add_rules(&mut policy);
        serde_json::from_value(policy).unwrap()
    }
}

impl TurnChoice {
    fn mode(self) -> TurnMode {
        let TurnChoice::Take { cordon, backup, drained, timeout } = self else { return TurnMode::Keep };
        let gates = [(backup, BACKUP), (drained, DRAINED)];
        let mut turn = TurnPolicy::default()
            .cordon(cordon)
            .gates(gates.into_iter().filter(|(is_there, _)| *is_there).map(|(_, gate)| gate));
        if let Some((seconds, proceeds)) = timeout {
            turn = turn.timeout_seconds(u32::from(seconds));
            turn.on_timeout = if proceeds { OnTimeout::Proceed } else { OnTimeout::Wait };
        }
        TurnMode::Take(turn)
    }

    /// Whether nobody comes back to a node that is drained.
    pub fn empties(self) -> bool {
        matches!(self, TurnChoice::Take { cordon: true, drained: true, .. })
    }

    pub fn drains(self) -> bool {
        matches!(self, TurnChoice::Take { drained: true, .. })
    }
}

impl RolloutChoice {
    pub fn steering(self) -> Steering {
        let wave = WaveChoice { ssd: None, up_to: Some(UpTo::Nodes(1)), bake: 0, approval: false };
        let rule = FailureChoice {
            action: FailureAction::Undo,
            max_failures: 0,
            available_within: 40,
            deadline: None,
            restarts: None,
            waiting: None,
        };
        Steering {
            waves: [self.wave.then_some(wave), None, None],
            paused: self.paused,
            on_failure: self.undoes.then_some(rule),
        }
    }
}

/// The gate that somebody opens, or nobody.
pub const BACKUP: &str = "backup";
/// The gate that a drain opens.
const DRAINED: &str = "drained";

impl Beginning {
    fn settings(self) -> Settings {
        let mut settings = Settings::default().behaviour(behaviour(0)).runtime(Some(Runtime::Containerd));
        settings.joining = Distribution::fixed(SignedDuration::from_secs(2));
        settings.container_statuses = true;
        // A refused plan is tried again after it: often enough, and not a thousand times while a cache stands still.
        settings.controller.pause = SignedDuration::from_millis(500);
        settings.controller.memory_survives = self.memory_survives;
        settings.controller.remembers = !self.forgets;
        match self.faults {
            Faults::None => {}
            Faults::Refuses => settings.controller.refused = Probability::percent(20),
            Faults::LosesAnswers => settings.controller.answer_lost = Probability::percent(20),
        }
        settings.controller.policy = self.choices.policy(self.limit);
        settings
    }

    pub fn cluster(self) -> Cluster {
        let now = "2026-01-01T12:00:00Z".parse().unwrap();
        let mut cluster = Cluster::with_settings(self.settings(), self.seed, now);
        for _ in 0..self.nodes {
            add_node(&mut cluster);
        }
        let mut template = json!({"metadata": {"labels": {"app": "agent"}}, "spec": {
            "containers": [{"name": "c"}], "terminationGracePeriodSeconds": 10}});
        if self.tolerates_all {
            template["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
        }
        set_version(&mut template, 0);
        let strategy =
            if self.choices.drives { Limits::OnDelete } else { Limits::MaxUnavailable(self.limit) };
        let daemon_set = json!({"metadata": {"name": "agent", "namespace": "ns"}, "spec": {
            "selector": {"matchLabels": {"app": "agent"}}, "template": template,
            "updateStrategy": strategy.strategy(), "minReadySeconds": self.min_ready}});
        cluster.create_daemon_set(serde_json::from_value(daemon_set).unwrap());
        if let Some(Budgeted(is_budgeted)) = self.workload {
            let quick = |from, to| {
                Distribution::uniform(SignedDuration::from_millis(from), SignedDuration::from_millis(to))
            };
            let web = Workload::new("web", 3).ready(quick(1_000, 9_000)).stop(quick(500, 9_000));
            cluster.add_workload(web.max_unavailable(is_budgeted.then_some(1)));
        }
        cluster
    }
}
