//! What a manifest does: created, applied over what is stored, and whether that restarts the fleet.

use crate::rollout::args::{Change, Format, MANIFEST, named_or};
use crate::rollout::cluster::{Cluster, Object, name, namespace};
use crate::rollout::documents;
use crate::rollout::requests::{self, PatchType, Subresource};
use crate::rollout::told::Told;
use crate::shell::console::Stop;
use crate::shell::source::Source;
use daemonset_apiserver::admission::{Difference, template_change};
use serde_json::{Value, json};
use std::path::PathBuf;

/// `kubectl create --dry-run=server`.
pub(crate) fn create(manifest: Option<&PathBuf>, format: Format) -> Result<Told, Stop> {
    let manifest = one_daemon_set(&named_or(manifest, MANIFEST), None)?.value;
    match requests::create(&manifest) {
        Err(refusal) => Ok(Told::refusal(refusal)),
        Ok(stored) => match format {
            Format::Json => Told::json(&stored),
            Format::Text => {
                Ok(Told::words(format!("daemonset.apps/{} created (server dry run)\n", name(&stored))))
            }
        },
    }
}

/// `kubectl replace`.
pub(crate) fn replace(change: &Change) -> Result<Told, Stop> {
    let manifest = one_daemon_set(&change.manifest(), None)?.value;
    let stored = stored(change, &manifest)?.value;
    match requests::replace(&stored, &manifest) {
        Err(refusal) => Ok(Told::refusal(refusal)),
        Ok(after) => changed(change.output, &after, format!("daemonset.apps/{} replaced\n", name(&after))),
    }
}

/// `kubectl patch`.
pub(crate) fn patch(
    change: &Change,
    patch: &str,
    patch_type: PatchType,
    subresource: Subresource,
) -> Result<Told, Stop> {
    let told = |message: String| Stop::Input(format!("--patch: {message}"));
    let documents = documents::read(patch.as_bytes()).map_err(told)?;
    let [patch] = documents.as_slice() else { return Err(told("must be one object or list".to_owned())) };
    let stored = stored(change, &Value::Null)?.value;
    match requests::patch(&stored, patch, patch_type, subresource) {
        Err(refusal) => Ok(Told::refusal(refusal)),
        Ok(patched) => changed(change.output, &patched.after, patched.words()),
    }
}

fn changed(format: Format, after: &Value, words: String) -> Result<Told, Stop> {
    match format {
        Format::Json => Told::json(after),
        Format::Text => Ok(Told::words(words)),
    }
}

/// Exit code 0 whichever the answer is: it is an answer.
pub(crate) fn would_restart(change: &Change) -> Result<Told, Stop> {
    let manifest = one_daemon_set(&change.manifest(), None)?.value;
    let stored = stored(change, &manifest)?.value;
    match template_change(&stored, &manifest) {
        Err(refusal) => Ok(Told::refusal(refusal)),
        Ok(found) => match change.output {
            Format::Json => {
                let differences = found.iter().flat_map(|diff| &diff.differences).map(as_json);
                let differences = differences.collect::<Vec<_>>();
                Told::json(&json!({"restarts": found.is_some(), "differences": differences}))
            }
            Format::Text => Ok(Told::words(match found {
                None => format!("{}: applying it restarts no pod\n", name(&stored)),
                Some(diff) => format!("{}: applying it restarts every pod\n{diff}\n", name(&stored)),
            })),
        },
    }
}

fn as_json(difference: &Difference) -> Value {
    let text = difference.to_string();
    let path = text.split(": ").next();
    json!({"path": path, "old": difference.old, "new": difference.new})
}

/// The DaemonSet that the command line names, or the manifest; without either the only one.
fn stored(change: &Change, manifest: &Value) -> Result<Object, Stop> {
    let named = match (namespace(manifest), name(manifest)) {
        (_, "") => None,
        ("", name) => Some(name.to_owned()),
        (namespace, name) => Some(format!("{namespace}/{name}")),
    };
    one_daemon_set(&change.stored(), change.daemonset.as_deref().or(named.as_deref()))
}

fn one_daemon_set(source: &Source, wanted: Option<&str>) -> Result<Object, Stop> {
    let told = |message: String| Stop::Input(format!("{source}: {message}"));
    let cluster = Cluster::read(source).map_err(told)?;
    Ok(cluster.choose(wanted).map_err(told)?.daemon_set)
}
