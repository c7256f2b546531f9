//! The containers of a decoded pod spec.

use crate::fields::list;
use serde_json::Value;

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
