//! A DaemonSet from a typed one.

use crate::model::{DaemonSet, IntOrString, RollingUpdate, TemplateFidelity};
use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::apimachinery::pkg::util::intstr;
use serde_json::Value;

impl DaemonSet {
    /// Takes a typed DaemonSet, which has lost every field that the version of Kubernetes it is typed for does not know.
    ///
    /// Its template is marked as [`TemplateFidelity::Typed`]: a stored revision that is the same after the same loss is
    /// taken to hold it. So no revision is created, and no pod is outdated, because a field was lost; new pods are made
    /// from the stored template and have the field. But two things can't be helped. A change of lost fields alone is not
    /// seen. And where the change of a known field makes a new revision, this revision and its pods are without the
    /// lost fields. Who can watch [`DaemonSet`] itself has neither.
    ///
    /// Limits that no API server lets through, such as a negative number, are told by
    /// [`SnapshotBuilder::check`](crate::SnapshotBuilder::check), as 4294967295.
    pub fn lossy_from(typed: &apps::DaemonSet) -> DaemonSet {
        let strategy = typed.spec.as_ref().and_then(|spec| spec.update_strategy.as_ref());
        let limits = strategy.and_then(|strategy| strategy.rolling_update.as_ref());
        let mut json = serde_json::to_value(typed).unwrap_or_default();
        let strategy = json.pointer_mut("/spec/updateStrategy").and_then(Value::as_object_mut);
        strategy.map(|strategy| strategy.remove("rollingUpdate"));
        // The same types with fewer fields: but for the limits there is nothing in it that can't be read.
        let mut ds: DaemonSet = serde_json::from_value(json).unwrap_or_default();
        ds.spec.update_strategy.rolling_update = limits.map(|limits| RollingUpdate {
            max_unavailable: limits.max_unavailable.as_ref().map(limit),
            max_surge: limits.max_surge.as_ref().map(limit),
        });
        ds.template_fidelity = TemplateFidelity::Typed;
        ds
    }
}

/// One that is out of range in place of one that can't be read.
fn limit(typed: &intstr::IntOrString) -> IntOrString {
    let json = match typed {
        intstr::IntOrString::Int(number) => Value::from(*number),
        intstr::IntOrString::String(text) => Value::from(text.as_str()),
    };
    IntOrString::from_json(&json).unwrap_or(IntOrString::Int(u32::MAX))
}
