//! How Go and kubectl write text: indentation, columns, lists, URLs.

mod page;
mod table;
mod url;
mod yaml;
mod yaml_scalar;

pub(super) use page::Page;
pub(super) use table::columns;
pub(super) use url::probe_url;
pub(super) use yaml::{is_read_as_yaml, yaml};

use serde_json::Value;
use std::fmt::{Display, Write};

/// A list under `%v`: `[a b]`.
pub(crate) fn bracketed<T: Display>(items: &[T]) -> String {
    let mut out = String::from("[");
    for (index, item) in items.iter().enumerate() {
        let gap = if index > 0 { " " } else { "" };
        let _ = write!(out, "{gap}{item}");
    }
    out.push(']');
    out
}

/// An `intstr.IntOrString`; the number 0 when absent.
pub(crate) fn int_or_string(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(number) => number.as_i64().unwrap_or(0).to_string(),
        None => "0".to_owned(),
    }
}
