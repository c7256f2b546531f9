//! The API server's answers to a create, a replacement and a patch.

use crate::cluster::{name, namespace};
use crate::manifest::operations::{self, ManifestOperation};
use daemonset_apiserver::admission::{self, FieldValidation, Patch, Refusal, Request, Response, Rules};
use kubectl_daemonset::kubectl::{ManifestVerb, refusal_with_source};
use serde::Deserialize;
use serde_json::Value;

/// How a patch is to be read.
#[derive(Clone, Copy, Default, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PatchFormat {
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

/// The API server's answer, and its warnings.
pub(crate) struct Answered<T> {
    pub(crate) result: Result<T, Refused>,
    pub(crate) warnings: Vec<String>,
}

/// Why the API server does not store an object.
pub(crate) enum Refused {
    Server(Refusal),
    /// There is one message for every list of operations that can't be applied.
    Operations,
}

/// A DaemonSet after a patch.
pub(crate) struct Patched {
    pub(crate) after: Value,
    changed: bool,
}

/// The stored object. kubectl puts an object without a namespace into its own.
pub(crate) fn create(object: &Value, validation: FieldValidation) -> Answered<Value> {
    let mut sent = object.clone();
    if let (Some(metadata), "") = (sent.get_mut("metadata").and_then(Value::as_object_mut), namespace(object))
    {
        metadata.insert("namespace".to_owned(), Value::from("default"));
    }
    Answered::from_response(admission::respond(Request::Create(&sent), &rules(validation)))
}

/// The stored object after a replacement.
pub(crate) fn replace(stored: &Value, object: &Value, validation: FieldValidation) -> Answered<Value> {
    Answered::from_response(admission::respond(Request::Update(stored, object), &rules(validation)))
}

fn rules(validation: FieldValidation) -> Rules {
    Rules::new().field_validation(validation)
}

/// The stored object after a patch; kubectl leaves it to the API server to warn of unknown fields.
pub(crate) fn patch(
    before: &Value,
    patch: &Value,
    patch_type: PatchFormat,
    subresource: Subresource,
) -> Answered<Patched> {
    let known = match patch_type {
        PatchFormat::Strategic => Patch::Strategic(patch),
        PatchFormat::Merge => Patch::Merge(patch),
        PatchFormat::Json => return by_operations(before, patch, subresource),
    };
    let request = match subresource {
        Subresource::None => Request::Patch(before, known),
        Subresource::Status => Request::PatchStatus(before, known),
    };
    Answered::from_response(admission::respond(request, &Rules::new())).into_patched(before)
}

/// The library makes such patches, and does not apply them.
fn by_operations(before: &Value, patch: &Value, subresource: Subresource) -> Answered<Patched> {
    let operations: Option<Vec<ManifestOperation>> = Deserialize::deserialize(patch).ok();
    let Some(asked) = operations.and_then(|operations| operations::apply(before, &operations)) else {
        return Answered { result: Err(Refused::Operations), warnings: Vec::new() };
    };
    let request = match subresource {
        Subresource::None => Request::Update(before, &asked),
        Subresource::Status => Request::UpdateStatus(before, &asked),
    };
    Answered::from_response(admission::respond(request, &Rules::new())).into_patched(before)
}

impl Answered<Value> {
    fn from_response(response: Response) -> Self {
        Answered { result: response.stored.map_err(Refused::Server), warnings: response.warnings }
    }

    fn into_patched(self, before: &Value) -> Answered<Patched> {
        let result = self.result.map(|after| Patched { changed: after != *before, after });
        Answered { result, warnings: self.warnings }
    }
}

impl Refused {
    /// kubectl's text about an object of a manifest's file; without a file, about a patch.
    pub(crate) fn text(&self, source: Option<(ManifestVerb, &str)>) -> String {
        match (self, source) {
            (Refused::Server(refusal), Some((verb, source))) => refusal_with_source(refusal, verb, source),
            (Refused::Server(refusal), None) => refusal.to_string(),
            (Refused::Operations, _) => {
                "The request is invalid: the server rejected our request due to an error in our request"
                    .to_owned()
            }
        }
    }
}

impl Patched {
    /// kubectl's message; of a change it does not tell that it is a dry run, this one does.
    pub(crate) fn message(&self) -> String {
        let how = if self.changed { " (server dry run)" } else { " (no change)" };
        format!("daemonset.apps/{} patched{how}\n", name(&self.after))
    }
}
