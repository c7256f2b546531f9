//! `kubectl daemonset lint`: surprises that a DaemonSet holds for the nodes and pods of a cluster.

use crate::cluster::policy::{POLICY, may_need_powers};
use crate::cluster::{Needs, Objects, Source, Wanted, full_name, name, namespace};
use crate::manifest::args::LintArgs;
use crate::manifest::changes::{daemon_set, wanted};
use crate::manifest::requests;
use crate::shell::console::{Format, LOOK, Stop, system_clock};
use crate::shell::response::Response;
use daemonset::model::DaemonSet;
use daemonset_apiserver::admission::FieldValidation;
use daemonset_lint::{Finding, Severity};
use daemonset_view::hostile;
use daemonset_view::lint;
use daemonset_view::simulate::policy::PolicyChoice;
use serde::Deserialize;
use serde_json::Value;

/// Exit code 1 for errors and warnings; advice alone is fine.
pub(crate) fn lint(args: &LintArgs) -> Result<Response, Stop> {
    let manifest = args.manifest()?;
    let title = manifest.as_ref().map(|manifest| manifest.title.clone());
    let manifest = manifest.map(daemon_set).transpose()?;
    let named = manifest.as_ref().and_then(wanted);
    let (source, wanted) = args.stored(named)?;
    let objects = objects(&source)?;
    let found = match (&manifest, title) {
        (Some(manifest), Some(title)) => {
            of_manifest((&source, objects), manifest, wanted.as_ref(), args.policy.as_ref())
                .map_err(|message| Stop::Input(format!("{title}: {message}")))?
        }
        _ => of_stored((&source, objects), wanted.as_ref(), args.policy.as_ref())
            .map_err(|message| source.stop(message))?,
    };
    source.announce(args.output())?;
    let response = match args.output() {
        Format::Json => Response::json(&found)?,
        Format::Text => Response::text(text(&found)),
    };
    let is_bad = |finding: &Finding| finding.severity != Severity::Advice;
    Ok(response.with_code(if found.iter().any(is_bad) { LOOK } else { 0 }))
}

/// With the priority classes of a cluster, where one may read them.
fn objects(source: &Source) -> Result<Objects, Stop> {
    let mut objects = source.objects(Needs::Plan)?;
    if let Source::Kubectl(kubectl) = source {
        objects.learn_priority_classes(kubectl.priority_classes());
    }
    Ok(objects)
}

fn of_stored(
    (source, objects): (&Source, Objects),
    wanted: Option<&Wanted>,
    policy: Option<&PolicyChoice>,
) -> Result<Vec<Finding>, String> {
    let name = full_name(&objects.choose(wanted)?.daemon_set);
    let mut daemon_set = objects.model_of(wanted)?;
    if let Some(policy) = policy {
        policy.annotate(&mut daemon_set);
    }
    look((source, objects), &daemon_set, None, &name)
}

/// As the API server would store it, if it does: a default that is written out is no change.
fn of_manifest(
    (source, objects): (&Source, Objects),
    manifest: &Value,
    wanted: Option<&Wanted>,
    policy: Option<&PolicyChoice>,
) -> Result<Vec<Finding>, String> {
    let stored = if objects.has(wanted) { Some(objects.choose(wanted)?.daemon_set) } else { None };
    let admitted = match &stored {
        Some(stored) => requests::replace(stored, manifest, FieldValidation::Warn),
        None => requests::create(manifest, FieldValidation::Warn),
    };
    let mut applied = lint::as_stored(admitted.result.ok(), manifest)?;
    if let Some(policy) = policy {
        policy.annotate(&mut applied);
    }
    match &stored {
        None => {
            let name = match namespace(manifest) {
                "" => format!("default/{}", name(manifest)),
                _ => full_name(manifest),
            };
            look((source, objects), &applied, None, &name)
        }
        Some(raw) => {
            let name = full_name(raw);
            let stored = DaemonSet::deserialize(raw).map_err(|error| error.to_string())?;
            look((source, objects), &applied, Some(&stored), &name)
        }
    }
}

/// `name` is the `NAMESPACE/NAME` that the DaemonSet has or gets.
fn look(
    (source, mut objects): (&Source, Objects),
    daemon_set: &DaemonSet,
    stored: Option<&DaemonSet>,
    full_name: &str,
) -> Result<Vec<Finding>, String> {
    let now = objects.now().unwrap_or_else(system_clock);
    let namespace = full_name.split_once('/').map_or("", |(namespace, _)| namespace);
    // The policy may be that of a manifest or of a file, which need the powers, too.
    if daemon_set.metadata.annotations.get(POLICY).is_some_and(may_need_powers) {
        source.learn_powers(&mut objects, [namespace.to_owned()].into());
    }
    let powers = objects.powers_of(namespace);
    lint::look(objects, daemon_set, stored, full_name, (&powers, now))
}

fn text(found: &[Finding]) -> String {
    if found.is_empty() {
        return "nothing to say\n".to_owned();
    }
    // Each is one line, whatever the template says.
    found.iter().map(|finding| hostile::in_one_line(&finding.to_string()) + "\n").collect()
}
