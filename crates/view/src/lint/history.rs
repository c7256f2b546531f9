//! The revision history: stored templates, and the hashes of pods.

use super::context::{LintContext, is_live};
use super::finding::{Finding, Rule, Severity};
use super::format::{count, names};
use super::manifest::Manifest;
use daemonset::report::Evidence;
use serde_json::Value;

/// The position at which the API server stores its own directive in a revision.
pub(super) const DIRECTIVE_ON_TOP: &str = "spec.template.$patch";

/// No revision could ever equal such a template, so that each pass would create another revision.
pub(super) fn directive(path: &str) -> Finding {
    Finding::new(Rule::NeverEqualsItsRevision, Severity::Error, path)
        .why("A revision is a patch, and would read this as a directive: no template restored from it is equal to this one")
        .remedy("Remove it from the template; directives belong into the patch that is sent")
}

/// Directives below the top level; the snapshot's check refuses the one at the top.
pub(super) fn directives_below(manifest: &Manifest<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut open = vec![("spec.template".to_owned(), &manifest.daemon_set.spec.template)];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::Object(members) => {
                for (key, member) in members.iter().filter(|(_, member)| !member.is_null()) {
                    let path = format!("{path}.{key}");
                    if is_directive(key) && path != DIRECTIVE_ON_TOP {
                        found.push(directive(&path));
                    } else {
                        open.push((path, member));
                    }
                }
            }
            Value::Array(items) => {
                open.extend(items.iter().enumerate().map(|(index, item)| (format!("{path}[{index}]"), item)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}

/// v1.36 `apimachinery/pkg/util/strategicpatch/patch.go`.
fn is_directive(key: &str) -> bool {
    let lists = ["$setElementOrder/", "$deleteFromPrimitiveList/"];
    matches!(key, "$patch" | "$retainKeys") || lists.into_iter().any(|list| key.starts_with(list))
}

pub(super) fn limit_zero(manifest: &Manifest<'_>) -> Option<Finding> {
    let finding = Finding::new(Rule::HistoryLimitZero, Severity::Warning, "spec.revisionHistoryLimit")
        .why("It is 0: once an update is through there is no revision left to undo it by")
        .remedy("Keep one at least; the default is 10");
    (manifest.daemon_set.spec.revision_history_limit == Some(0)).then_some(finding)
}

/// Live pods whose hash belongs to no revision, although there are revisions: their revision was deleted.
pub(super) fn revisions_lost(context: &LintContext<'_>) -> Option<Finding> {
    let lost = context.pods().filter(|pod| pod.evidence == Evidence::UnknownRevision && is_live(pod));
    let lost: Vec<&str> = lost.map(|pod| pod.pod.name.as_str()).collect();
    let number = lost.len() as u64;
    let finding = Finding::new(Rule::RevisionsLost, Severity::Warning, "spec.template")
        .why(format_args!(
            "{} carr{} the hash of a revision that is not there, and count{} as outdated whatever the template is: {}",
            count(number, "pod"),
            if number == 1 { "ies" } else { "y" },
            if number == 1 { "s" } else { "" },
            names(lost)
        ))
        .remedy("Restore the ControllerRevision if the pods run this template; else the next update replaces them, within the budget");
    (number > 0 && !context.preflight.revisions.is_empty()).then_some(finding)
}
