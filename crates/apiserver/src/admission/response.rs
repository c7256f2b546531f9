//! Whole requests with everything that the API server says: the object that it stores or its refusal, and its warnings.

use super::request::{
    Patch, create_and_warn, patch_and_warn, patch_status_and_warn, update_and_warn, update_status_and_warn,
};
use super::warnings::as_headers;
use super::{Refusal, Rules};
use serde_json::Value;

/// A request for one DaemonSet.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Request<'a> {
    /// As [`create`](super::create).
    Create(&'a Value),
    /// The stored object and its replacement, as [`update`](super::update).
    Update(&'a Value, &'a Value),
    /// The same for the subresource `status`, as [`update_status`](super::update_status).
    UpdateStatus(&'a Value, &'a Value),
    /// The stored object and a patch, as [`patch`](super::patch()).
    Patch(&'a Value, Patch<'a>),
    /// The same for the subresource `status`, as [`patch_status`](super::patch_status).
    PatchStatus(&'a Value, Patch<'a>),
}

/// The API server's response to a [`Request`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Response {
    /// The object as it is stored, or the refusal.
    pub stored: Result<Value, Refusal>,
    /// The texts of the response's `Warning` headers, which kubectl prints as lines `Warning: …`. A refused request may
    /// have warnings, too: those of decoding.
    pub warnings: Vec<String>,
}

/// The API server's response to a request. [`Rules::field_validation`] decides about fields that the API does not have.
///
/// ```
/// use daemonset_apiserver::admission::{Request, Rules, respond};
/// use serde_json::json;
///
/// let manifest = json!({
///     "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "web"},
///     "spec": {"minReadySecond": 5, "selector": {"matchLabels": {"app": "web"}}}
/// });
/// let response = respond(Request::Create(&manifest), &Rules::new());
/// assert!(response.stored.is_err(), "no template");
/// assert_eq!(response.warnings, ["unknown field \"spec.minReadySecond\""]);
/// ```
pub fn respond(request: Request<'_>, rules: &Rules) -> Response {
    let mut warnings = Vec::new();
    let stored = match request {
        Request::Create(object) => create_and_warn(object, rules, &mut warnings),
        Request::Update(stored, object) => update_and_warn(stored, object, rules, &mut warnings),
        Request::UpdateStatus(stored, object) => update_status_and_warn(stored, object, rules, &mut warnings),
        Request::Patch(stored, patch) => patch_and_warn(stored, patch, rules, &mut warnings),
        Request::PatchStatus(stored, patch) => patch_status_and_warn(stored, patch, rules, &mut warnings),
    };
    Response { stored, warnings: as_headers(warnings) }
}
