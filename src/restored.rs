//! The template that a decision is about: the DaemonSet's, or where that one has lost fields the stored one that has
//! them.

use crate::kubernetes::Selector;
use crate::model::{DaemonSet, TemplateFidelity};
use crate::view::RevisionView;
use serde_json::Value;
use std::borrow::Cow;

/// The DaemonSet's template as it is, if it is exact. If it has lost fields, the template of the revision that equals it
/// after the same loss; of several the one that history would keep, a released one last `[restored-template]`. So no
/// revision is created and no pod outdated because a field was lost, and new pods have the field again.
pub(crate) fn template<'a>(
    ds: &'a DaemonSet,
    #[cfg_attr(not(feature = "k8s-openapi"), expect(unused_variables))] selector: &Selector<'_>,
    #[cfg_attr(not(feature = "k8s-openapi"), expect(unused_variables))] revisions: &[RevisionView<'a>],
) -> Cow<'a, Value> {
    match ds.template_fidelity {
        TemplateFidelity::Exact => Cow::Borrowed(&ds.spec.template),
        #[cfg(feature = "k8s-openapi")]
        TemplateFidelity::Typed => {
            let template = &ds.spec.template;
            let ours = |revision: &&RevisionView<'a>| crate::claim::belongs(ds, selector, revision);
            let released = |revision: &&RevisionView<'a>| crate::namesake::is_named_by_content(ds, revision);
            crate::typed::restored(template, revisions.iter().filter(ours))
                .or_else(|| crate::typed::restored(template, revisions.iter().filter(released)))
                .unwrap_or(Cow::Borrowed(template))
        }
    }
}
