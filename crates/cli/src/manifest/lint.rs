//! `kubectl daemonset lint`: surprises that a DaemonSet holds for the nodes and pods of a cluster.

use crate::cluster::policy::{POLICY, may_need_powers};
use crate::cluster::{Models, Needs, Objects, Source, Wanted, full_name, name, namespace};
use crate::manifest::args::{LintArgs, Manifest};
use crate::manifest::changes::{daemon_sets, wanted};
use crate::manifest::requests::{self, Refused};
use crate::shell::console::{Format, LOOK, Stop, system_clock};
use crate::shell::response::Response;
use daemonset::model::DaemonSet;
use daemonset_apiserver::admission::FieldValidation;
use daemonset_lint::{Finding, Severity};
use daemonset_view::hostile;
use daemonset_view::lint;
use daemonset_view::simulate::policy::PolicyChoice;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Exit code 1 for errors and warnings; advice alone is fine.
pub(crate) fn lint(args: &LintArgs) -> Result<Response, Stop> {
    let found = match args.manifest()? {
        Some(manifest) => of_manifests(args, manifest)?,
        None => of_cluster(args)?,
    };
    let response = match (args.output(), found.as_slice()) {
        (Format::Json, [only]) => Response::json(&only.findings)?,
        (Format::Json, several) => Response::json(&json!({"daemonSets": several}))?,
        (Format::Text, several) => Response::text(text(several)),
    };
    let is_bad = |finding: &Finding| finding.severity != Severity::Advice;
    let is_bad = found.iter().flat_map(|found| &found.findings).any(is_bad);
    Ok(response.with_code(if is_bad { LOOK } else { 0 }))
}

/// The findings about one DaemonSet.
#[derive(Serialize)]
struct Found {
    name: String,
    findings: Vec<Finding>,
}

/// The findings about the only DaemonSet of a manifest, which the command line may give another name; or about each.
fn of_manifests(args: &LintArgs, manifest: Manifest) -> Result<Vec<Found>, Stop> {
    let title = manifest.title.clone();
    let manifests = daemon_sets(manifest)?;
    let only = match manifests.as_slice() {
        [only] => wanted(only),
        _ => None,
    };
    let is_one = only.is_some();
    let (source, chosen) = args.stored(only)?;
    let objects = objects(&source)?;
    source.announce(args.output())?;
    let mut cluster = Cluster::new(&source, objects).map_err(|message| source.stop(message))?;
    let found = manifests.iter().map(|manifest| {
        let stored = if is_one { chosen.clone() } else { wanted(manifest) };
        of_manifest(&mut cluster, manifest, stored.as_ref(), args.policy.as_ref())
            .map_err(|message| Stop::Input(format!("{title}: {message}")))
    });
    found.collect()
}

/// The findings about each stored DaemonSet that the command line chooses.
fn of_cluster(args: &LintArgs) -> Result<Vec<Found>, Stop> {
    let (source, wanted) = args.stored(None)?;
    let objects = objects(&source)?;
    let each = objects.each(wanted.as_ref()).map_err(|message| source.stop(message))?;
    source.announce(args.output())?;
    let mut cluster = Cluster::new(&source, objects).map_err(|message| source.stop(message))?;
    let found = each.iter().map(|wanted| {
        of_stored(&mut cluster, wanted, args.policy.as_ref()).map_err(|message| source.stop(message))
    });
    found.collect()
}

/// The objects in which the DaemonSets are looked at.
struct Cluster<'s> {
    source: &'s Source,
    objects: Objects,
    models: Models,
}

impl<'s> Cluster<'s> {
    /// # Errors
    /// The first object that can't be read.
    fn new(source: &'s Source, objects: Objects) -> Result<Self, String> {
        let models = objects.clone().models()?;
        Ok(Cluster { source, objects, models })
    }
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
    cluster: &mut Cluster<'_>,
    wanted: &Wanted,
    policy: Option<&PolicyChoice>,
) -> Result<Found, String> {
    let name = full_name(&cluster.objects.choose(Some(wanted))?.daemon_set);
    let mut daemon_set = cluster.objects.model_of(Some(wanted))?;
    if let Some(policy) = policy {
        policy.annotate(&mut daemon_set);
    }
    look(cluster, &daemon_set, None, &name)
}

/// As the API server would store it, if it does: a default that is written out is no change.
fn of_manifest(
    cluster: &mut Cluster<'_>,
    manifest: &Value,
    wanted: Option<&Wanted>,
    policy: Option<&PolicyChoice>,
) -> Result<Found, String> {
    let objects = &cluster.objects;
    let stored = if objects.has(wanted) { Some(objects.choose(wanted)?.daemon_set) } else { None };
    let admitted = match &stored {
        Some(stored) => requests::replace(stored, manifest, FieldValidation::Warn),
        None => requests::create(manifest, FieldValidation::Warn),
    };
    let (admitted, refused) = match admitted.result {
        Ok(admitted) => (Some(admitted), None),
        Err(refused) => (None, Some(refused)),
    };
    let mut applied = lint::as_stored(admitted, manifest)?;
    if let Some(policy) = policy {
        policy.annotate(&mut applied);
    }
    let mut found = match &stored {
        None => {
            let name = match namespace(manifest) {
                "" => format!("default/{}", name(manifest)),
                _ => full_name(manifest),
            };
            look(cluster, &applied, None, &name)?
        }
        Some(raw) => {
            let name = full_name(raw);
            let stored = DaemonSet::deserialize(raw).map_err(|error| error.to_string())?;
            look(cluster, &applied, Some(&stored), &name)?
        }
    };
    if let Some(Refused::Server(refusal)) = &refused {
        found.findings = lint::with_refusal(found.findings, refusal);
    }
    Ok(found)
}

/// `name` is the `NAMESPACE/NAME` that the DaemonSet has or gets.
fn look(
    cluster: &mut Cluster<'_>,
    daemon_set: &DaemonSet,
    stored: Option<&DaemonSet>,
    full_name: &str,
) -> Result<Found, String> {
    let Cluster { source, objects, models } = cluster;
    let now = objects.now().unwrap_or_else(system_clock);
    let namespace = full_name.split_once('/').map_or("", |(namespace, _)| namespace);
    // The policy may be that of a manifest or of a file, which need the powers, too.
    if daemon_set.metadata.annotations.get(POLICY).is_some_and(may_need_powers) {
        source.learn_powers(objects, [namespace.to_owned()].into())?;
    }
    let powers = objects.powers_of(namespace);
    let findings = lint::look((objects, models), daemon_set, stored, full_name, (&powers, now));
    Ok(Found { name: full_name.to_owned(), findings })
}

/// A line for each finding, which begins with the name of the DaemonSet where there are several.
fn text(several: &[Found]) -> String {
    let lines = several.iter().flat_map(|found| {
        let name = if several.len() == 1 { String::new() } else { format!("{}: ", found.name) };
        // Each is one line, whatever the template says.
        let line = move |finding| format!("{name}{}\n", hostile::in_one_line(&format!("{finding}")));
        found.findings.iter().map(line)
    });
    let lines: String = lines.collect();
    if lines.is_empty() { "nothing to say\n".to_owned() } else { lines }
}
