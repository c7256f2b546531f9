//! Owner references, each once.

use crate::json::text;
use serde_json::Value;

/// When the API server looks for duplicates, which decides its words.
#[derive(Debug, Clone, Copy)]
pub(super) enum Duplicates {
    /// In the object of a create or an update.
    OfRequest,
    /// In the result of a patch, after admission plugins.
    OfPatch,
}

/// Drops each owner reference that equals an earlier one, and returns the warning about them (v1.36
/// `apiserver/pkg/endpoints/handlers` rest.go `dedupOwnerReferencesAndAddWarning`).
pub(super) fn keep_each_once(new: &mut Value, duplicates: Duplicates) -> Option<String> {
    let references = new.get_mut("metadata")?.get_mut("ownerReferences")?.as_array_mut()?;
    let (mut once, mut dropped): (Vec<Value>, Vec<String>) = (Vec::new(), Vec::new());
    for reference in references.drain(..) {
        if once.contains(&reference) {
            dropped.push(text(&reference, "uid").to_owned());
        } else {
            once.push(reference);
        }
    }
    *references = once;
    let when = match duplicates {
        Duplicates::OfRequest => "",
        Duplicates::OfPatch => " after mutating admission happens",
    };
    (!dropped.is_empty()).then(|| {
        format!(
            ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            dropped.join(", ")
        )
    })
}
