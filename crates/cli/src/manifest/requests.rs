//! The API server's answers to a create, a replacement and a patch.

use crate::cluster::{name, namespace};
use crate::manifest::operations::{self, Operation};
use daemonset_apiserver::admission::{self, Patch, Refusal, Rules};
use serde::Deserialize;
use serde_json::Value;

/// How a patch is to be read.
#[derive(Clone, Copy, Default, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PatchType {
    /// Kubernetes' own: lists are merged by their keys
    #[default]
    Strategic,
    /// RFC 7386: lists are replaced
    Merge,
    /// RFC 6902: a list of operations
    Json,
}

/// Which part of the object is changed.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
pub(crate) enum Subresource {
    /// All but the status
    #[default]
    #[serde(rename = "")]
    None,
    /// The status
    #[serde(rename = "status")]
    Status,
}

/// A DaemonSet after a patch.
pub(crate) struct Patched {
    pub(crate) after: Value,
    changed: bool,
}

/// The stored object, or kubectl's message. kubectl puts an object without a namespace into its own.
pub(crate) fn create(object: &Value) -> Result<Value, String> {
    let mut sent = object.clone();
    if let (Some(metadata), "") = (sent.get_mut("metadata").and_then(Value::as_object_mut), namespace(object))
    {
        metadata.insert("namespace".to_owned(), Value::from("default"));
    }
    admission::create(&sent, &Rules::default()).map_err(|refusal| refusal.to_string())
}

/// The stored object after a replacement, or kubectl's message.
pub(crate) fn replace(stored: &Value, object: &Value) -> Result<Value, String> {
    admission::update(stored, object, &Rules::default()).map_err(|refusal| refusal.to_string())
}

/// The stored object after a patch, or kubectl's message.
pub(crate) fn patch(
    before: &Value,
    patch: &Value,
    patch_type: PatchType,
    subresource: Subresource,
) -> Result<Patched, String> {
    let rules = Rules::default();
    let known = match patch_type {
        PatchType::Strategic => Patch::Strategic(patch),
        PatchType::Merge => Patch::Merge(patch),
        PatchType::Json => return by_operations(before, patch, subresource),
    };
    let after = match subresource {
        Subresource::None => admission::patch(before, known, &rules),
        Subresource::Status => admission::patch_status(before, known),
    };
    Patched::of(before, after)
}

/// There is one message for every patch that can't be applied.
const NOT_APPLIED: &str =
    "The request is invalid: the server rejected our request due to an error in our request";

/// The library makes such patches, and does not apply them.
fn by_operations(before: &Value, patch: &Value, subresource: Subresource) -> Result<Patched, String> {
    let operations: Vec<Operation> = Deserialize::deserialize(patch).map_err(|_| NOT_APPLIED.to_owned())?;
    let asked = operations::apply(before, &operations).ok_or_else(|| NOT_APPLIED.to_owned())?;
    let after = match subresource {
        Subresource::None => admission::update(before, &asked, &Rules::default()),
        Subresource::Status => admission::update_status(before, &asked),
    };
    Patched::of(before, after)
}

impl Patched {
    fn of(before: &Value, after: Result<Value, Refusal>) -> Result<Self, String> {
        let after = after.map_err(|refusal| refusal.to_string())?;
        Ok(Patched { changed: after != *before, after })
    }

    /// kubectl's message.
    pub(crate) fn message(&self) -> String {
        let how = if self.changed { "" } else { " (no change)" };
        format!("daemonset.apps/{} patched{how}\n", name(&self.after))
    }
}
