//! kubectl's own answers about a manifest, before and beside the API server's: `kubectl create` and `kubectl replace`.

use super::fields::name;
use daemonset_apiserver::admission::{FieldValidation, Form, Refusal};
use daemonset_apiserver::go::{json_text, quoted};
use daemonset_apiserver::json::{at, list, member, text};
use serde_json::{Value, json};
use thiserror::Error;

/// A command that sends a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManifestVerb {
    /// `kubectl create`.
    Create,
    /// `kubectl replace`.
    Replace,
}

/// Why kubectl does not send a manifest. Prints as kubectl prints it after `error: `. `source` is the manifest's file, or
/// `STDIN`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The file is absent (v1.36 cli-runtime `resource/builder.go`).
    #[error("the path {} does not exist", quoted(.0))]
    NoSuchFile(String),
    /// The text is neither JSON nor YAML (v1.36 cli-runtime `resource/visitor.go` StreamVisitor). The reason is that of the
    /// parser which has read it, not of Go's.
    #[error("error parsing {from}: {reason}")]
    #[non_exhaustive]
    Syntax {
        /// The manifest's file.
        from: String,
        /// The parser's message.
        reason: String,
    },
    /// An object without a valid kind and version (v1.36 kubectl `validation/schema.go`).
    #[error(
        "error validating {}: error validating data: {reason}; if you choose to ignore these errors, turn validation off with --validate=false",
        quoted(.from)
    )]
    #[non_exhaustive]
    Invalid {
        /// The manifest's file.
        from: String,
        /// The reason; of several, their list.
        reason: String,
    },
    /// An object that can't be read (v1.36 cli-runtime `resource/mapper.go` infoForData).
    #[error("unable to decode {}: {reason}", quoted(.from))]
    #[non_exhaustive]
    Undecodable {
        /// The manifest's file.
        from: String,
        /// The decoder's message.
        reason: String,
    },
    /// A kind that no API has (v1.36 cli-runtime `resource/mapper.go` infoForData).
    #[error(
        "resource mapping not found for name: {} namespace: {} from {}: no matches for kind {} in version {}\nensure CRDs are installed first",
        quoted(.name), quoted(.namespace), quoted(.from), quoted(.kind), quoted(.version)
    )]
    #[non_exhaustive]
    NoSuchKind {
        /// The manifest's file.
        from: String,
        /// The object's name.
        name: String,
        /// The object's namespace.
        namespace: String,
        /// The object's kind.
        kind: String,
        /// The object's group and version.
        version: String,
    },
    /// A manifest without objects (v1.36 kubectl `cmd/create/create.go` RunCreate).
    #[error("no objects passed to create")]
    NoObjects,
    /// An object to replace that has no name (v1.36 cli-runtime `resource/helper.go` Replace).
    #[error("error when replacing {}: resource name may not be empty", quoted(.0))]
    NoName(String),
}

impl ManifestError {
    /// The refusal of a text that a parser can't read.
    pub fn syntax(source: &str, reason: &str) -> Self {
        ManifestError::Syntax { from: source.to_owned(), reason: reason.to_owned() }
    }
}

/// Checks the objects of a manifest as kubectl does before it sends them: `source` is the manifest's file, or `STDIN`,
/// `validation` the flag `--validate`.
///
/// It knows the kinds of `apps` only, and every other group as one that has no DaemonSet.
///
/// # Errors
/// The refusal of the first object that kubectl would not send.
///
/// ```
/// use daemonset_apiserver::admission::FieldValidation;
/// use kubectl_daemonset::kubectl::{ManifestVerb, check_manifest};
/// use serde_json::json;
///
/// let manifest = [json!({"kind": "DaemonSet", "metadata": {"name": "web"}})];
/// let refused = check_manifest(ManifestVerb::Create, &manifest, "STDIN", FieldValidation::Strict).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "error validating \"STDIN\": error validating data: apiVersion not set; if you choose to ignore these errors, turn validation off with --validate=false"
/// );
/// ```
pub fn check_manifest(
    verb: ManifestVerb,
    objects: &[Value],
    source: &str,
    validation: FieldValidation,
) -> Result<(), ManifestError> {
    objects.iter().filter(|object| !object.is_null()).try_for_each(|object| {
        if validation != FieldValidation::Ignore {
            let invalid = |reason| ManifestError::Invalid { from: source.to_owned(), reason };
            validate(object).map_err(invalid)?;
        }
        sendable(verb, object, source)
    })?;
    if verb == ManifestVerb::Create && objects.iter().all(is_empty) {
        return Err(ManifestError::NoObjects);
    }
    Ok(())
}

fn is_empty(object: &Value) -> bool {
    object.is_null() || is_list(object) && list(object, "items").iter().all(is_empty)
}

/// v1.36 kubectl `validation/schema.go` getObjectKind. A List is as valid as its items.
fn validate(object: &Value) -> Result<(), String> {
    if !object.is_object() {
        return Err("invalid object to validate".to_owned());
    }
    let problem = |field: &str| match member(object, field) {
        None => Some(format!("{field} not set")),
        Some(value) if !value.is_string() => Some(format!("{field} isn't string type")),
        Some(_) => None,
    };
    let problems: Vec<String> = ["apiVersion", "kind"].into_iter().filter_map(problem).collect();
    match problems.as_slice() {
        [] => {}
        [problem] => return Err(problem.clone()),
        problems => return Err(format!("[{}]", problems.join(", "))),
    }
    let version = text(object, "apiVersion");
    if version.matches('/').count() > 1 {
        return Err(format!("unexpected GroupVersion string: {version}"));
    }
    if is_list(object) { list(object, "items").iter().try_for_each(validate) } else { Ok(()) }
}

fn is_list(object: &Value) -> bool {
    (text(object, "apiVersion"), text(object, "kind")) == ("v1", "List")
}

/// v1.36 cli-runtime `resource/mapper.go` infoForData.
fn sendable(verb: ManifestVerb, object: &Value, source: &str) -> Result<(), ManifestError> {
    if is_list(object) {
        return list(object, "items").iter().try_for_each(|item| sendable(verb, item, source));
    }
    decode(object).map_err(|reason| ManifestError::Undecodable { from: source.to_owned(), reason })?;
    let (version, kind) = (text(object, "apiVersion"), text(object, "kind"));
    if !may_exist(version, kind) {
        return Err(ManifestError::NoSuchKind {
            from: source.to_owned(),
            name: name(object).to_owned(),
            namespace: text(at(object, &["metadata"]), "namespace").to_owned(),
            kind: kind.to_owned(),
            version: version.trim_matches('/').to_owned(),
        });
    }
    if verb == ManifestVerb::Replace && kind == "DaemonSet" && name(object).is_empty() {
        return Err(ManifestError::NoName(source.to_owned()));
    }
    Ok(())
}

/// The kind, and the metadata of a DaemonSet; kubectl leaves all else to the API server (v1.36 apimachinery
/// `unstructured/helpers.go` unstructuredJSONScheme, `metadataOnlyObject`).
fn decode(object: &Value) -> Result<(), String> {
    let go_type = match object {
        Value::Object(_) => None,
        Value::Array(_) => Some("array"),
        Value::String(_) => Some("string"),
        Value::Number(_) => Some("number"),
        Value::Bool(_) | Value::Null => Some("bool"),
    };
    if let Some(go_type) = go_type {
        return Err(format!("json: cannot unmarshal {go_type} into Go value of type unstructured.detector"));
    }
    let version = text(object, "apiVersion");
    if text(object, "kind").is_empty() || version.matches('/').count() > 1 {
        return Err(format!("Object 'Kind' is missing in '{}'", json_text(object)));
    }
    let only_metadata = json!({"metadata": object.get("metadata")});
    match Form::AppsV1.decode(&only_metadata) {
        Ok(_) => Ok(()),
        Err(message) => {
            Err(message.replace("field DaemonSet.metadata ", "field metadataOnlyObject.metadata "))
        }
    }
}

/// The kinds of `apps/v1`, in any case, and their lists; the older versions of these APIs are gone.
fn may_exist(version: &str, kind: &str) -> bool {
    const KINDS: [&str; 5] = ["controllerrevision", "daemonset", "deployment", "replicaset", "statefulset"];
    let lower = kind.to_ascii_lowercase();
    match version.split_once('/') {
        Some(("apps", "v1")) => KINDS.contains(&lower.strip_suffix("list").unwrap_or(&lower)),
        Some(("apps" | "extensions", _)) => false,
        Some(_) | None => lower != "daemonset",
    }
}

/// The API server's refusal as kubectl prints it about an object of a manifest. The list of a DaemonSet's invalid fields
/// does not name the file (v1.36 kubectl `cmd/util/helpers.go` AddSourceToErr, checkErr).
pub fn refusal_with_source(refusal: &Refusal, verb: ManifestVerb, source: &str) -> String {
    let printed = refusal.to_string();
    let doing = match verb {
        ManifestVerb::Create => "creating",
        ManifestVerb::Replace => "replacing",
    };
    match printed.split_once(": ") {
        Some((server, message)) if server.starts_with("Error from server") => {
            format!("{server}: error when {doing} {}: {message}", quoted(source))
        }
        Some(_) | None => printed,
    }
}
