//! `kubectl daemonset rollout stuck`: whether a rollout moves, its obstacles, and how many rounds are left.

use crate::cluster::Choice;
use crate::rollout::args::From;
use crate::shell::console::{Format, LOOK, Stop};
use crate::shell::response::Response;
use crate::steered::Steered;
use crate::words::{self, count};
use daemonset::outlook::{ObstacleKind, Outlook, RolloutState};
use daemonset::plan;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

/// Names at most so many nodes.
const MOST_NAMES: usize = 10;

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    now: Timestamp,
    #[serde(flatten)]
    outlook: &'a Outlook,
}

/// Exit code 1 where nothing moves until somebody does something.
pub(crate) fn stuck(from: &From, patience: SignedDuration, now: Option<Timestamp>) -> Result<Response, Stop> {
    let (source, daemon_set) = from.resolve()?;
    let input = source.input(&Choice { daemon_set, now, policy: None })?;
    let plan = plan(&input.snapshot().map_err(|message| source.stop(message))?);
    let meta = &input.recording.daemon_set.metadata;
    let (name, now) = (&format!("{}/{}", meta.namespace, meta.name), input.recording.now);
    let outlook = Outlook::new(&plan, now, patience).map_err(|partial| source.stop(partial.to_string()))?;
    source.announce(from.output)?;
    let response = match from.output {
        Format::Json => Response::json(&Named { name, now, outlook: &outlook })?,
        Format::Text => {
            let invalid = Steered::of_input(&input, &plan).and_then(|steered| steered.invalid());
            let about = About { name, patience, invalid };
            Response::text(format!("{name}: {}", about.text(&outlook)))
        }
    };
    Ok(response.with_code(match outlook.state {
        RolloutState::Stuck { .. } => LOOK,
        _ => 0,
    }))
}

/// The facts beside an outlook that its words need.
struct About<'a> {
    name: &'a str,
    patience: SignedDuration,
    /// The problems of a policy that can't be read.
    invalid: Option<String>,
}

impl About<'_> {
    fn text(&self, outlook: &Outlook) -> String {
        let outdated = match outlook.outdated {
            0 => "no node has an outdated pod".to_owned(),
            1 => "1 node has an outdated pod".to_owned(),
            several => format!("{several} nodes have an outdated pod"),
        };
        let left = match outlook.rounds_left {
            None => outdated.clone(),
            Some(0) => format!("{outdated}, no round is left"),
            Some(rounds) => format!("{outdated}, about {} left", count(rounds as usize, "round")),
        };
        match &outlook.state {
            RolloutState::Complete => format!("complete: {outdated}\n"),
            RolloutState::Moving { acting, waiting, .. } => {
                let parts = [(*acting, "to act on"), (*waiting, "to wait for")];
                let parts = parts.into_iter().filter(|(nodes, _)| *nodes > 0);
                let parts = parts.map(|(nodes, what)| format!("{} {what}", count(nodes as usize, "node")));
                let parts = parts.chain([left]).collect::<Vec<_>>();
                format!("moves: {}\n", parts.join(", "))
            }
            RolloutState::Stuck { obstacles, .. } => {
                let mut text = format!("stuck: nothing moves until somebody does something; {left}\n");
                for obstacle in obstacles {
                    let nodes = words::names(&obstacle.nodes, MOST_NAMES);
                    let colon = if nodes.is_empty() { "" } else { ": " };
                    text.push_str(&format!("  {nodes}{colon}{}\n", self.in_the_way(obstacle.kind)));
                }
                text
            }
            other => format!("{other:?}; {left}\n"),
        }
    }

    fn in_the_way(&self, kind: ObstacleKind) -> String {
        let name = self.name;
        match kind {
            ObstacleKind::NotReady => format!(
                "the updated pod has not been Ready for {} or longer: look at its events and logs",
                words::duration(self.patience)
            ),
            ObstacleKind::RolloutPaused => match &self.invalid {
                Some(problems) => {
                    format!("the rollout counts as paused, since its policy is invalid: {problems}")
                }
                None => format!("{kind}: kubectl daemonset rollout resume {name}"),
            },
            ObstacleKind::WaitsForApproval => format!("{kind}: kubectl daemonset rollout approve {name}"),
            ObstacleKind::RolloutFailed => {
                format!("{kind}: kubectl daemonset rollout status {name} shows the evidence")
            }
            _ => kind.to_string(),
        }
    }
}
