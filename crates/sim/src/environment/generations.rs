//! The generations of a DaemonSet, which rise with its spec and its template.

use crate::event::Change;
use daemonset::kubernetes::well_known::TEMPLATE_GENERATION_ANNOTATION;
use daemonset::model::DaemonSet;

/// As the API server does when it stores the changed DaemonSet.
pub(crate) fn raise_generations(stored: &DaemonSet, changed: &mut DaemonSet) -> TemplateChange {
    if changed.spec != stored.spec {
        changed.metadata.generation = stored.metadata.generation + 1;
    }
    if changed.spec.template == stored.spec.template {
        return TemplateChange::Same;
    }
    let annotations = &mut changed.metadata.annotations;
    let generation =
        annotations.get(TEMPLATE_GENERATION_ANNOTATION).and_then(|text| text.parse::<i64>().ok());
    if let Some(generation) = generation {
        *annotations = annotations.with(TEMPLATE_GENERATION_ANNOTATION, &(generation + 1).to_string());
    }
    TemplateChange::New
}

pub(crate) fn spec_changed(daemon_set: &DaemonSet, change: TemplateChange) -> Change {
    Change::DaemonSetChanged {
        generation: daemon_set.metadata.generation,
        template_changed: change == TemplateChange::New,
        spec: Box::new(daemon_set.spec.clone()),
    }
}

/// Whether an edit changed the template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TemplateChange {
    New,
    Same,
}
