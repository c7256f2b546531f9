//! `kubectl daemonset rollout plan`: the waves of a policy with their nodes before anything happens, and where the rollout
//! would stop.

use crate::cluster::policy;
use crate::cluster::{Choice, Input, Needs, Source};
use crate::rollout::args::PlanArgs;
use crate::rollout::{failure, plain_table, steer, steered};
use crate::shell::console::{Format, Stop};
use crate::shell::response::Response;
use daemonset::policy::FailurePolicy;
use daemonset::report::{CurrentRevision, NodePlacement, RolloutStage, WaveProgress};
use daemonset::{Plan, Policy, plan};
use daemonset_view::steered::Steered;
use daemonset_view::turning;
use daemonset_view::words::{self, count};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The policy of the built-in example.
pub(crate) const EXAMPLE_POLICY: &str = include_str!("example-policy.yaml");
/// Names at most so many nodes.
const MOST_NAMES: usize = 10;

/// The waves before anything happens.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Preview<'a> {
    name: String,
    now: Timestamp,
    /// The revision that is rolled out.
    revision: Option<&'a CurrentRevision>,
    /// The revision of the nodes that the rollout has not reached.
    #[serde(rename = "base")]
    stable: Option<&'a str>,
    stage: &'a RolloutStage,
    /// Nodes that take part.
    nodes: u32,
    waves: Vec<WavePlan<'a>>,
    /// Where it stops until a person acts, in the order in which it gets there.
    stops: Vec<StopsAt<'a>>,
    on_failure: Option<&'a FailurePolicy>,
    /// What happens on each node before and after its pod is replaced.
    #[serde(skip_serializing_if = "Map::is_empty")]
    choices: Map<String, Value>,
}

/// A wave: its nodes, and the conditions under which it opens.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WavePlan<'a> {
    index: usize,
    nodes: Vec<&'a str>,
    /// Those that are in no wave before.
    new_nodes: Vec<&'a str>,
    /// How long the pods of the waves before must have been Ready.
    bake_seconds_before: u32,
    needs_approval: bool,
    is_approved: bool,
    progress: WaveProgress,
}

/// A point at which the rollout stops.
#[derive(Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
enum StopsAt<'a> {
    /// Already: the policy or a person has paused it.
    Paused,
    /// Already: the version has failed.
    Failed { reason: &'a str },
    /// A wave needs approval.
    Approval { wave: usize },
    /// Nodes in no wave keep the old version.
    NoWave { count: usize, nodes: Vec<&'a str> },
}

/// Reads the policy from a file or the annotations of the DaemonSet.
pub(crate) fn preview(args: &PlanArgs) -> Result<Response, Stop> {
    let (target, file) = args.target()?;
    let source = &target.source;
    let stop = |message: String| source.stop(message);
    let mut objects = match &file {
        Some(_) => source.objects(Needs::Plan)?,
        None => steer::objects(source, Needs::Plan, target.wanted.as_ref())?,
    };
    let title = file.as_ref().map(Source::to_string);
    if let Some(file) = &file {
        let bytes = file.bytes().map_err(|message| file.stop(message))?;
        let text = std::str::from_utf8(&bytes).map_err(|error| file.stop(error))?;
        objects.annotate(target.wanted.as_ref(), policy::POLICY, Some(text)).map_err(stop)?;
        let namespaces = objects.namespaces();
        source.learn_powers(&mut objects, namespaces).map_err(stop)?;
    }
    let choice = Choice { daemon_set: target.wanted, now: args.now, policy: None };
    let input = source.input_of(objects, &choice)?;
    if !input.policy_problems.is_empty() {
        let problems = policy::in_words(&input.policy_problems, title.as_deref());
        return Err(if title.is_some() { Stop::Input(problems) } else { stop(problems) });
    }
    let plan = plan(&input.snapshot().map_err(stop)?);
    let connection = source.connection();
    let Some(steered) = steered(&input, &plan, &connection) else {
        return Ok(Response::refusal(format_args!("error: {}", no_rollout(&input, &plan))));
    };
    source.announce(args.output)?;
    let preview = Preview::new(&input, &plan, &steered);
    match args.output {
        Format::Json => Response::json(&preview),
        Format::Text => {
            Ok(Response::text(preview.text(source, title.as_deref(), (&steered, &input.recording.policy))))
        }
    }
}

fn no_rollout(input: &Input, plan: &Plan) -> String {
    let name = &input.recording.daemon_set.metadata.name;
    match input.recording.policy.rollout {
        None => format!(
            "daemonsets.apps {name:?} has no rollout policy: all nodes are updated within the limits of its update strategy; \
             -f names a policy to try, annotation {} holds the one in force",
            policy::POLICY
        ),
        Some(_) => {
            format!("daemonsets.apps {name:?} has no rollout: {}", words::no_rollout(plan.report.situation))
        }
    }
}

impl<'a> Preview<'a> {
    fn new(input: &'a Input, plan: &'a Plan, steered: &Steered<'a>) -> Self {
        let report = steered.report;
        let mut preview = Preview {
            name: steered.full_name(),
            now: input.recording.now,
            revision: plan.report.current_revision.as_ref(),
            stable: report.stable.as_deref(),
            stage: &report.stage,
            nodes: report.nodes,
            waves: waves(steered, input.recording.daemon_set.spec.min_ready_seconds),
            stops: Vec::new(),
            on_failure: steered.policy.on_failure.as_ref(),
            choices: turning::choices(&input.recording.policy),
        };
        preview.stops = preview.find_stops(steered);
        preview
    }

    fn find_stops(&self, steered: &Steered<'a>) -> Vec<StopsAt<'a>> {
        let already = match self.stage {
            RolloutStage::Stopped { reason, .. } | RolloutStage::RolledBack { reason, .. } => {
                Some(StopsAt::Failed { reason })
            }
            RolloutStage::Paused => Some(StopsAt::Paused),
            RolloutStage::Complete | RolloutStage::Progressing | _ => None,
        };
        // Pausing after the end holds the next version.
        let paused = (self.is_over() && steered.policy.paused).then_some(StopsAt::Paused);
        let unapproved = self.waves.iter().filter(|wave| {
            wave.needs_approval && !wave.is_approved && (self.is_over() || !steered.is_open(wave.index))
        });
        let approvals = unapproved.map(|wave| StopsAt::Approval { wave: wave.index });
        let held = if self.is_over() { self.in_no_wave(steered) } else { steered.in_no_wave() };
        let no_wave = held.map(|(count, nodes)| StopsAt::NoWave { count, nodes });
        already.into_iter().chain(paused).chain(approvals).chain(no_wave).collect()
    }

    fn is_over(&self) -> bool {
        *self.stage == RolloutStage::Complete
    }

    /// Of a fleet that is rolled out: its next version finds all nodes outdated.
    fn in_no_wave(&self, steered: &Steered<'a>) -> Option<(usize, Vec<&'a str>)> {
        let in_waves: BTreeSet<&str> = self.waves.iter().flat_map(|wave| &wave.nodes).copied().collect();
        let left =
            steered.plan.report.nodes.iter().filter(|node| {
                node.placement == NodePlacement::Run && !in_waves.contains(node.node.as_str())
            });
        let left: Vec<&str> = left.map(|node| node.node.as_str()).collect();
        let has_waves = !self.waves.is_empty();
        (has_waves && !left.is_empty()).then_some((left.len(), left))
    }

    fn text(
        &self,
        source: &Source,
        file: Option<&str>,
        (steered, choices): (&Steered<'_>, &Policy),
    ) -> String {
        let each_node = turning::choices_in_words(choices).into_iter().enumerate();
        let each_node = each_node.map(|(line, text)| (if line == 0 { "Each node" } else { "" }, text));
        let policy = file.unwrap_or(match source {
            Source::Example { .. } => "built in",
            Source::Kubectl(_) | Source::File(_) | Source::Stdin => "in force",
        });
        let rollout = match self.stage {
            RolloutStage::Complete => "complete: the waves are those of the next version".to_owned(),
            _ => steered.summary(),
        };
        let mut lines = vec![
            ("DaemonSet", format!("{}, {source}", self.name)),
            ("Revision", self.revisions()),
            ("Policy", policy.to_owned()),
            ("Rollout", rollout),
        ];
        if self.waves.is_empty() {
            let nodes = count(self.nodes as usize, "node");
            lines.push(("Waves", format!("none: all {nodes} are released at once")));
            lines.extend(self.ends(steered));
            lines.extend(each_node);
            return in_lines(&lines);
        }
        let ends: Vec<_> = self.ends(steered).into_iter().chain(each_node).collect();
        format!("{}\n{}\n\n{}", in_lines(&lines), self.table(steered), in_lines(&ends))
    }

    /// Where the rollout stops, and why.
    fn ends(&self, steered: &Steered<'_>) -> Vec<(&'static str, String)> {
        let stops =
            self.stops.iter().enumerate().map(|(position, stop)| {
                (if position == 0 { "Stops" } else { "" }, stop_in_words(stop, steered))
            });
        let mut lines: Vec<_> = stops.collect();
        if lines.is_empty() {
            lines.push(("Stops", "nowhere, unless a node fails or does not become available".to_owned()));
        }
        lines.extend(self.failure());
        let may_hold = !self.waves.is_empty() || !self.stops.is_empty();
        if self.stable.is_none() && !self.is_over() && may_hold {
            let gets = "no old revision is left: a missing pod of a held node gets the new version";
            lines.push(("Stable", gets.to_owned()));
        }
        lines
    }

    fn revisions(&self) -> String {
        let revision = self.revision.map_or_else(
            || "unknown".to_owned(),
            |revision| format!("{} #{}, {}", revision.name, revision.number, words::origin(revision.origin)),
        );
        match self.stable {
            Some(stable) => format!("{revision}; stable revision {stable}"),
            None => format!("{revision}; no stable revision"),
        }
    }

    fn table(&self, steered: &Steered<'_>) -> String {
        let dash = || "-".to_owned();
        let rows = self.waves.iter().map(|wave| {
            let [index, nodes, new] =
                [wave.index, wave.nodes.len(), wave.new_nodes.len()].map(|number| number.to_string());
            // The next version has not begun.
            let now = if self.is_over() { dash() } else { steered.state(wave.index, wave.progress) };
            let names = match wave.new_nodes.as_slice() {
                [] => dash(),
                nodes => words::names(nodes, MOST_NAMES),
            };
            [index, nodes, new, self.opens(wave), now, names]
        });
        plain_table(["WAVE", "NODES", "NEW", "OPENS", "NOW", "NEW NODES"], rows)
    }

    /// The conditions under which the wave opens, without regard to how far the rollout is.
    fn opens(&self, wave: &WavePlan<'_>) -> String {
        let after = wave.index.checked_sub(1).map(|before| match wave.bake_seconds_before {
            0 => format!("when wave {before} is available"),
            seconds => {
                let bake = words::duration(SignedDuration::from_secs(seconds.into()));
                format!("when wave {before} is Ready for {bake}")
            }
        });
        let approval = match (wave.needs_approval, wave.is_approved) {
            (false, _) => None,
            (true, false) => Some("by approval"),
            (true, true) => Some("by approval, which it has"),
        };
        match (after, approval) {
            (None, None) => "at once".to_owned(),
            (None, Some(approval)) => approval.to_owned(),
            (Some(after), None) => after,
            (Some(after), Some(approval)) => format!("{after}, and {approval}"),
        }
    }

    fn failure(&self) -> Vec<(&'static str, String)> {
        match self.on_failure {
            None => {
                let nothing = "nothing is judged: a version that fails goes on as far as the limits let it";
                vec![("Failure", nothing.to_owned())]
            }
            Some(policy) => failure::lines(policy, self.stable.is_some() || self.is_over()),
        }
    }
}

/// Each with its label.
fn in_lines(lines: &[(&str, String)]) -> String {
    lines.iter().map(|(label, content)| format!("{label:<11}{content}\n")).collect()
}

fn waves<'a>(steered: &Steered<'a>, min_ready_seconds: i32) -> Vec<WavePlan<'a>> {
    let min_ready = u32::try_from(min_ready_seconds).unwrap_or(0);
    let mut before = 0;
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let waves = steered.report.waves.iter().zip(&steered.policy.waves).enumerate();
    waves
        .map(|(index, (report, wave))| {
            let nodes: Vec<&str> = report.nodes.iter().map(|node| node.as_str()).collect();
            let new_nodes = nodes.iter().copied().filter(|node| seen.insert(*node)).collect();
            let bake = wave.bake_seconds.max(min_ready);
            WavePlan {
                index,
                nodes,
                new_nodes,
                bake_seconds_before: std::mem::replace(&mut before, bake),
                needs_approval: wave.needs_approval,
                is_approved: is_approved(steered, index),
                progress: report.progress,
            }
        })
        .collect()
}

/// Of a fleet that is rolled out the next revision, which gets the next number, may be approved already.
fn is_approved(steered: &Steered<'_>, wave: usize) -> bool {
    match steered.report.stage {
        RolloutStage::Complete => {
            let next = steered.number().map(|number| number.saturating_add(1));
            let count = next.and_then(|number| steered.policy.approved.get(&number));
            count.is_some_and(|count| *count as usize > wave)
        }
        _ => steered.approved() as usize > wave,
    }
}

fn stop_in_words(stop: &StopsAt<'_>, steered: &Steered<'_>) -> String {
    match stop {
        StopsAt::Paused => format!("now: paused, until {}", steered.resume().join(", and ")),
        StopsAt::Failed { reason } => match steered.retry() {
            Some(retry) => format!("now: the version has failed ({reason}), until {retry}"),
            None => format!("now: the version has failed ({reason})"),
        },
        StopsAt::Approval { wave } => {
            format!("before wave {wave}, until {}", steered.approve(*wave))
        }
        StopsAt::NoWave { count: number, nodes } => {
            let verb = if *number == 1 { "is in no wave and keeps" } else { "are in no wave and keep" };
            let colon = if nodes.is_empty() { "" } else { ": " };
            let names = words::names(nodes, MOST_NAMES);
            format!("after the last wave: {} {verb} the old version{colon}{names}", count(*number, "node"))
        }
    }
}
