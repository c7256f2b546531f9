//! The API server's answer to a manifest or a patch, and whether it restarts the fleet.

use crate::cluster::{Chosen, Needs, Objects, Wanted, name, namespace, read_documents};
use crate::manifest::args::{ChangeArgs, CreateArgs, Manifest, UpdateArgs};
use crate::manifest::requests::{self, PatchType, Subresource};
use crate::shell::console::{Format, LOOK, Stop};
use crate::shell::response::Response;
use daemonset_apiserver::admission::{Difference, Restart, template_change};
use serde_json::{Value, json};

/// `kubectl create --dry-run=server`.
pub(crate) fn create(args: &CreateArgs) -> Result<Response, Stop> {
    let manifest = daemon_set(args.manifest()?)?;
    match requests::create(&manifest) {
        Err(refusal) => Ok(Response::refusal(refusal)),
        Ok(stored) => match args.output {
            Format::Json => Response::json(&stored),
            Format::Text => {
                Ok(Response::text(format!("daemonset.apps/{} created (server dry run)\n", name(&stored))))
            }
        },
    }
}

/// `kubectl replace`, or `kubectl patch`.
pub(crate) fn update(args: &UpdateArgs) -> Result<Response, Stop> {
    match &args.patch {
        Some(text) => patch(&args.change, text, args.r#type, args.subresource),
        None => replace(&args.change),
    }
}

fn replace(change: &ChangeArgs) -> Result<Response, Stop> {
    let manifest = daemon_set(change.manifest()?)?;
    let stored = stored(change, &manifest)?;
    match requests::replace(&stored, &manifest) {
        Err(refusal) => Ok(Response::refusal(refusal)),
        Ok(after) => changed(change.output(), &after, format!("daemonset.apps/{} replaced\n", name(&after))),
    }
}

fn patch(
    change: &ChangeArgs,
    patch: &str,
    patch_type: PatchType,
    subresource: Subresource,
) -> Result<Response, Stop> {
    let invalid = |message: String| Stop::Input(format!("--patch: {message}"));
    let documents = read_documents(patch.as_bytes()).map_err(invalid)?;
    let [patch] = documents.as_slice() else {
        return Err(invalid("must be one object or list".to_owned()));
    };
    let stored = stored(change, &Value::Null)?;
    match requests::patch(&stored, patch, patch_type, subresource) {
        Err(refusal) => Ok(Response::refusal(refusal)),
        Ok(patched) => changed(change.output(), &patched.after, patched.message()),
    }
}

fn changed(format: Format, after: &Value, message: String) -> Result<Response, Stop> {
    match format {
        Format::Json => Response::json(after),
        Format::Text => Ok(Response::text(message)),
    }
}

/// Exit code 1 where applying it restarts the fleet, or the API server refuses the manifest. Under OnDelete applying it
/// restarts nothing.
pub(crate) fn would_restart(args: &ChangeArgs) -> Result<Response, Stop> {
    let manifest = daemon_set(args.manifest()?)?;
    let stored = stored(args, &manifest)?;
    let found = match template_change(&stored, &manifest) {
        Err(refusal) => return Ok(Response::refusal(refusal)),
        Ok(found) => found,
    };
    let restarts = found.as_ref().is_some_and(|diff| diff.restart == Restart::Rollout);
    let response = match args.output() {
        Format::Json => {
            let differences = found.iter().flat_map(|diff| &diff.differences).map(as_json);
            let differences = differences.collect::<Vec<_>>();
            Response::json(&json!({
                "restarts": restarts,
                "restartsOnDelete": found.is_some() && !restarts,
                "differences": differences,
            }))?
        }
        Format::Text => Response::text(match found {
            None => format!("{}: applying it restarts no pod\n", name(&stored)),
            Some(diff) => format!("{}: {}\n{diff}\n", name(&stored), in_words(diff.restart)),
        }),
    };
    Ok(response.with_code(if restarts { LOOK } else { 0 }))
}

fn in_words(restart: Restart) -> &'static str {
    match restart {
        Restart::OnDelete => {
            "applying it restarts no pod: the update strategy is OnDelete, so that each pod gets the new version when it is deleted"
        }
        _ => "applying it restarts every pod",
    }
}

fn as_json(difference: &Difference) -> Value {
    let text = difference.to_string();
    let path = text.split(": ").next();
    json!({"path": path, "old": difference.old, "new": difference.new})
}

/// A patch has no object of its own, and its DaemonSet is the only one.
fn stored(args: &ChangeArgs, manifest: &Value) -> Result<Value, Stop> {
    let (source, wanted) = match manifest {
        Value::Null => args.patched()?,
        manifest => args.stored(wanted(manifest))?,
    };
    let chosen = source.objects(Needs::Rollout)?.choose(wanted.as_ref());
    let Chosen { daemon_set, .. } = chosen.map_err(|message| source.stop(message))?;
    source.announce(args.output())?;
    Ok(daemon_set)
}

/// The name in a manifest.
pub(crate) fn wanted(manifest: &Value) -> Option<Wanted> {
    let namespace = Some(namespace(manifest)).filter(|namespace| !namespace.is_empty());
    let name = Some(name(manifest)).filter(|name| !name.is_empty())?;
    Some(Wanted { namespace: namespace.map(str::to_owned), name: name.to_owned() })
}

/// The only DaemonSet of a manifest.
pub(crate) fn daemon_set(manifest: Manifest) -> Result<Value, Stop> {
    let Manifest { title, documents } = manifest;
    let chosen = Objects::of_documents(documents).and_then(|mut objects| {
        objects.found_in("the manifest".to_owned(), "");
        objects.choose(None)
    });
    match chosen {
        Ok(Chosen { daemon_set, .. }) => Ok(daemon_set),
        Err(message) => Err(Stop::Input(format!("{title}: {message}"))),
    }
}
