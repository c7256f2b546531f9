//! YAML, and so JSON, as people write it in files and annotations.

use daemonset::internal::steering::MAX_REPEATED_EVENTS;
use serde_json::Value;

/// The value of a text, whose aliases may not repeat more than an annotation of the largest size could say.
///
/// # Errors
/// The first problem, as one line.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    let options = serde_saphyr::options! {
        with_snippet: false,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_REPEATED_EVENTS },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
}
