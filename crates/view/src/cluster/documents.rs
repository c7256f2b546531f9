//! JSON or YAML, as a file has it.

use crate::hostile;
use daemonset::internal::steering::MAX_REPEATED_EVENTS;
use serde_json::{Number, Value};
use serde_saphyr::options::AliasLimits;

/// The one value of JSON, or each document of YAML.
pub fn read(bytes: &[u8]) -> Result<Vec<Value>, String> {
    // The reader's own limits.
    read_within(AliasLimits::default(), bytes)
}

/// The same of a rollout policy, whose aliases may not repeat more than a text of the largest size could say.
pub fn read_policy(bytes: &[u8]) -> Result<Vec<Value>, String> {
    let limits = serde_saphyr::alias_limits! { max_total_replayed_events: MAX_REPEATED_EVENTS };
    let mut documents = read_within(limits, bytes)?;
    documents.iter_mut().for_each(hostile::put_everywhere);
    Ok(documents)
}

fn read_within(limits: AliasLimits, bytes: &[u8]) -> Result<Vec<Value>, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let text = text.trim_start_matches('\u{feff}');
    match serde_json::from_str(text) {
        Ok(value) => Ok(vec![value]),
        // YAML has braces, too; but a text that begins with one is meant as JSON.
        Err(error) if text.trim_start().starts_with(['{', '[']) => {
            yaml(limits, text).map_err(|_| error.to_string())
        }
        Err(_) => yaml(limits, text),
    }
}

/// As kubectl reads YAML: `0644` is octal, `yes` is true; empty documents are left out.
fn yaml(alias_limits: AliasLimits, text: &str) -> Result<Vec<Value>, String> {
    // The reader's own limits are for configurations, and a cluster is larger: a value takes at least a byte of its text, and
    // aliases have limits of their own.
    let own = serde_saphyr::Budget::default();
    let options = serde_saphyr::options! {
        legacy_octal_numbers: true,
        with_snippet: false,
        alias_limits: alias_limits,
        budget: serde_saphyr::budget! {
            max_events: own.max_events.max(2 * text.len()),
            max_nodes: own.max_nodes.max(text.len()),
            max_total_scalar_bytes: own.max_total_scalar_bytes.max(text.len()),
        },
    };
    let documents = serde_saphyr::from_multiple_with_options::<Value>(text, options);
    let mut documents = documents.map_err(|error| match error.to_string() {
        // In the reader's own words it is a type of Rust.
        breached if breached.starts_with("budget breached") => {
            "its YAML is nested too deeply, or its aliases say too much: JSON has neither".to_owned()
        }
        other => other,
    })?;
    documents.retain(|document| !document.is_null());
    documents.iter_mut().for_each(whole_numbers);
    Ok(documents)
}

/// YAML's `1e3` is JSON's `1000`: kubectl sends a whole number without its exponent.
fn whole_numbers(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            if let Some(whole) = whole(number) {
                *number = whole;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        Value::Object(members) => members.values_mut().for_each(whole_numbers),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn whole(number: &Number) -> Option<Number> {
    format!("{:.0}", number.as_f64()?)
        .parse::<i64>()
        .ok()
        .map(Number::from)
        .filter(|whole| whole.as_f64() == number.as_f64())
}
