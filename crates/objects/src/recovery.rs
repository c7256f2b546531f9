//! Template recovery: the full template of a DaemonSet that has lost fields.

use crate::kubernetes::Selector;
use crate::model::{DaemonSet, TemplateFidelity};
use crate::view::RevisionView;
use serde_json::Value;
use std::borrow::Cow;

/// The template of a stored revision, in place of a DaemonSet's that has lost fields; `None` where the DaemonSet's is exact, or no
/// revision has the fields. So no revision is created and no pod becomes outdated because a field was lost, and new pods have the
/// field again.
#[cfg_attr(not(feature = "k8s-openapi"), expect(unused_variables, reason = "each template is exact"))]
pub fn recovered_template<'a>(
    ds: &'a DaemonSet,
    selector: &Selector<'_>,
    revisions: &[RevisionView<'a>],
    inputs: &Value,
) -> Option<Cow<'a, Value>> {
    match ds.template_fidelity {
        TemplateFidelity::Exact => None,
        #[cfg(feature = "k8s-openapi")]
        TemplateFidelity::Typed => crate::k8s_openapi::stored_template(ds, selector, revisions, inputs),
    }
}
