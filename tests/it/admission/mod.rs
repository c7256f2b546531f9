//! What the API server does to a DaemonSet before it is stored.

mod defaults;
mod defaults_image;
mod defaults_properties;
mod defaults_table;
mod parts;

use serde_json::{Value, json};

/// Null, empty text, 0, false or an empty list.
fn is_zero(value: &Value) -> bool {
    [json!(null), json!(""), json!(0), json!(false), json!([])].contains(value)
}
