//! YAML, and so JSON, as people write it in files and annotations.

use serde_json::Value;

/// The value of a text.
///
/// # Errors
/// The first problem, as one line.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    let options = serde_saphyr::options! { with_snippet: false };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
}
