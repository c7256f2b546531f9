//! Recovers the template of a decision: the DaemonSet's or, if that one has lost fields, the stored one that has them.

use crate::kubernetes::Selector;
use crate::model::{DaemonSet, TemplateFidelity};
use crate::objects::view::RevisionView;
use serde_json::Value;
use std::borrow::Cow;

/// In place of a DaemonSet's template that has lost fields: the template of the revision that equals it after the
/// same lossy round trip; of several the one that history would keep, a released one last `[restored-template]`. So no
/// revision is created and no pod becomes outdated because a field was lost, and new pods have the field again.
pub(crate) fn recovered_template<'a>(
    ds: &'a DaemonSet,
    #[cfg_attr(not(feature = "k8s-openapi"), expect(unused_variables))] selector: &Selector<'_>,
    #[cfg_attr(not(feature = "k8s-openapi"), expect(unused_variables))] revisions: &[RevisionView<'a>],
    #[cfg_attr(not(feature = "k8s-openapi"), expect(unused_variables))] ingredients: &Value,
) -> Option<Cow<'a, Value>> {
    match ds.template_fidelity {
        TemplateFidelity::Exact => None,
        #[cfg(feature = "k8s-openapi")]
        TemplateFidelity::Typed => {
            let template = &ds.spec.template;
            let ours = |revision: &&RevisionView<'a>| {
                crate::kubernetes::revision::claim(ds, selector, revision).is_ours()
            };
            let released = |revision: &&RevisionView<'a>| is_named_by_content(ds, ingredients, revision);
            crate::k8s_openapi::recovered(template, revisions.iter().filter(ours))
                .or_else(|| crate::k8s_openapi::recovered(template, revisions.iter().filter(released)))
        }
    }
}

/// Whether a revision has the name for its own content, and would be the current one for its own template. The
/// DaemonSet's template can't give that name, since it has lost fields.
#[cfg(feature = "k8s-openapi")]
fn is_named_by_content(ds: &DaemonSet, ingredients: &Value, revision: &RevisionView<'_>) -> bool {
    let named = |template: &Value| {
        let collisions = ds.status.collision_count.unwrap_or(0);
        let hash = crate::kubernetes::hash::content_hash(template, ingredients, collisions);
        revision.name == crate::kubernetes::revision::name(ds, &hash)
    };
    let stored = crate::k8s_openapi::stored(revision.data);
    revision.namespace == ds.metadata.namespace
        && stored.is_some_and(|template| {
            crate::kubernetes::revision::can_be_current(ds, (&template, ingredients), revision)
                && named(&template)
        })
}
