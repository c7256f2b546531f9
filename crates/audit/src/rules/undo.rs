//! The rule of a restored template: it is that of the stable revision, and comes once the marks of its undo are there.

use crate::facts::lineage::Member;
use crate::fleet::context::Context;
use crate::goals::has_failed;
use crate::goals::undo::{Undone, awaits_template, is_asked_for, restored_at, undone_number};
use crate::kind::ViolationKind;
use crate::violation::Findings;
use daemonset::Action;
use daemonset::model::ObjectRef;
use serde_json::{Value, json};

/// Checks each restored template.
pub(super) fn check(context: &Context<'_>, findings: &mut Findings<'_>) {
    for (index, action) in context.actions.iter().enumerate() {
        let Action::RestoreTemplate { daemon_set, revision, patch, .. } = action else { continue };
        let is_second = context.actions.iter().take(index).any(|earlier| earlier.kind() == action.kind());
        let field = is_second.then_some("order").or_else(|| wrong_time(context));
        let field = field.or_else(|| wrong_object(context, daemon_set, revision, patch));
        if let Some(field) = field {
            findings.add(index, ViolationKind::WrongRestore { field });
        }
    }
}

/// The first reason against any restore now.
fn wrong_time(context: &Context<'_>) -> Option<&'static str> {
    let (snapshot, lineage) = (context.snapshot, &context.lineage);
    let policy = &snapshot.spec().policy;
    if !policy.rollout.as_ref().is_some_and(is_asked_for) {
        return Some("policy");
    }
    let annotations = lineage.current().map(|current| current.view.annotations);
    let undone = annotations.and_then(|annotations| Undone::read(annotations, &policy.mark_prefix));
    // The marks of this list do not justify it: the snapshot must show them.
    let Some(undone) = undone.filter(|_| undone_number(snapshot, lineage).is_some()) else {
        return Some("marks");
    };
    let writes_status = context.actions.iter().any(|action| matches!(action, Action::UpdateStatus { .. }));
    if awaits_template(snapshot, lineage) || writes_status {
        Some("order")
    } else if undone.generation != snapshot.spec().daemon_set.metadata.generation {
        Some("generation")
    } else {
        (!undone.is_young(snapshot.now())).then_some("age")
    }
}

fn wrong_object(
    context: &Context<'_>,
    daemon_set: &ObjectRef,
    revision: &ObjectRef,
    patch: &Value,
) -> Option<&'static str> {
    let (snapshot, lineage) = (context.snapshot, &context.lineage);
    let prefix = snapshot.spec().policy.mark_prefix.as_str();
    if daemon_set.resource_version != snapshot.spec().daemon_set.metadata.resource_version {
        return Some("precondition");
    }
    let named = |member: &&Member<'_>| {
        (member.view.name, member.view.uid) == (revision.name.as_str(), revision.uid.as_str())
    };
    let Some(member) = lineage.members.iter().find(named).filter(|member| !member.equal) else {
        return Some("revision");
    };
    let failed = undone_number(snapshot, lineage)?;
    let is_stable = context.goals.stable().is_some_and(|stable| stable.view.uid == member.view.uid);
    if has_failed(member.view, prefix) || !is_stable || restored_at(member, prefix, failed).is_none() {
        return Some("revision");
    }
    let mut template = member.view.data.pointer("/spec/template").cloned().unwrap_or_default();
    template.as_object_mut().map(|members| members.insert("$patch".to_owned(), json!("replace")));
    (*patch != json!({"spec": {"template": template}})).then_some("patch")
}
