//! `kubectl daemonset lint`: surprises that a DaemonSet holds for the nodes and pods of a cluster.

use crate::cluster::policy::{POLICY, may_need_powers};
use crate::cluster::{Models, Needs, Objects, Source, Wanted, full_name, name, namespace};
use crate::manifest::args::{LintArgs, ManifestFile};
use crate::manifest::changes::{daemon_sets, wanted};
use crate::shell::console::{Format, LOOK, Stop, system_clock};
use crate::shell::response::Response;
use daemonset::model::DaemonSet;
use daemonset_view::hostile;
use daemonset_view::lint::{self, Finding, Severity};
use daemonset_view::policy::PolicyChoice;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;

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
struct FoundManifest {
    name: String,
    findings: Vec<Finding>,
}

/// The findings about the only DaemonSet of a manifest, which the command line may give another name; or about each.
fn of_manifests(args: &LintArgs, manifest: ManifestFile) -> Result<Vec<FoundManifest>, Stop> {
    let title = manifest.title.clone();
    let mut manifests = daemon_sets(manifest)?;
    let namespaces: BTreeSet<&str> = manifests.iter().map(namespace).collect();
    let is_one = manifests.len() == 1;
    let named = match (manifests.as_slice(), namespaces.first()) {
        ([only], _) => wanted(only),
        (_, Some(one)) if namespaces.len() == 1 && !one.is_empty() => {
            Wanted::default().in_namespace(Some(one)).ok()
        }
        _ => None,
    };
    let (source, chosen) = args.stored(named, namespaces.len() > 1)?;
    // kubectl puts an object without a namespace into its own.
    let bare = manifests.iter_mut().filter(|manifest| namespace(manifest).is_empty()).collect::<Vec<_>>();
    if !bare.is_empty() {
        let of_flag = chosen.as_ref().and_then(|wanted| wanted.namespace.clone());
        if let Some(own) = of_flag.or_else(|| source.namespace()) {
            bare.into_iter().for_each(|manifest| put(manifest, "namespace", own.clone()));
        }
    }
    let objects = objects(&source)?;
    source.announce(args.output())?;
    let mut cluster = LintedCluster::new(&source, objects).map_err(|message| source.stop(message))?;
    let found = manifests.iter().map(|manifest| {
        let stored = if is_one { chosen.clone() } else { wanted(manifest) };
        of_manifest(&mut cluster, manifest, stored.as_ref(), args.policy.as_ref())
            .map_err(|message| Stop::Input(format!("{title}: {message}")))
    });
    found.collect()
}

/// The findings about each stored DaemonSet that the command line chooses.
fn of_cluster(args: &LintArgs) -> Result<Vec<FoundManifest>, Stop> {
    let (source, wanted) = args.stored(None, false)?;
    let objects = objects(&source)?;
    let each = objects.each(wanted.as_ref()).map_err(|message| source.stop(message))?;
    source.announce(args.output())?;
    let mut cluster = LintedCluster::new(&source, objects).map_err(|message| source.stop(message))?;
    let found = each.iter().map(|wanted| {
        of_stored(&mut cluster, wanted, args.policy.as_ref()).map_err(|message| source.stop(message))
    });
    found.collect()
}

/// The objects in which the DaemonSets are looked at.
struct LintedCluster<'s> {
    source: &'s Source,
    objects: Objects,
    models: Models,
}

impl<'s> LintedCluster<'s> {
    /// # Errors
    /// The first object that can't be read.
    fn new(source: &'s Source, objects: Objects) -> Result<Self, String> {
        let models = objects.clone().models()?;
        Ok(LintedCluster { source, objects, models })
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
    cluster: &mut LintedCluster<'_>,
    wanted: &Wanted,
    policy: Option<&PolicyChoice>,
) -> Result<FoundManifest, String> {
    let name = full_name(&cluster.objects.choose(Some(wanted))?.daemon_set);
    let mut daemon_set = cluster.objects.model_of(Some(wanted))?;
    if let Some(policy) = policy {
        policy.annotate(&mut daemon_set);
    }
    look(cluster, &daemon_set, None, &name)
}

/// As the API server would store it, if it does: a default that is written out is no change.
fn of_manifest(
    cluster: &mut LintedCluster<'_>,
    manifest: &Value,
    wanted: Option<&Wanted>,
    policy: Option<&PolicyChoice>,
) -> Result<FoundManifest, String> {
    let objects = &cluster.objects;
    let stored = if objects.has(wanted) { Some(objects.choose(wanted)?.daemon_set) } else { None };
    let mut manifest = manifest.clone();
    let full_name = match &stored {
        None => {
            if namespace(&manifest).is_empty() {
                put(&mut manifest, "namespace", "default".to_owned());
            }
            full_name(&manifest)
        }
        // The command line may compare it with one of another name.
        Some(stored) => {
            put(&mut manifest, "name", name(stored).to_owned());
            put(&mut manifest, "namespace", namespace(stored).to_owned());
            full_name(stored)
        }
    };
    let (admitted, refusals) = lint::admitted(stored.as_ref(), &manifest);
    let mut applied = lint::as_stored(admitted, &manifest)?;
    if let Some(policy) = policy {
        policy.annotate(&mut applied);
    }
    let stored = stored.map(DaemonSet::deserialize).transpose().map_err(|error| error.to_string())?;
    let found = look(cluster, &applied, stored.as_ref(), &full_name)?;
    Ok(FoundManifest { findings: lint::with_refusals(found.findings, &refusals), ..found })
}

/// A member of the metadata.
fn put(manifest: &mut Value, member: &str, text: String) {
    if let Some(metadata) = manifest.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert(member.to_owned(), text.into());
    }
}

/// `name` is the `NAMESPACE/NAME` that the DaemonSet has or gets.
fn look(
    cluster: &mut LintedCluster<'_>,
    daemon_set: &DaemonSet,
    stored: Option<&DaemonSet>,
    full_name: &str,
) -> Result<FoundManifest, String> {
    let LintedCluster { source, objects, models } = cluster;
    let now = objects.now().unwrap_or_else(system_clock);
    let namespace = full_name.split_once('/').map_or("", |(namespace, _)| namespace);
    // The policy may be that of a manifest or of a file, which need the powers, too.
    if daemon_set.metadata.annotations.get(POLICY).is_some_and(may_need_powers) {
        source.learn_powers(objects, [namespace.to_owned()].into())?;
    }
    let powers = objects.powers_of(namespace);
    let findings = lint::look((objects, models), daemon_set, stored, full_name, (&powers, now));
    Ok(FoundManifest { name: full_name.to_owned(), findings })
}

/// A line for each finding, which begins with the name of the DaemonSet where there are several.
fn text(several: &[FoundManifest]) -> String {
    let lines = several.iter().flat_map(|found| {
        let name = if several.len() == 1 { String::new() } else { format!("{}: ", found.name) };
        // Each is one line, whatever the template says.
        let line = move |finding| format!("{name}{}\n", hostile::in_one_line(&format!("{finding}")));
        found.findings.iter().map(line)
    });
    let lines: String = lines.collect();
    if lines.is_empty() { "nothing to say\n".to_owned() } else { lines }
}
