//! Fields that clients can't set: generation, template generation, status, and the system's own metadata (v1.36
//! `pkg/registry/apps/daemonset/strategy.go`, `apiserver/pkg/registry/rest` create.go and update.go).

use super::gates;
use super::template_generation;
use crate::json::{at, field, fields_mut};
use crate::schema::{
    DAEMON_SET, Kind, POD_TEMPLATE_SPEC, PROPOSED_DAEMON_SET, Struct, decode_struct, semantic_equal,
};
use serde_json::Value;

/// Metadata that the system sets when an object is created (v1.36 rest/meta.go WipeObjectMetaSystemFields). The
/// caller adds time, uid and managed fields: they are unknown here.
const SET_AT_CREATION: [&str; 6] = [
    "creationTimestamp",
    "uid",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "managedFields",
];

/// Prepares a decoded and defaulted DaemonSet for its creation (v1.36 strategy.go PrepareForCreate).
///
/// Sets generation 1 and an empty status, and removes the metadata that only the system sets. The template generation
/// (the annotation `deprecated.daemonset.template.generation`) is the client's if that is at least 1, else 1.
pub fn prepare_for_create(object: &mut Value) {
    let sent = template_generation::get(object).unwrap_or_default();
    template_generation::set(object, sent.max(1));
    if let Some(metadata) = fields_mut(object, "metadata") {
        for name in SET_AT_CREATION {
            metadata.remove(name);
        }
        metadata.insert("generation".to_owned(), Value::from(1));
    }
    set_field(object, "status", no_status());
    drop_disabled(object, &Value::Null);
}

/// Prepares a decoded and defaulted DaemonSet to replace the stored one (v1.36 strategy.go PrepareForUpdate).
///
/// The status stays as stored. The generation rises by 1 if the spec changes, the template generation by 1 if the
/// template changes; the client's values for both are ignored. Specs and templates are compared by meaning: an empty
/// list equals an absent one, quantities are compared by value.
pub fn prepare_for_update(old: &Value, new: &mut Value) {
    drop_disabled(new, old);
    set_field(new, "status", field(old, "status").clone());
    let template_changes = !templates_equal(old, new);
    let spec_changes =
        template_changes || !semantic_equal(spec_kind(), field(old, "spec"), field(new, "spec"));
    let step = |changes: bool| i64::from(changes);
    template_generation::set(
        new,
        template_generation::get(old).unwrap_or_default().saturating_add(step(template_changes)),
    );
    keep_metadata(old, new, generation(old).saturating_add(step(spec_changes)));
}

/// Prepares a decoded DaemonSet to replace the status of the stored one (v1.36 strategy.go daemonSetStatusStrategy).
/// Spec, generation and template generation stay as stored; labels and annotations are the client's.
pub fn prepare_for_status_update(old: &Value, new: &mut Value) {
    set_field(new, "spec", field(old, "spec").clone());
    template_generation::set(new, template_generation::get(old).unwrap_or_default());
    keep_metadata(old, new, generation(old));
}

/// Whether the templates of two decoded and defaulted DaemonSets mean the same.
pub(super) fn templates_equal(a: &Value, b: &Value) -> bool {
    let [a, b] = [a, b].map(|object| at(object, &["spec", "template"]));
    semantic_equal(Kind::Struct(&POD_TEMPLATE_SPEC), a, b)
}

fn spec_kind() -> Kind {
    // The proposal's spec has the fields of both forms.
    kind_of_field(&PROPOSED_DAEMON_SET, "spec")
}

fn kind_of_field(of: &'static Struct, name: &str) -> Kind {
    of.field(name).map_or(Kind::Struct(of), |field| field.kind)
}

fn no_status() -> Value {
    match kind_of_field(&DAEMON_SET, "status") {
        Kind::Struct(status) => decode_struct(status, &Value::Null).unwrap_or_default(),
        Kind::One(_) | Kind::Map(_) | Kind::List(_) | Kind::Structs(_) => Value::Null,
    }
}

fn generation(object: &Value) -> i64 {
    at(object, &["metadata", "generation"]).as_i64().unwrap_or_default()
}

fn drop_disabled(new: &mut Value, old: &Value) {
    if let Some(spec) = new.pointer_mut("/spec/template/spec") {
        gates::drop_disabled(spec, at(old, &["spec", "template", "spec"]));
    }
}

/// v1.36 rest/update.go BeforeUpdate. Managed fields are not computed: they stay as stored.
fn keep_metadata(old: &Value, new: &mut Value, generation: i64) {
    let old = field(old, "metadata");
    let Some(new) = fields_mut(new, "metadata") else { return };
    let mut keep = |name: &str, keep: Keep| {
        let stored = field(old, name);
        let takes = match keep {
            Keep::Stored => !stored.is_null(),
            Keep::StoredUnlessSent => !stored.is_null() && new.get(name).is_none_or(is_unset),
        };
        if takes {
            new.insert(name.to_owned(), stored.clone());
        }
    };
    keep("namespace", Keep::StoredUnlessSent);
    keep("uid", Keep::StoredUnlessSent);
    keep("resourceVersion", Keep::StoredUnlessSent);
    keep("creationTimestamp", Keep::Stored);
    keep("deletionTimestamp", Keep::Stored);
    keep("deletionGracePeriodSeconds", Keep::StoredUnlessSent);
    keep("managedFields", Keep::Stored);
    match generation {
        0 => new.remove("generation"),
        generation => new.insert("generation".to_owned(), Value::from(generation)),
    };
}

/// When the stored metadata replaces the client's.
#[derive(Debug, Clone, Copy)]
enum Keep {
    Stored,
    StoredUnlessSent,
}

fn is_unset(value: &Value) -> bool {
    value.is_null() || value.as_str() == Some("")
}

fn set_field(object: &mut Value, name: &str, value: Value) {
    if let Value::Object(fields) = object {
        match value {
            Value::Null => fields.remove(name),
            value => fields.insert(name.to_owned(), value),
        };
    }
}
