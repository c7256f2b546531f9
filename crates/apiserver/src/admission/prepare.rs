//! What clients can't set: generation, template generation, status, and the system's own metadata (v1.36
//! `pkg/registry/apps/daemonset/strategy.go`, `apiserver/pkg/registry/rest` create.go and update.go).

use super::gates;
use super::template_generation::{self, of};
use crate::json::{at, field, fields_mut};
use crate::schema::{
    DAEMON_SET, Kind, POD_TEMPLATE_SPEC, PROPOSED_DAEMON_SET, Struct, decode_struct, semantic_equal,
};
use serde_json::Value;

/// Metadata that the system sets when an object is created (v1.36 rest/meta.go WipeObjectMetaSystemFields). Time, uid
/// and managers of fields are not known here and left out.
const SET_AT_CREATION: [&str; 6] = [
    "creationTimestamp",
    "uid",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "managedFields",
];

/// Prepares a decoded and defaulted DaemonSet for its creation: generation 1, no status, as template generation (the
/// annotation `deprecated.daemonset.template.generation`) what the client sent, if that is at least 1, else 1. What
/// only the system sets is taken away (v1.36 strategy.go PrepareForCreate).
pub fn prepare_for_create(object: &mut Value) {
    let sent = of(object).unwrap_or_default();
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

/// Prepares a decoded and defaulted DaemonSet to replace the stored one: its status stays, the generation rises by 1 if
/// the spec changes, the template generation rises by 1 if the template changes, whatever the client sent (v1.36
/// strategy.go PrepareForUpdate).
///
/// Both are compared by meaning: an empty list is an absent one, quantities count by value.
pub fn prepare_for_update(old: &Value, new: &mut Value) {
    drop_disabled(new, old);
    set_field(new, "status", field(old, "status").clone());
    let template_changes = !templates_equal(old, new);
    let spec_changes =
        template_changes || !semantic_equal(spec_kind(), field(old, "spec"), field(new, "spec"));
    let step = |changes: bool| i64::from(changes);
    template_generation::set(new, of(old).unwrap_or_default().saturating_add(step(template_changes)));
    keep_metadata(old, new, generation(old).saturating_add(step(spec_changes)));
}

/// Prepares a decoded DaemonSet to replace the status of the stored one: the spec stays as it is, with generation and
/// template generation; labels and annotations are taken over (v1.36 strategy.go daemonSetStatusStrategy).
pub fn prepare_for_status_update(old: &Value, new: &mut Value) {
    set_field(new, "spec", field(old, "spec").clone());
    template_generation::set(new, of(old).unwrap_or_default());
    keep_metadata(old, new, generation(old));
}

/// Whether the templates of two decoded and defaulted DaemonSets mean the same.
pub(super) fn templates_equal(a: &Value, b: &Value) -> bool {
    let [a, b] = [a, b].map(|object| at(object, &["spec", "template"]));
    semantic_equal(Kind::Struct(&POD_TEMPLATE_SPEC), a, b)
}

fn spec_kind() -> Kind {
    // It has all fields of either form.
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

/// v1.36 rest/update.go BeforeUpdate. Who manages which field is not computed: it stays as it was stored.
fn keep_metadata(old: &Value, new: &mut Value, generation: i64) {
    let old = field(old, "metadata");
    let Some(new) = fields_mut(new, "metadata") else { return };
    let mut keep = |name: &str, only_if_absent: Keep| {
        let stored = field(old, name);
        let takes = match only_if_absent {
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

/// When metadata of the stored object goes before what was sent.
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
