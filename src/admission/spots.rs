//! Ways to the parts of a decoded DaemonSet.

use serde_json::{Map, Value};

static NULL: Value = Value::Null;

/// The field, null if it is not there.
pub(super) fn field<'a>(object: &'a Value, name: &str) -> &'a Value {
    object.get(name).unwrap_or(&NULL)
}

/// What is at the end of these fields, null if it is not there.
pub(super) fn at<'a>(object: &'a Value, path: &[&str]) -> &'a Value {
    path.iter().fold(object, |object, name| field(object, name))
}

/// The items of a list, none if it is not there.
pub(super) fn list<'a>(object: &'a Value, name: &str) -> &'a [Value] {
    field(object, name).as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The items of a list, none if it is not there.
pub(super) fn list_mut<'a>(object: &'a mut Value, name: &str) -> &'a mut [Value] {
    object.get_mut(name).and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default()
}

const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// All containers of a pod spec.
pub(super) fn each(spec: &Value) -> impl Iterator<Item = &Value> {
    CONTAINERS.into_iter().flat_map(move |name| list(spec, name))
}

/// All containers of a pod spec.
pub(super) fn containers_mut(spec: &mut Value) -> impl Iterator<Item = &mut Value> {
    let fields = spec.as_object_mut().into_iter().flatten();
    fields
        .filter(|(name, _)| CONTAINERS.contains(&name.as_str()))
        .filter_map(|(_, list)| list.as_array_mut())
        .flatten()
}

/// The fields of an object; what is none becomes an empty one.
pub(super) fn fields_mut<'a>(object: &'a mut Value, name: &str) -> Option<&'a mut Map<String, Value>> {
    let fields = object.as_object_mut()?;
    let inner = fields.entry(name.to_owned()).or_insert_with(|| Value::Object(Map::new()));
    if !inner.is_object() {
        *inner = Value::Object(Map::new());
    }
    inner.as_object_mut()
}
