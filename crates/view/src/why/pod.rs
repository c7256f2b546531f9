//! A pod: the node that it is on, or why it belongs to no DaemonSet here.

use crate::case::View;
use crate::cause::why_node;
use crate::plan::Planned;
use crate::why::{AboutDaemonSet, WhyAnswer, no_plan};
use crate::words;
use daemonset::kubernetes::well_known::PULL_OWNER_LABEL;
use daemonset::model::Pod;
use daemonset::report::{Situation, Warning};
use daemonset::{Action, Plan};

/// Why a pod is as it is.
pub fn about<'a>(pod: &'a Pod, planned: &'a [Planned], view: &View<'a>) -> WhyAnswer<'a> {
    let (name, namespace) = (pod.metadata.name.as_str(), pod.metadata.namespace.as_str());
    let mut daemon_sets = Vec::new();
    for planned in planned {
        let verdict = planned.plan.as_ref().ok().and_then(|plan| {
            let case = view.case(planned, plan);
            plan.report.nodes.iter().find_map(|node| {
                let pod = node.pods.iter().find(|it| it.pod.name == name && it.pod.namespace == namespace)?;
                Some((case, node, pod))
            })
        });
        if let Some((case, node, verdict)) = verdict {
            daemon_sets.push(AboutDaemonSet {
                name: &planned.name,
                verdict: Some(node),
                pod: Some(verdict),
                detail: planned.details.get(node.node.as_str()),
                sentences: case.sentences_of_pod(node, verdict),
                commands: case.look(node),
            });
        } else if let Some(sentence) = without_verdict(pod, planned, view) {
            let kept = planned.plan.as_ref().ok().and_then(|plan| {
                let is_gone = view.models.node(&pod.spec.node_name).is_none() && pod.is_bound();
                let case = view.case(planned, plan);
                match is_gone {
                    true => case.stray_pod(pod).map(|finding| (finding.text, finding.commands)),
                    false => case.kept(pod),
                }
            });
            let (kept, commands) = kept.unzip();
            let kept = kept.map(|text| format!("{}.", words::capitalized(&text)));
            daemon_sets.push(AboutDaemonSet {
                name: &planned.name,
                verdict: None,
                pod: None,
                detail: None,
                sentences: [Some(sentence), kept].into_iter().flatten().collect(),
                commands: commands.unwrap_or_default(),
            });
        }
    }
    let sentences = if daemon_sets.is_empty() { vec![foreign(pod)] } else { Vec::new() };
    WhyAnswer { kind: "Pod", name, now: view.now, sentences, daemon_sets }
}

/// The pod is the DaemonSet's, and has no verdict; `None` if it is another's.
fn without_verdict(pod: &Pod, planned: &Planned, view: &View<'_>) -> Option<String> {
    let owner = pod.metadata.owner_references.iter().find(|owner| owner.controller == Some(true));
    let is_its = owner.is_some_and(|owner| owner.uid == planned.daemon_set.metadata.uid);
    match &planned.plan {
        Err(error) => is_its.then(|| no_plan(error)),
        Ok(plan) => outside(plan, pod, planned, view).or_else(|| {
            is_its.then(|| match plan.report.situation {
                Situation::Synced => {
                    "The DaemonSet is its controller, and this plan leaves it alone.".to_owned()
                }
                _ => view.case(planned, plan).situation(),
            })
        }),
    }
}

/// The pod is the DaemonSet's, or was until this plan, and has no node among the verdicts.
fn outside(plan: &Plan, pod: &Pod, planned: &Planned, view: &View<'_>) -> Option<String> {
    let name = &pod.metadata.name;
    let is_it = |names: &[String]| {
        names.contains(name) && pod.metadata.namespace == planned.daemon_set.metadata.namespace
    };
    let warned = plan.warnings.iter().find_map(|warning| match warning {
        Warning::PodsWithoutTarget { pods, .. } if is_it(pods) => {
            Some("It has neither a node nor one to go to: it is left alone.".to_owned())
        }
        Warning::PodsOnUnknownNodes { pods, .. } if is_it(pods) => Some(format!(
            "Its node {} is not in the cluster: it is left to the pod garbage collector.",
            pod.spec.node_name
        )),
        _ => None,
    });
    let done = plan.actions.iter().find_map(|action| match action {
        Action::ReleasePod { pod: released, .. } if released.uid == pod.metadata.uid => {
            Some("The selector no longer matches its labels: this plan releases it, and it runs on without a DaemonSet.".to_owned())
        }
        Action::DeletePod { pod: deleted, reason, .. } if deleted.uid == pod.metadata.uid => {
            Some(format!("This plan deletes it: {}.", crate::words::deleting(*reason)))
        }
        _ => None,
    });
    done.or(warned).or_else(|| pulls(pod, planned, view))
}

/// It pulls images for the DaemonSet, and is none of its pods.
fn pulls(pod: &Pod, planned: &Planned, view: &View<'_>) -> Option<String> {
    let (meta, ds) = (&pod.metadata, &planned.daemon_set.metadata);
    let is_its = meta.labels.get(PULL_OWNER_LABEL) == Some(ds.uid.as_str()) && meta.namespace == ds.namespace;
    let node = planned
        .details
        .iter()
        .find(|(_, detail)| detail.pull.as_ref().is_some_and(|pull| pull.pod.as_ref() == Some(&meta.name)));
    let waits = match node {
        Some((node, _)) => {
            let why = why_node(view, &planned.name, node.as_str());
            format!(" Node {node} waits for it: {why} tells for which images.")
        }
        None => " No node waits for it now.".to_owned(),
    };
    is_its.then(|| format!("It pulls images for an update of the DaemonSet, and runs nothing: it is no daemon, and counts nowhere.{waits}"))
}

/// Its controller is something else, or nothing.
fn foreign(pod: &Pod) -> String {
    let meta = &pod.metadata;
    let owner = meta.owner_references.iter().find(|owner| owner.controller == Some(true));
    let node = match pod.spec.node_name.as_str() {
        "" => String::new(),
        node => format!(" on {node}"),
    };
    match owner {
        Some(owner) => format!(
            "Pod {}/{}{node} belongs to none of these DaemonSets: its controller is {} {}.",
            meta.namespace, meta.name, owner.kind, owner.name
        ),
        None => format!(
            "Pod {}/{}{node} belongs to none of these DaemonSets: it has no controller, and no selector matches its labels.",
            meta.namespace, meta.name
        ),
    }
}
