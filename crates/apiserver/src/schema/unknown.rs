//! Fields that the API does not have.

use super::table::{Kind, Struct};
use crate::go::quoted;
use daemonset_objects::kubernetes::canonical_json::sorted;
use serde_json::Value;

/// The most errors that one decoding reports (v1.36 `sigs.k8s.io/json` kubernetes_patch.go saveStrictError).
const MOST: usize = 100;

/// One message for each field of the object that the struct does not have, in the order of the sorted names: kubectl and
/// the API server sort them on the way. A field counts even if it is null (v1.36 `sigs.k8s.io/json` strict decoding).
pub(crate) fn unknown_fields(of: &'static Struct, object: &Value) -> Vec<String> {
    let mut found = Vec::new();
    structure(of, object, "", &mut found);
    found.truncate(MOST);
    found
}

fn structure(of: &'static Struct, value: &Value, path: &str, found: &mut Vec<String>) {
    let Value::Object(given) = value else { return };
    for (name, value) in sorted(given) {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match of.field(name).map(|field| field.kind) {
            None => found.push(format!("unknown field {}", quoted(&path))),
            Some(Kind::Struct(inner)) => structure(inner, value, &path, found),
            Some(Kind::Structs(inner)) => {
                let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
                for (index, item) in items.iter().enumerate() {
                    structure(inner, item, &format!("{path}[{index}]"), found);
                }
            }
            Some(Kind::One(_) | Kind::Map(_) | Kind::List(_)) => {}
        }
    }
}
