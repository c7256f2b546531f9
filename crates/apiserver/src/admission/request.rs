//! Whole requests: decode, default, prepare, validate.

use super::owners::{self, Duplicates};
use super::refusal::Refusal;
use super::{
    ErrorList, FieldValidation, Form, Invalid, Rules, default, prepare_for_create, prepare_for_status_update,
    prepare_for_update, template_generation, validate, validate_status_update, validate_update,
    warnings_on_create, warnings_on_update,
};
use crate::json::{at, field, fields_mut};
use crate::patch::{json_merge, merge_as};
use crate::schema::{self, Numbers};
use daemonset_objects::model::Owner;
use serde_json::{Map, Value};

/// A patch of a stored DaemonSet.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Patch<'a> {
    /// A strategic merge patch.
    Strategic(&'a Value),
    /// A JSON merge patch.
    Merge(&'a Value),
}

/// The DaemonSet that the API server stores for a create request, in the namespace that the object names or in
/// `default`. The caller adds creation time, uid, resource version and the random letters after `generateName`.
///
/// # Errors
/// The API server's refusal.
pub fn create(object: &Value, rules: &Rules) -> Result<Value, Refusal> {
    create_and_warn(object, rules, &mut Vec::new())
}

/// As [`create`]; adds the API server's warnings.
pub(super) fn create_and_warn(
    object: &Value,
    rules: &Rules,
    warnings: &mut Vec<String>,
) -> Result<Value, Refusal> {
    let mut new = decode(object, Numbers::InRange, rules, warnings)?;
    prepare_for_create(&mut new);
    let generated = set_name_and_namespace(&mut new);
    warnings.extend(owners::keep_each_once(&mut new, Duplicates::OfRequest));
    refuse(&new, validate(&new, rules), rules)?;
    finish(&mut new);
    warnings.extend(warnings_on_create(&new));
    if let (true, Some(metadata)) = (generated, fields_mut(&mut new, "metadata")) {
        metadata.remove("name");
    }
    Ok(new)
}

/// The DaemonSet that the API server stores when a client replaces the stored one by this object.
///
/// # Errors
/// The API server's refusal.
pub fn update(stored: &Value, object: &Value, rules: &Rules) -> Result<Value, Refusal> {
    update_and_warn(stored, object, rules, &mut Vec::new())
}

/// As [`update`]; adds the API server's warnings.
pub(super) fn update_and_warn(
    stored: &Value,
    object: &Value,
    rules: &Rules,
    warnings: &mut Vec<String>,
) -> Result<Value, Refusal> {
    let new = decode_update(object, rules, warnings)?;
    replace(stored, new, rules, warnings)
}

/// As [`update`], for the subresource `status`.
///
/// # Errors
/// The API server's refusal.
pub fn update_status(stored: &Value, object: &Value) -> Result<Value, Refusal> {
    update_status_and_warn(stored, object, &rules_of(stored), &mut Vec::new())
}

/// As [`update_status`]; adds the API server's warnings.
pub(super) fn update_status_and_warn(
    stored: &Value,
    object: &Value,
    rules: &Rules,
    warnings: &mut Vec<String>,
) -> Result<Value, Refusal> {
    let new = decode_update(object, rules, warnings)?;
    replace_status(stored, new, rules)
}

/// The DaemonSet that the API server stores when a client patches the stored one.
///
/// An integer that is too large for its field is truncated to 32 bits in a strategic merge patch, as the API server
/// does, and refused in a JSON merge patch (v1.36 `apimachinery/pkg/runtime` converter.go fromUnstructured).
///
/// # Errors
/// The API server's refusal.
///
/// # Example
///
/// ```
/// use daemonset_apiserver::admission::{Patch, Refusal, Rules, create, patch};
/// use serde_json::json;
///
/// let manifest = json!({
///     "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "web"},
///     "spec": {
///         "selector": {"matchLabels": {"app": "web"}},
///         "template": {
///             "metadata": {"labels": {"app": "web"}},
///             "spec": {"containers": [{"name": "web", "image": "web:v1"}]}
///         }
///     }
/// });
/// let stored = create(&manifest, &Rules::new())?;
/// let change = json!({"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "web:v2"}]}}}});
/// let stored = patch(&stored, Patch::Strategic(&change), &Rules::new())?;
/// assert_eq!(stored["metadata"]["generation"], 2);
/// # Ok::<(), Refusal>(())
/// ```
pub fn patch(stored: &Value, patch: Patch<'_>, rules: &Rules) -> Result<Value, Refusal> {
    patch_and_warn(stored, patch, rules, &mut Vec::new())
}

/// As [`patch`](fn@patch); adds the API server's warnings.
pub(super) fn patch_and_warn(
    stored: &Value,
    patch: Patch<'_>,
    rules: &Rules,
    warnings: &mut Vec<String>,
) -> Result<Value, Refusal> {
    let new = patched(stored, patch, rules, warnings)?;
    replace(stored, new, rules, warnings)
}

/// As [`patch`], for the subresource `status`.
///
/// # Errors
/// The API server's refusal.
pub fn patch_status(stored: &Value, patch: Patch<'_>) -> Result<Value, Refusal> {
    patch_status_and_warn(stored, patch, &rules_of(stored), &mut Vec::new())
}

/// As [`patch_status`]; adds the API server's warnings.
pub(super) fn patch_status_and_warn(
    stored: &Value,
    patch: Patch<'_>,
    rules: &Rules,
    warnings: &mut Vec<String>,
) -> Result<Value, Refusal> {
    let new = patched(stored, patch, rules, warnings)?;
    replace_status(stored, new, rules)
}

/// The rules for the status of a stored object, which depend on its kind only.
fn rules_of(stored: &Value) -> Rules {
    Rules::new().owner(Owner::from_object(stored))
}

/// The longest prefix of a generated name, before its five random letters (v1.36 `apiserver/pkg/storage/names`
/// generate.go).
const MAX_GENERATED_PREFIX: usize = 58;

/// Sets the namespace, and a placeholder name if one is to be generated. Returns whether the name is a placeholder.
fn set_name_and_namespace(new: &mut Value) -> bool {
    let Some(metadata) = fields_mut(new, "metadata") else { return false };
    metadata.entry("namespace").or_insert_with(|| Value::from("default"));
    let stem = metadata.get("generateName").and_then(Value::as_str).unwrap_or_default();
    if metadata.contains_key("name") || stem.is_empty() {
        return false;
    }
    let name: String = stem.chars().take(MAX_GENERATED_PREFIX).chain("bbbbb".chars()).collect();
    metadata.insert("name".to_owned(), Value::from(name));
    true
}

fn replace(
    stored: &Value,
    mut new: Value,
    rules: &Rules,
    warnings: &mut Vec<String>,
) -> Result<Value, Refusal> {
    same_object(stored, &new)?;
    same_version(stored, &new, rules)?;
    prepare_for_update(stored, &mut new);
    refuse(&new, validate_update(stored, &new, rules), rules)?;
    finish(&mut new);
    warnings.extend(warnings_on_update(stored, &new));
    Ok(new)
}

fn replace_status(stored: &Value, mut new: Value, rules: &Rules) -> Result<Value, Refusal> {
    same_object(stored, &new)?;
    same_version(stored, &new, rules)?;
    prepare_for_status_update(stored, &mut new);
    refuse(&new, validate_status_update(stored, &new), rules)?;
    finish(&mut new);
    Ok(new)
}

fn decode(
    object: &Value,
    numbers: Numbers,
    rules: &Rules,
    warnings: &mut Vec<String>,
) -> Result<Value, Refusal> {
    let new = read(object, numbers, rules, warnings)?;
    template_generation::get(&new).map_err(|error| {
        // The conversion is a part of decoding, and an error of decoding comes without warnings.
        warnings.clear();
        undecodable(vec![error.to_string()], rules)
    })?;
    Ok(new)
}

fn undecodable(messages: Vec<String>, rules: &Rules) -> Refusal {
    Refusal::Undecodable { owner: rules.owner.clone(), messages }
}

/// Decoded and defaulted. Unknown fields are warnings, or refused.
fn read(
    object: &Value,
    numbers: Numbers,
    rules: &Rules,
    warnings: &mut Vec<String>,
) -> Result<Value, Refusal> {
    let text = |name: &str| field(object, name).as_str().filter(|text| !text.is_empty());
    let is_other = |text: Option<&str>, expected: &str| text.is_some_and(|text| text != expected);
    let owner = &rules.owner;
    if is_other(text("kind"), &owner.kind)
        || (rules.form == Form::AppsV1 && is_other(text("apiVersion"), &owner.api_version))
    {
        let text_or = |name: &str, expected: &str| text(name).unwrap_or(expected).to_owned();
        let (api_version, kind) = (text_or("apiVersion", &owner.api_version), text_or("kind", &owner.kind));
        return Err(Refusal::OtherKind { owner: owner.clone(), api_version, kind });
    }
    let mut decoded = schema::decode_with(rules.form.fields(), object, numbers)
        .map_err(|refused| undecodable(refused.iter().map(ToString::to_string).collect(), rules))?;
    match (rules.field_validation, schema::unknown_fields(rules.form.fields(), object)) {
        (FieldValidation::Strict, unknown) if !unknown.is_empty() => {
            return Err(undecodable(vec![format!("strict decoding error: {}", unknown.join(", "))], rules));
        }
        (FieldValidation::Warn, unknown) => warnings.extend(unknown),
        (FieldValidation::Strict | FieldValidation::Ignore, _) => {}
    }
    if let Value::Object(fields) = &mut decoded {
        fields.entry("apiVersion").or_insert_with(|| Value::from(owner.api_version.as_str()));
        fields.entry("kind").or_insert_with(|| Value::from(owner.kind.as_str()));
    }
    default(&mut decoded, rules.form);
    keep_empty_labels(object, &mut decoded);
    Ok(decoded)
}

/// Empty labels count as absent, but a message prints them as `{}`, and absent ones as `null`.
fn keep_empty_labels(object: &Value, decoded: &mut Value) {
    let is_empty = at(object, &LABELS).as_object().is_some_and(Map::is_empty);
    if let (true, Some(Value::Object(metadata))) = (is_empty, decoded.pointer_mut("/spec/template/metadata"))
    {
        metadata.insert("labels".to_owned(), Value::Object(Map::new()));
    }
}

const LABELS: [&str; 4] = ["spec", "template", "metadata", "labels"];

/// Drops empty labels, which validation still had to see, and sorts all members, so that every build stores the same
/// bytes.
fn finish(new: &mut Value) {
    drop_empty_labels(new);
    new.sort_all_objects();
}

fn drop_empty_labels(new: &mut Value) {
    let is_empty = at(new, &LABELS).as_object().is_some_and(Map::is_empty);
    if let (true, Some(Value::Object(metadata))) = (is_empty, new.pointer_mut("/spec/template/metadata")) {
        metadata.remove("labels");
    }
}

/// The object of an update, each owner once.
fn decode_update(object: &Value, rules: &Rules, warnings: &mut Vec<String>) -> Result<Value, Refusal> {
    let mut new = decode(object, Numbers::InRange, rules, warnings)?;
    warnings.extend(owners::keep_each_once(&mut new, Duplicates::OfRequest));
    Ok(new)
}

/// The stored object with the patch, each owner once.
fn patched(
    stored: &Value,
    patch: Patch<'_>,
    rules: &Rules,
    warnings: &mut Vec<String>,
) -> Result<Value, Refusal> {
    let mut new = match patch {
        Patch::Strategic(patch) => {
            let mut merged = merge_as(rules.form.fields(), stored, patch).map_err(Refusal::Patch)?;
            // The API server reads the result as the kind and version of the request, even if the patch changes these
            // fields.
            for name in ["apiVersion", "kind"] {
                if let (Value::Object(merged), Some(own)) = (&mut merged, stored.get(name)) {
                    merged.insert(name.to_owned(), own.clone());
                }
            }
            let new = read(&merged, Numbers::CutOff, rules, warnings)
                .map_err(|refusal| refusal.into_patch_refusal(patch))?;
            template_generation::get(&new)
                .map_err(|error| Refusal::Unconvertible { message: error.to_string() })?;
            new
        }
        Patch::Merge(patch) => {
            let merged = json_merge(stored, patch).map_err(Refusal::Patch)?;
            decode(&merged, Numbers::AsWritten, rules, warnings)
                .map_err(|refusal| refusal.into_patch_refusal(patch))?
        }
    };
    warnings.extend(owners::keep_each_once(&mut new, Duplicates::OfPatch));
    Ok(new)
}

fn refuse(new: &Value, errors: ErrorList, rules: &Rules) -> Result<(), Refusal> {
    if errors.is_empty() {
        return Ok(());
    }
    let (kind, group) = (rules.owner.kind.clone(), rules.owner.group().to_owned());
    Err(Refusal::Invalid(Invalid { kind, group, name: name(new).to_owned(), errors }))
}

fn name(object: &Value) -> &str {
    at(object, &["metadata", "name"]).as_str().unwrap_or_default()
}

/// A request is for one object: it can change neither name nor namespace.
fn same_object(stored: &Value, new: &Value) -> Result<(), Refusal> {
    if name(stored) != name(new) {
        return Err(Refusal::OtherName { sent: name(new).to_owned(), stored: name(stored).to_owned() });
    }
    let namespace = |object| at(object, &["metadata", "namespace"]).as_str().unwrap_or_default();
    if !namespace(new).is_empty() && namespace(stored) != namespace(new) {
        return Err(Refusal::OtherNamespace);
    }
    Ok(())
}

/// An update with a resource version replaces that version only (v1.36 `apiserver/pkg/registry/generic/registry`
/// store.go Update).
fn same_version(stored: &Value, new: &Value, rules: &Rules) -> Result<(), Refusal> {
    let version = |object| at(object, &["metadata", "resourceVersion"]).as_str().unwrap_or_default();
    if version(new).is_empty() || version(stored) == version(new) {
        return Ok(());
    }
    Err(Refusal::Conflict { resource: rules.owner.resource(), name: name(stored).to_owned() })
}
