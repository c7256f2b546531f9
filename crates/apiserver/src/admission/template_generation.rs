//! The template generation, which `apps/v1` stores in an annotation (v1.36 `pkg/apis/apps/v1/conversion.go`
//! Convert_v1_DaemonSet_To_apps_DaemonSet and back).

use crate::json::{at, fields_mut};
use daemonset_objects::kubernetes::well_known::TEMPLATE_GENERATION_ANNOTATION;
use serde_json::{Map, Value};
use thiserror::Error;

/// Why the annotation is no number, in the words of Go's `strconv.ParseInt`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum ParseError {
    #[error("strconv.ParseInt: parsing {0:?}: invalid syntax")]
    Syntax(String),
    #[error("strconv.ParseInt: parsing {0:?}: value out of range")]
    Range(String),
}

/// The value of the annotation; 0 if it is absent.
pub(super) fn get(object: &Value) -> Result<i64, ParseError> {
    let Some(text) = at(object, &["metadata", "annotations", TEMPLATE_GENERATION_ANNOTATION]).as_str() else {
        return Ok(0);
    };
    text.parse().map_err(|_| {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            ParseError::Range(text.to_owned())
        } else {
            ParseError::Syntax(text.to_owned())
        }
    })
}

pub(super) fn set(object: &mut Value, generation: i64) {
    let Some(metadata) = fields_mut(object, "metadata") else { return };
    let annotations = metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()));
    if !annotations.is_object() {
        *annotations = Value::Object(Map::new());
    }
    if let Value::Object(annotations) = annotations {
        annotations.insert(TEMPLATE_GENERATION_ANNOTATION.to_owned(), Value::from(generation.to_string()));
    }
}
