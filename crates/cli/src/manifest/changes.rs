//! The API server's answer to a manifest or a patch, and whether it restarts the fleet.

use crate::cluster::{Chosen, Needs, Objects, Wanted, name, namespace, read_documents};
use crate::manifest::args::{ChangeArgs, CreateArgs, ManifestFile, Unread, UpdateArgs};
use crate::manifest::requests::{self, Answered, PatchFormat, Refused, Subresource};
use crate::shell::console::{Format, LOOK, Stop};
use crate::shell::response::Response;
use daemonset_apiserver::admission::{Difference, FieldValidation, template_change};
use daemonset_view::lint::Restarts;
use kubectl_daemonset::kubectl::{ManifestVerb, check_manifest};
use serde_json::{Value, json};

/// `kubectl create --dry-run=server`.
pub(crate) fn create(args: &CreateArgs) -> Result<Response, Stop> {
    let validation = args.validate.field_validation();
    let manifest = match checked(args.manifest(), ManifestVerb::Create, validation)? {
        Ok(manifest) => manifest,
        Err(refused) => return Ok(refused),
    };
    let source = manifest.source.clone();
    let Answered { result, warnings } = requests::create(&daemon_set(manifest)?, validation);
    let response = match result {
        Err(refused) => refusal(&refused, ManifestVerb::Create, source.as_deref()),
        Ok(stored) => match args.output {
            Format::Json => Response::json(&stored)?,
            Format::Text => {
                Response::text(format!("daemonset.apps/{} created (server dry run)\n", name(&stored)))
            }
        },
    };
    Ok(response.with_warnings(&warnings))
}

/// kubectl's own refusal of a manifest, before it sends anything.
fn checked(
    read: Result<ManifestFile, Unread>,
    verb: ManifestVerb,
    validation: FieldValidation,
) -> Result<Result<ManifestFile, Response>, Stop> {
    let refused = |error: String| Ok(Err(Response::refusal(format_args!("error: {error}"))));
    match read {
        Ok(manifest) => match &manifest.source {
            Some(source) => match check_manifest(verb, &manifest.documents, source, validation) {
                Ok(()) => Ok(Ok(manifest)),
                Err(error) => refused(error.to_string()),
            },
            None => Ok(Ok(manifest)),
        },
        Err(Unread { kubectl: Some(error), .. }) => refused(error),
        Err(unread) => Err(unread.own()),
    }
}

fn refusal(refused: &Refused, verb: ManifestVerb, source: Option<&str>) -> Response {
    Response::refusal(refused.text(source.map(|source| (verb, source))))
}

/// `kubectl replace --dry-run=server`, or `kubectl patch --dry-run=server`.
pub(crate) fn update(args: &UpdateArgs) -> Result<Response, Stop> {
    match &args.patch {
        Some(text) => patch(&args.change, text, args.r#type, args.subresource),
        None => replace(&args.change, args.validate.field_validation()),
    }
}

fn replace(change: &ChangeArgs, validation: FieldValidation) -> Result<Response, Stop> {
    let manifest = match checked(change.manifest(), ManifestVerb::Replace, validation)? {
        Ok(manifest) => manifest,
        Err(refused) => return Ok(refused),
    };
    let source = manifest.source.clone();
    let manifest = daemon_set(manifest)?;
    let stored = stored(change, &manifest)?;
    let Answered { result, warnings } = requests::replace(&stored, &manifest, validation);
    let response = match result {
        Err(refused) => refusal(&refused, ManifestVerb::Replace, source.as_deref()),
        Ok(after) => {
            let message = format!("daemonset.apps/{} replaced (server dry run)\n", name(&after));
            changed(change.output(), &after, message)?
        }
    };
    Ok(response.with_warnings(&warnings))
}

fn patch(
    change: &ChangeArgs,
    patch: &str,
    patch_type: PatchFormat,
    subresource: Subresource,
) -> Result<Response, Stop> {
    let invalid = |message: String| Stop::Input(format!("--patch: {message}"));
    let documents = read_documents(patch.as_bytes()).map_err(invalid)?;
    let [patch] = documents.as_slice() else {
        return Err(invalid("must be one object or list".to_owned()));
    };
    let stored = stored(change, &Value::Null)?;
    let Answered { result, warnings } = requests::patch(&stored, patch, patch_type, subresource);
    let response = match result {
        Err(refused) => Response::refusal(refused.text(None)),
        Ok(patched) => changed(change.output(), &patched.after, patched.message())?,
    };
    Ok(response.with_warnings(&warnings))
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
    let manifest = daemon_set(args.manifest().map_err(Unread::own)?)?;
    let stored = stored(args, &manifest)?;
    let found = match template_change(&stored, &manifest) {
        Err(refusal) => return Ok(Response::refusal(refusal)),
        Ok(found) => found,
    };
    let what = Restarts::of(found.as_ref(), &stored, &manifest);
    let restarts = matches!(what, Restarts::Everything | Restarts::Driven);
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
        Format::Text => {
            let differences = found.map(|diff| format!("{diff}\n")).unwrap_or_default();
            Response::text(format!("{}: {}\n{differences}", name(&stored), what.in_words()))
        }
    };
    Ok(response.with_code(if restarts { LOOK } else { 0 }))
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
    Some(Wanted::named(namespace, name))
}

/// The only DaemonSet of a manifest.
pub(crate) fn daemon_set(manifest: ManifestFile) -> Result<Value, Stop> {
    of_manifest(manifest, |objects| Ok(objects.choose(None)?.daemon_set))
}

/// The DaemonSets of a manifest, at least one.
pub(crate) fn daemon_sets(manifest: ManifestFile) -> Result<Vec<Value>, Stop> {
    of_manifest(manifest, |objects| {
        let each = objects.each(None)?.into_iter();
        each.map(|wanted| Ok(objects.choose(Some(&wanted))?.daemon_set)).collect()
    })
}

fn of_manifest<T>(manifest: ManifestFile, choose: impl Fn(&Objects) -> Result<T, String>) -> Result<T, Stop> {
    let ManifestFile { title, documents, .. } = manifest;
    let chosen = Objects::of_documents(documents).and_then(|mut objects| {
        objects.found_in("the manifest".to_owned(), "");
        choose(&objects)
    });
    chosen.map_err(|message| Stop::Input(format!("{title}: {message}")))
}
