//! The phases of a rollout that a policy steers: waves that are updated and bake, approvals, pauses, the way back.

use crate::run::Run;
use daemonset::report::{FailingNode, RolloutReport, RolloutStage, WaveProgress};
use daemonset_sim::{Change, undone_at};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The rollout of the last revision, over time.
#[derive(Debug, Default)]
pub struct SteeredPhases {
    /// In order, without overlap; empty where no policy steers.
    pub phases: Vec<RolloutPhase>,
    /// The number of each node's first wave.
    pub waves: BTreeMap<String, usize>,
    pub failure: Option<VersionFailure>,
    /// How it ends.
    pub end: End,
}

/// For a while the rollout does one thing.
#[derive(Debug, Clone, PartialEq)]
pub struct RolloutPhase {
    pub from: i64,
    pub to: i64,
    pub kind: PhaseKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseKind {
    /// The nodes of a wave get the new version; `None` for all nodes at once.
    Updating(Option<usize>),
    /// A wave's pods are Ready, but not for long enough.
    Baking(usize),
    /// A wave waits for a person.
    Approval(usize),
    Paused,
    /// The new version has failed, and no further node gets it.
    Stopped,
    /// All nodes go back to the old version.
    WayBack,
}

/// The moment at which the new version failed.
#[derive(Debug)]
pub struct VersionFailure {
    pub t: i64,
    pub reason: String,
    pub failing: Arc<[FailingNode]>,
}

/// Where the last plan left the rollout.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum End {
    /// No policy steers.
    #[default]
    Unsteered,
    Complete,
    Progressing,
    Paused,
    Stopped,
    RolledBack,
}

impl SteeredPhases {
    pub fn of(run: &Run<'_>, current: Option<&str>) -> Self {
        let mut steered = SteeredPhases::default();
        for event in run.events.iter().take_while(|event| event.t <= run.end) {
            match &event.change {
                Change::RolloutMoved { revision, report, .. } if Some(revision.as_str()) == current => {
                    steered.add(run.offset(event.t).max(0), report);
                }
                _ => {}
            }
        }
        if let Some(undone) = undone_at(run.events).and_then(|at| run.events.get(at)) {
            // The reports after it are those of the version that has come back.
            steered.close(run.offset(undone.t).max(0), Some(PhaseKind::WayBack));
            steered.end = End::RolledBack;
        }
        if let Some(last) = steered.phases.last_mut() {
            last.to = last.to.min(run.length());
        }
        steered.phases.retain(|phase| phase.from < phase.to);
        steered
    }

    fn add(&mut self, t: i64, report: &RolloutReport) {
        for (number, wave) in report.waves.iter().enumerate() {
            for node in wave.nodes.iter() {
                if !self.waves.contains_key(node.as_str()) {
                    self.waves.insert(node.as_str().to_owned(), number);
                }
            }
        }
        let (end, failed) = match &report.stage {
            RolloutStage::Progressing => (End::Progressing, None),
            RolloutStage::Paused => (End::Paused, None),
            RolloutStage::Stopped { reason, .. } => (End::Stopped, Some(reason)),
            RolloutStage::RolledBack { reason, .. } => (End::RolledBack, Some(reason)),
            _ => (End::Complete, None),
        };
        self.end = end;
        self.failure = match (self.failure.take(), failed) {
            (None, Some(reason)) => {
                Some(VersionFailure { t, reason: reason.clone(), failing: Arc::clone(&report.failing) })
            }
            (before, Some(_)) => before,
            // A person has removed the mark.
            (_, None) => None,
        };
        let kind = match end {
            End::Unsteered | End::Complete => None,
            End::Progressing => going_on(report),
            End::Paused => Some(PhaseKind::Paused),
            End::Stopped => Some(PhaseKind::Stopped),
            End::RolledBack => Some(PhaseKind::WayBack),
        };
        self.close(t, kind);
    }

    /// Ends the last phase, unless it goes on, and begins this one.
    fn close(&mut self, t: i64, kind: Option<PhaseKind>) {
        // A phase that nothing has ended reaches beyond every instant.
        let open = self.phases.last_mut().filter(|last| last.to == i64::MAX);
        match open {
            Some(last) if Some(last.kind) == kind => return,
            Some(last) => last.to = t,
            None => {}
        }
        self.phases.extend(kind.map(|kind| RolloutPhase { from: t, to: i64::MAX, kind }));
    }

    /// The way back ends when all nodes are there.
    pub fn end_way_back(&mut self, back: Option<i64>) {
        if let (Some(back), Some(last)) = (back, self.phases.last_mut())
            && last.kind == PhaseKind::WayBack
        {
            last.to = last.to.min(back).max(last.from + 1);
        }
    }
}

/// The phase of the last open wave.
fn going_on(report: &RolloutReport) -> Option<PhaseKind> {
    let is_open = |progress: WaveProgress| {
        matches!(progress, WaveProgress::Updating | WaveProgress::Baking { .. } | WaveProgress::Done)
    };
    let Some(last) = report.waves.iter().rposition(|wave| is_open(wave.progress)) else {
        let approval =
            report.waves.first().is_some_and(|wave| wave.progress == WaveProgress::WaitsForApproval);
        return Some(if approval { PhaseKind::Approval(0) } else { PhaseKind::Updating(None) });
    };
    match (report.waves.get(last)?.progress, report.waves.get(last + 1).map(|wave| wave.progress)) {
        (WaveProgress::Baking { .. }, _) => Some(PhaseKind::Baking(last)),
        (_, Some(WaveProgress::WaitsForApproval)) => Some(PhaseKind::Approval(last + 1)),
        (WaveProgress::Done, None) => None,
        _ => Some(PhaseKind::Updating(Some(last))),
    }
}

impl PhaseKind {
    /// The class in the style sheet.
    pub fn class(self) -> &'static str {
        match self {
            PhaseKind::Updating(_) => "updating",
            PhaseKind::Baking(_) => "baking",
            PhaseKind::Approval(_) | PhaseKind::Paused => "waiting",
            PhaseKind::Stopped | PhaseKind::WayBack => "wayback",
        }
    }

    /// In words, beside its wave.
    pub fn words(self) -> String {
        match self {
            PhaseKind::Updating(None) => "update".to_owned(),
            PhaseKind::Updating(Some(wave)) => format!("wave {wave}"),
            PhaseKind::Baking(_) => "bake".to_owned(),
            PhaseKind::Approval(wave) => format!("wave {wave} waits for approval"),
            PhaseKind::Paused => "paused".to_owned(),
            PhaseKind::Stopped => "stopped".to_owned(),
            PhaseKind::WayBack => "way back".to_owned(),
        }
    }

    /// In the legend.
    pub fn meaning(self) -> &'static str {
        match self {
            PhaseKind::Updating(_) => "updating",
            PhaseKind::Baking(_) => "baking",
            PhaseKind::Approval(_) | PhaseKind::Paused => "waits for a person",
            PhaseKind::Stopped => "stopped",
            PhaseKind::WayBack => "way back",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PhaseKind::{Approval, Baking, Paused, Stopped, Updating, WayBack};
    use super::*;
    use crate::figures::Figures;
    use crate::timeline::Timeline;
    use crate::{html, svg};
    use daemonset::Policy;
    use daemonset::model::Labels;
    use daemonset_sim::{Behaviour, Cluster, Distribution, Settings, Steering};
    use jiff::{SignedDuration, Timestamp};
    use roxmltree::Document;
    use serde_json::{Value, json};

    const MINUTE: SignedDuration = SignedDuration::from_mins(1);

    /// Version 2 of a DaemonSet, released on so many nodes under this policy, a minute after the start; 15 minutes of it.
    fn released(
        nodes: u32,
        policy: &Value,
        behaviour: Behaviour,
        story: impl FnOnce(&mut Cluster),
    ) -> Cluster {
        let mut settings = Settings::default().container_statuses(true);
        settings.controller.reads_annotations = true;
        settings.controller.policy = Policy::default()
            .rollout(serde_json::from_value::<daemonset::policy::RolloutPolicy>(policy.clone()).unwrap());
        let mut cluster = Cluster::with_settings(settings, 3, Timestamp::from_second(1_700_000_000).unwrap());
        for node in 0..nodes {
            cluster.add_node(&format!("node-{node}"), Labels::default());
        }
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}});
        let template =
            json!({"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"image": "v1"}]}});
        let spec = json!({"selector": {"matchLabels": {"app": "a"}}, "template": template, "updateStrategy": strategy});
        let daemon_set = json!({"metadata": {"name": "a", "namespace": "ns"}, "spec": spec});
        cluster.create_daemon_set(serde_json::from_value(daemon_set).unwrap());
        cluster.run_until_quiet(MINUTE * 60).unwrap();
        cluster.release(behaviour, |template| template["spec"]["containers"][0]["image"] = "v2".into());
        story(&mut cluster);
        cluster.run_for(MINUTE * 15);
        cluster
    }

    fn run(cluster: &Cluster) -> Run<'_> {
        let start = cluster.now().checked_sub(MINUTE * 16).unwrap();
        Run {
            label: "ns/a".to_owned(),
            events: cluster.history(),
            start,
            end: cluster.now(),
            summary: Vec::new(),
        }
    }

    fn kinds(cluster: &Cluster) -> Vec<PhaseKind> {
        Timeline::of(&run(cluster)).steered.phases.iter().map(|phase| phase.kind).collect()
    }

    fn canary(on_failure: &Value) -> Value {
        json!({"waves": [{"upTo": 2, "bakeSeconds": 60}, {}], "onFailure": on_failure})
    }

    #[test]
    fn a_good_version_updates_and_bakes_wave_after_wave() {
        let cluster = released(10, &canary(&json!({})), Behaviour::default(), |_| {});
        assert_eq!(kinds(&cluster), [Updating(Some(0)), Baking(0), Updating(Some(1))]);
        let timeline = Timeline::of(&run(&cluster));
        assert_eq!(timeline.steered.end, End::Complete);
        let phases = &timeline.steered.phases;
        assert!(phases.windows(2).all(|pair| pair[0].to == pair[1].from), "{phases:?}");
        let baked = phases[1].to - phases[1].from;
        assert!((58_000..62_000).contains(&baked), "{baked}");
        let waves: Vec<Option<usize>> = timeline.rows.iter().map(|row| timeline.wave_of(row)).collect();
        assert!(waves.is_sorted() && waves.iter().filter(|wave| **wave == Some(0)).count() == 2, "{waves:?}");
    }

    #[test]
    fn the_way_back_ends_when_the_last_node_is_available() {
        let policy = canary(&json!({"action": "RollBack", "availableWithinSeconds": 90}));
        let cluster = released(10, &policy, Behaviour::broken(), |_| {});
        assert_eq!(kinds(&cluster), [Updating(Some(0)), WayBack]);
        let timeline = Timeline::of(&run(&cluster));
        let [updating, way_back] = &timeline.steered.phases[..] else { panic!() };
        assert!(way_back.from - updating.from > 90_000 && way_back.to < way_back.from + 60_000);
        assert_eq!((Some(way_back.to), timeline.steered.end), (timeline.back, End::RolledBack));
        let failure = timeline.steered.failure.unwrap();
        assert_eq!((failure.t, failure.reason.as_str()), (way_back.from, "TooManyFailures"));
    }

    /// The template of the version before comes back, and with it every node.
    #[test]
    fn an_undo_is_a_way_back() {
        let policy = canary(&json!({"action": "Undo", "availableWithinSeconds": 90}));
        let cluster = released(10, &policy, Behaviour::broken(), |_| {});
        let timeline = Timeline::of(&run(&cluster));
        let kinds: Vec<PhaseKind> = timeline.steered.phases.iter().map(|phase| phase.kind).collect();
        assert_eq!(kinds.first(), Some(&Updating(Some(0))));
        let way_back = timeline.steered.phases.last().unwrap();
        assert_eq!((way_back.kind, Some(way_back.to)), (WayBack, timeline.back));
        assert!(way_back.to < way_back.from + 60_000, "{way_back:?}");
        assert_eq!(timeline.steered.failure.as_ref().unwrap().reason, "TooManyFailures");
        let figures = Figures::of(&run(&cluster), &timeline);
        let outcome = figures.outcome(timeline.length);
        assert!(
            outcome.starts_with("Failed after 1m3") && outcome.contains("on the old version again"),
            "{outcome}"
        );
        assert_eq!((figures.reached, figures.end_of_rollout().unwrap().1), (1, "all back"));
    }

    /// Nodes that never changed are in the order of their numbers within a wave: 10 and 11 are in wave 1, by name.
    #[test]
    fn rows_are_grouped_by_wave() {
        let policy =
            json!({"waves": [{"upTo": 2}, {"upTo": 4}, {}], "onFailure": {"availableWithinSeconds": 90}});
        let cluster = released(12, &policy, Behaviour::broken(), |_| {});
        let timeline = Timeline::of(&run(&cluster));
        let rows: Vec<(&str, Option<usize>)> =
            timeline.rows.iter().map(|row| (row.node.as_str(), timeline.wave_of(row))).collect();
        assert!(rows.is_sorted_by_key(|(_, wave)| *wave), "{rows:?}");
        assert_eq!(rows[2..5], [("node-10", Some(1)), ("node-11", Some(1)), ("node-2", Some(2))]);
    }

    #[test]
    fn a_person_shows_as_pauses_and_approvals() {
        let policy = json!({"waves": [{"upTo": 1}, {"needsApproval": true}]});
        let cluster = released(4, &policy, Behaviour::default(), |cluster| {
            for (minute, steering) in
                [(4, Steering::Pause), (6, Steering::Resume), (8, Steering::Approve { waves: 2 })]
            {
                cluster.steer_at(cluster.now().checked_add(MINUTE * minute).unwrap(), steering);
            }
        });
        let expected = [Updating(Some(0)), Approval(1), Paused, Approval(1), Updating(Some(1))];
        assert_eq!(kinds(&cluster), expected);
        let stopped =
            released(4, &canary(&json!({"availableWithinSeconds": 90})), Behaviour::broken(), |_| {});
        assert_eq!(kinds(&stopped), [Updating(Some(0)), Stopped]);
    }

    /// With rows, and with layers.
    #[test]
    fn every_picture_of_a_steered_rollout_is_well_formed_and_names_its_phases() {
        let crashes = Behaviour::default().lifetime(Some(Distribution::fixed(SignedDuration::from_secs(40))));
        let policy = canary(&json!({"action": "RollBack", "maxRestarts": 1}));
        for nodes in [12, 250] {
            let cluster = released(nodes, &policy, crashes, |_| {});
            let run = run(&cluster);
            let picture = svg::timeline(&run);
            let document = Document::parse(&picture).unwrap();
            let of_class = |prefix: &str| -> Vec<&str> {
                document
                    .descendants()
                    .filter_map(|node| node.attribute("class")?.strip_prefix(prefix))
                    .collect()
            };
            for class in ["updating", "baking", "wayback"] {
                assert!(of_class("phase ").contains(&class) && of_class("chip ").contains(&class), "{class}");
            }
            assert_eq!(of_class("failure").len(), 1);
            assert_eq!(picture.contains(">wave 1</text>"), nodes == 12, "only rows have brackets");
            assert!(picture.contains("failed: 1 node: too many restarts"), "{nodes} nodes");
            assert!(html::page(&run).contains(&picture) && !picture.contains("NaN"));
        }
    }
}
