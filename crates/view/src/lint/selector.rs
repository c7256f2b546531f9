//! The pods that the selector matches.

use super::context::LintContext;
use super::finding::{Finding, Rule, Severity};
use super::format::{count, names};
use super::manifest::Manifest;
use super::preflight::Preflight;
use daemonset::internal::{Ownership, Problems, Template};
use daemonset::kubernetes::Selector;
use daemonset::model::{DaemonSet, Uid};
use std::collections::BTreeSet;

const SELECTOR: &str = "spec.selector";

/// The API server refuses an empty selector; another server may accept it.
pub(super) fn everything() -> Finding {
    Finding::new(Rule::SelectsEverything, Severity::Error, SELECTOR)
        .why("It is empty and would choose every pod of the namespace: the controller does nothing but warn")
        .remedy("Choose the labels that the template gives its pods")
}

/// Other DaemonSets of the namespace whose selector matches the pods of this one, or the other way round.
pub(super) fn overlaps(preflight: &Preflight<'_>, manifest: &Manifest<'_>) -> Vec<Finding> {
    let ours = manifest.daemon_set;
    let is_other = |other: &&&DaemonSet| {
        let (a, b) = (&other.metadata, &ours.metadata);
        a.namespace == b.namespace && a.name != b.name && a.uid != b.uid
    };
    let mut others: Vec<&&DaemonSet> = preflight.others.iter().filter(is_other).collect();
    others.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    let finding = |other: &&&DaemonSet| {
        let (theirs, name) = (selects(other, ours), &other.metadata.name);
        let why = match (selects(ours, other), theirs) {
            (true, true) => format!(
                "It chooses the pods of DaemonSet {name}, whose selector chooses the pods of this one"
            ),
            (true, false) => format!("It chooses the pods of DaemonSet {name}"),
            (false, true) => format!("The selector of DaemonSet {name} chooses the pods of this one"),
            (false, false) => return None,
        };
        let finding = Finding::new(Rule::SelectorOverlaps, Severity::Warning, SELECTOR)
            .why(format_args!("{why}: pods without a controller go to whichever of them is first"))
            .remedy(
                "Give each DaemonSet a label of its own, and select by it; a selector can't be changed later",
            );
        Some(finding)
    };
    others.iter().filter_map(finding).collect()
}

/// Whether the selector of one matches the pods that the other creates. An empty selector has no effect.
fn selects(one: &DaemonSet, other: &DaemonSet) -> bool {
    let mut problems = Problems::default();
    let template = Template::parse(&other.spec.template, &mut problems);
    let selector = one.spec.selector.as_ref().and_then(|selector| Selector::new(selector, "").ok());
    problems.into_result().is_ok()
        && selector.is_some_and(|selector| {
            !selector.is_empty() && selector.matches_labels(&template.metadata.labels)
        })
}

/// Pods without a controller: orphans of an earlier DaemonSet, or pods created by hand.
pub(super) fn adopts(context: &LintContext<'_>) -> Option<Finding> {
    let claimed = context.snapshot.pods_with_facts().filter(|(_, pod, facts)| {
        facts.ownership == Ownership::Orphan && facts.selected && pod.deleted_at.is_none()
    });
    let views = claimed.map(|(_, pod, _)| pod);
    let key = &context.preflight.policy.unique_label_key;
    let by_hand = views.clone().filter(|view| !view.labels.contains_key(key)).count();
    let adopted: BTreeSet<&str> = views.clone().map(|view| view.uid).collect();
    let is_adopted = |uid: &Uid| adopted.contains(uid.as_str());
    let outdated = context.pods().filter(|pod| is_adopted(&pod.pod.uid) && !pod.updated).count();
    let severity = if by_hand > 0 { Severity::Warning } else { Severity::Advice };
    let details: Vec<String> = [(outdated, "outdated"), (by_hand, "never created by a DaemonSet")]
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!(" ({number} {what})"))
        .collect();
    let finding = Finding::new(Rule::AdoptsPods, severity, SELECTOR)
        .why(format_args!(
            "It adopts {} that nobody controls{}: {}",
            count(adopted.len() as u64, "pod"),
            details.concat(),
            names(views.map(|view| view.name))
        ))
        .remedy("Make sure that they are meant: they follow this template from then on, and of several pods of a node one is kept");
    (!adopted.is_empty()).then_some(finding)
}
