//! Lint of a DaemonSet against the cluster of a file.

use crate::rollout::args::{Format, From, named_or};
use crate::rollout::cluster::{Cluster, Object};
use crate::rollout::line::system_clock;
use crate::rollout::rollouts::chosen;
use crate::rollout::told::Told;
use crate::shell::console::Stop;
use daemonset::lint::{Finding, Preflight, lint};
use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod};
use std::path::PathBuf;

/// Exit code 0 whatever is found.
pub(crate) fn findings(from: &From, manifest: Option<&PathBuf>) -> Result<Told, Stop> {
    let found = match manifest {
        None => {
            let (cluster, chosen) = chosen(from)?;
            let told = |message: String| Stop::Input(format!("{}: {message}", from.source()));
            looked_at(&cluster, &chosen.daemon_set, None).map_err(told)?
        }
        Some(manifest) => {
            let source = named_or(Some(manifest), "");
            let told = |message: String| Stop::Input(format!("{source}: {message}"));
            let applied = Cluster::read(&source).and_then(|all| all.choose(None)).map_err(told)?.daemon_set;
            let (cluster, stored) = chosen(from)?;
            looked_at(&cluster, &applied, Some(&stored.daemon_set)).map_err(told)?
        }
    };
    match from.output {
        Format::Json => Told::json(&found),
        Format::Text => Ok(Told::words(text(&found))),
    }
}

fn looked_at(cluster: &Cluster, applied: &Object, stored: Option<&Object>) -> Result<Vec<Finding>, String> {
    let daemon_set: DaemonSet = applied.model()?;
    let stored_set: Option<DaemonSet> = stored.map(Object::model).transpose()?;
    let beside = &stored.unwrap_or(applied).value;
    let nodes: Vec<Node> = cluster.nodes()?;
    let pods: Vec<Pod> = cluster.pods_beside(beside)?;
    let revisions: Vec<ControllerRevision> = cluster.revisions_beside(beside)?;
    let others: Vec<DaemonSet> = cluster.others(beside)?;
    let now = cluster.now().unwrap_or_else(system_clock);
    let mut preflight = Preflight::new(&daemon_set, now);
    preflight = preflight.nodes(&nodes).pods(&pods).revisions(&revisions).daemon_sets(&others);
    if let Some(stored) = &stored_set {
        preflight = preflight.stored(stored);
    }
    if let Some(classes) = cluster.priority_classes() {
        preflight = preflight.priority_classes(classes);
    }
    Ok(lint(&preflight))
}

fn text(found: &[Finding]) -> String {
    if found.is_empty() {
        return "nothing to say\n".to_owned();
    }
    found.iter().map(|finding| format!("{finding}\n")).collect()
}
