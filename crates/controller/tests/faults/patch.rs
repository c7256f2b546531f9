//! Strategic merge patches, as far as the controller uses them: maps are merged, or replaced where they say so, owner references by
//! uid, and containers by name.

use serde_json::{Map, Value};

pub fn apply(object: &mut Value, patch: &Value) {
    let (Some(object), Some(patch)) = (object.as_object_mut(), patch.as_object()) else { return };
    for (key, value) in patch {
        match value {
            Value::Null => {
                object.remove(key);
            }
            Value::Array(owners) if key == "ownerReferences" => {
                let list = object.entry(key.clone()).or_insert_with(|| Value::Array(Vec::new()));
                for owner in owners {
                    merge_owner(list.as_array_mut().expect("owner references are a list"), owner);
                }
            }
            Value::Array(containers) if key == "containers" => {
                let list = object.entry(key.clone()).or_insert_with(|| Value::Array(Vec::new()));
                for container in containers {
                    let list = list.as_array_mut().expect("containers are a list");
                    match list.iter_mut().find(|known| known["name"] == container["name"]) {
                        Some(known) => apply(known, container),
                        None => list.push(container.clone()),
                    }
                }
            }
            Value::Object(fields) if fields.get("$patch").is_some_and(|directive| directive == "replace") => {
                let mut fields = fields.clone();
                fields.remove("$patch");
                object.insert(key.clone(), Value::Object(fields));
            }
            Value::Object(_) => {
                apply(object.entry(key.clone()).or_insert_with(|| Value::Object(Map::new())), value);
            }
            Value::Array(_) | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                object.insert(key.clone(), value.clone());
            }
        }
    }
}

fn merge_owner(owners: &mut Vec<Value>, owner: &Value) {
    let place = owners.iter().position(|known| known["uid"] == owner["uid"]);
    match (owner["$patch"] == "delete", place) {
        (true, Some(place)) => {
            owners.remove(place);
        }
        (true, None) => {}
        (false, Some(place)) => apply(&mut owners[place], owner),
        (false, None) => owners.push(owner.clone()),
    }
}
