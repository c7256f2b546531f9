//! The figures of each DaemonSet that is planned here, whether a policy steers its rollout or not. A plan from changes knows them as
//! sums, so that they cost the same whatever the number of nodes.

use crate::caches::Key;
use crate::clock::Clock;
use daemonset::Plan;
use daemonset::outlook::{ObstacleKind, Obstacles};
use daemonset::report::{RevisionOrigin, StrategyInForce, UnavailableCause, UnavailableNodes, Warning};
use jiff::{SignedDuration, Timestamp};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue, EncodeLabelSet};
use prometheus_client::metrics::MetricType;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A pod that has not become Ready for this long is an obstacle, as `progressDeadlineSeconds` of a Deployment has it.
const PATIENCE: SignedDuration = SignedDuration::from_mins(10);

/// The metrics of all DaemonSets; clones share their values.
#[derive(Clone)]
pub struct FleetMetrics {
    /// Obstacles and ages depend on the time of the scrape.
    clock: Clock,
    figures: Arc<Mutex<BTreeMap<Key, FleetFigures>>>,
}

/// The figures of one DaemonSet, by its last plan.
struct FleetFigures {
    desired: u32,
    outdated: u32,
    unavailable: UnavailableNodes,
    /// `None` where a person decides.
    budget: Option<BudgetFigures>,
    is_spent_before_start: bool,
    obstacles: Obstacles,
    /// The current revision.
    revision: String,
    /// When its rollout began; `None` once it is complete.
    since: Option<Timestamp>,
}

/// The limit of the strategy, and the nodes that count against it.
#[derive(Clone, Copy)]
struct BudgetFigures {
    limit: u32,
    used: u32,
}

impl fmt::Debug for FleetMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetMetrics").finish_non_exhaustive()
    }
}

impl FleetMetrics {
    pub(super) fn new(clock: Clock) -> Self {
        FleetMetrics { clock, figures: Arc::default() }
    }

    /// Shows the DaemonSet as this plan finds it. `made_at` is the creation of its current revision, if that is known.
    pub(crate) fn show(&self, key: &Key, plan: &Plan, made_at: Option<Timestamp>) {
        let mut all = self.all();
        let since = self.since(all.get(key), plan, made_at);
        let report = &plan.report;
        let budget = report.budget.unwrap_or_default();
        let figures = FleetFigures {
            desired: budget.desired,
            outdated: report.outdated().unwrap_or_default(),
            unavailable: report.unavailable,
            budget: match report.strategy {
                Some(StrategyInForce::Replace(_)) => Some(BudgetFigures {
                    limit: budget.max_unavailable,
                    used: budget.unavailable + budget.down_after_update,
                }),
                Some(StrategyInForce::Surge(_)) => Some(BudgetFigures {
                    limit: budget.max_surge,
                    used: budget.surging + budget.down_after_update,
                }),
                _ => None,
            },
            is_spent_before_start: plan
                .warnings
                .iter()
                .any(|warning| matches!(warning, Warning::BudgetSpentBeforeStart { .. })),
            obstacles: Obstacles::new(plan),
            revision: report.current_revision.iter().map(|revision| revision.name.clone()).collect(),
            since,
        };
        all.insert(key.clone(), figures);
    }

    /// When the rollout of the current revision began; `None` if it is complete. It begins with the revision, or with the plan that
    /// makes an earlier one current again, and ends once. A node that joins or fails later begins no rollout.
    fn since(
        &self,
        before: Option<&FleetFigures>,
        plan: &Plan,
        made_at: Option<Timestamp>,
    ) -> Option<Timestamp> {
        let report = &plan.report;
        let revision = report.current_revision.as_ref()?;
        if report.done() == report.budget.map(|budget| budget.desired) {
            return None;
        }
        let now = self.clock.now();
        let known = before.filter(|before| before.revision == revision.name).and_then(|before| before.since);
        match revision.origin {
            RevisionOrigin::Kept if report.outdated() == Some(0) => known,
            // The clock of the API server may be ahead of ours.
            RevisionOrigin::Kept => known.or_else(|| Some(made_at.map_or(now, |made_at| made_at.min(now)))),
            _ => Some(now),
        }
    }

    /// Removes the series of a DaemonSet that is not planned here any more.
    pub(crate) fn forget(&self, key: &Key) {
        self.all().remove(key);
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Key, FleetFigures>> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Collector for FleetMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let (all, now) = (self.all(), self.clock.now());
        let each = |value: fn(&FleetFigures) -> Option<u32>| {
            all.iter().filter_map(move |(key, figures)| Some((labels(key), value(figures)?)))
        };
        let desired = each(|figures| Some(figures.desired));
        gauge(&mut encoder, "desired_nodes", "Nodes that should run the pod.", desired)?;
        let help = "Desired nodes with a live pod of another version than the current one.";
        gauge(&mut encoder, "outdated_nodes", help, each(|figures| Some(figures.outdated)))?;
        let help = "maxUnavailable or, under surge, maxSurge, as a number of nodes.";
        gauge(&mut encoder, "budget_nodes", help, each(|figures| Some(figures.budget?.limit)))?;
        let help = "Nodes that count against the budget.";
        gauge(&mut encoder, "budget_used_nodes", help, each(|figures| Some(figures.budget?.used)))?;
        let help = "1 if nodes that went down before the update reached them use up its budget, else 0.";
        let is_spent = each(|figures| Some(figures.is_spent_before_start.into()));
        gauge(&mut encoder, "budget_spent_before_start", help, is_spent)?;
        let help = "Seconds since the current revision was made, 0 once its rollout is complete.";
        let ages = all.iter().map(|(key, figures)| {
            (labels(key), figures.since.map_or(0.0, |since| now.duration_since(since).as_secs_f64()))
        });
        gauge(&mut encoder, "rollout_age_seconds", help, ages)?;
        let by_cause = all.iter().flat_map(|(key, figures)| {
            let nodes = |cause| (with(key, "cause", &cause), figures.unavailable.of(cause));
            UnavailableCause::ALL.map(nodes)
        });
        gauge(&mut encoder, "unavailable_nodes", "Nodes without an available pod, by cause.", by_cause)?;
        let help = "1 for an obstacle that a person must remove before the pods change any further, else 0.";
        let obstacles = all.iter().flat_map(|(key, figures)| {
            let present = figures.obstacles.at(now, PATIENCE);
            ObstacleKind::ALL.map(|kind| (with(key, "obstacle", &kind), u32::from(present.contains(&kind))))
        });
        gauge(&mut encoder, "stuck", help, obstacles)
    }
}

type Label<'k> = (&'static str, Cow<'k, str>);

fn labels(key: &Key) -> [Label<'_>; 2] {
    [("namespace", key.namespace.as_str().into()), ("daemonset", key.name.as_str().into())]
}

/// The labels with one more, whose value is the variant's name in JSON: it stays when the variant is renamed.
fn with<'k>(key: &'k Key, name: &'static str, variant: &impl Serialize) -> [Label<'k>; 3] {
    let [namespace, daemonset] = labels(key);
    let variant = serde_json::to_value(variant).ok().and_then(|name| name.as_str().map(str::to_owned));
    [namespace, daemonset, (name, variant.unwrap_or_default().into())]
}

fn gauge<L: EncodeLabelSet, V: EncodeGaugeValue>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    samples: impl Iterator<Item = (L, V)>,
) -> fmt::Result {
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    for (labels, value) in samples {
        metric.encode_family(&labels)?.encode_gauge(&value)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use daemonset::{Recording, plan};
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    /// Dashboards and alerts select by these words, which Rust's names must not change.
    #[test]
    fn labels_have_the_names_of_the_json_forms() {
        let key = Key { namespace: "ns".to_owned(), name: "agent".to_owned() };
        let of = |[.., (_, word)]: [Label<'_>; 3]| word.into_owned();
        let kinds = [ObstacleKind::TurnsFrozen, ObstacleKind::DownAfterUpdate, ObstacleKind::NoRoom];
        assert_eq!(kinds.map(|kind| of(with(&key, "obstacle", &kind))), ["TurnsKept", "NodeLost", "NoRoom"]);
        assert_eq!(of(with(&key, "cause", &UnavailableCause::DeletedByUpdate)), "Taken");
    }

    /// A process that has just begun dates a rollout by the API server's clock. An age below 0 would keep the alert silent.
    #[test]
    fn a_revision_from_the_future_is_new() {
        let recording =
            std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/recording.json")).unwrap();
        let recording = Recording::from_json(&recording).unwrap();
        let now = recording.now;
        let fleet = FleetMetrics::new(Clock::new(move || now));
        let key = Key { namespace: "ns".to_owned(), name: "agent".to_owned() };
        let plan = plan(&recording.snapshot().unwrap());
        fleet.show(&key, &plan, Some(now + SignedDuration::from_hours(1)));
        let (mut registry, mut text) = (Registry::default(), String::new());
        registry.register_collector(Box::new(fleet));
        encode(&mut text, &registry).unwrap();
        assert!(text.contains("rollout_age_seconds{namespace=\"ns\",daemonset=\"agent\"} 0.0\n"), "{text}");
    }
}
