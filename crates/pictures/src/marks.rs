//! Events of the rollout as a whole: changes of the spec, crashes of the controller.

use crate::run::Run;
use daemonset::model::{DaemonSetSpec, IntOrString};
use daemonset_sim::{Actor, Change};

#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    pub t: i64,
    pub kind: MarkKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum MarkKind {
    /// A person changed the spec; in words.
    SpecChanged(String),
    /// A controller died.
    Crashed,
    /// A person paused the rollout, let it go on, or approved waves; in words.
    Steered(String),
    /// The new version failed; in words.
    Failed(String),
}

pub fn marks(run: &Run<'_>) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut before: Option<&DaemonSetSpec> = None;
    for event in run.events.iter().take_while(|event| event.t <= run.end) {
        let t = run.offset(event.t);
        match &event.change {
            Change::DaemonSetChanged { template_changed, spec, .. } => {
                if t >= 0 && event.by == Actor::User && before.is_some() {
                    let text = changes(before, spec, *template_changed);
                    marks.push(Mark { t, kind: MarkKind::SpecChanged(text) });
                }
                before = Some(spec);
            }
            Change::RolloutSteered { annotations, .. } if t >= 0 => {
                let words = annotations.iter().map(|(key, value)| steering(key, value.as_deref()));
                let words = words.collect::<Vec<_>>().join(", ");
                marks.push(Mark { t, kind: MarkKind::Steered(words) });
            }
            Change::ControllerCrashed { .. } | Change::OtherControllerCrashed { .. } => {
                marks.push(Mark { t, kind: MarkKind::Crashed });
            }
            _ => {}
        }
    }
    marks
}

/// A changed annotation: `rollout.daemonset/approved: "7=2"`, say.
fn steering(key: &str, value: Option<&str>) -> String {
    let name = key.rsplit('/').next().unwrap_or(key);
    match (name, value) {
        ("paused", Some("true")) => "paused".to_owned(),
        ("paused", _) => "resumed".to_owned(),
        ("approved", Some(value)) => {
            // The count of approved waves; the last of them has the number before it.
            let count = value.split_once('=').and_then(|(_, count)| count.parse::<usize>().ok());
            let last = count.and_then(|count| count.checked_sub(1));
            last.map_or_else(|| "approval changed".to_owned(), |wave| format!("wave {wave} approved"))
        }
        (name, _) => format!("{name} changed"),
    }
}

fn changes(before: Option<&DaemonSetSpec>, spec: &DaemonSetSpec, template_changed: bool) -> String {
    let mut words = Vec::new();
    if template_changed {
        words.push("new template".to_owned());
    }
    let (old, new) = (before.map(settings).unwrap_or_default(), settings(spec));
    words.extend(new.into_iter().filter(|setting| !old.contains(setting)));
    if words.is_empty() { "spec changed".to_owned() } else { words.join(", ") }
}

/// The settings that decide a rollout, each in words: `maxUnavailable 10%`.
pub fn settings(spec: &DaemonSetSpec) -> Vec<String> {
    let strategy = &spec.update_strategy;
    let kind = if strategy.kind.is_empty() { "OnDelete" } else { &strategy.kind };
    let mut words = vec![kind.to_owned()];
    let limits = strategy.rolling_update.as_ref();
    let surge = limits.and_then(|it| it.max_surge).filter(|surge| !surge.is_zero());
    match (kind, surge) {
        ("RollingUpdate", Some(surge)) => words.push(format!("maxSurge {surge}")),
        ("RollingUpdate", None) => {
            let limit = limits.and_then(|it| it.max_unavailable).unwrap_or(IntOrString::Int(1));
            words.push(format!("maxUnavailable {limit}"));
        }
        ("SurgingRollingUpdate", _) => {
            let surge = strategy.surging_rolling_update.as_ref().and_then(|it| it.max_surge);
            words.push(format!("maxSurge {}", surge.unwrap_or(IntOrString::Int(1))));
        }
        _ => {}
    }
    words.push(match spec.min_ready_seconds {
        0 => "no minReadySeconds".to_owned(),
        seconds => format!("minReadySeconds {seconds}"),
    });
    words
}
