//! Surprises that a DaemonSet holds for the nodes and pods of a cluster.

use super::{Finding, LintRehearsal, Preflight, Rule, Severity, lint};
use crate::cluster::policy::drives;
use crate::cluster::{Models, Objects, read};
use crate::hostile;
use crate::policy;
use daemonset::Policy;
use daemonset::model::DaemonSet;
use daemonset::policy::Permissions;
use daemonset_apiserver::admission::{
    FieldValidation, Refusal, Request, Restart, Rules, TemplateDiff, respond,
};
use jiff::Timestamp;
use serde_json::Value;

/// The surprises of a DaemonSet, the worst first. `stored` is the DaemonSet that it would replace, and `full_name` the
/// `NAMESPACE/NAME` that it has or gets. The models are those of the objects, read once for all their DaemonSets.
pub fn look(
    (objects, models): (&Objects, &Models),
    daemon_set: &DaemonSet,
    stored: Option<&DaemonSet>,
    full_name: &str,
    (powers, now): (&Permissions, Timestamp),
) -> Vec<Finding> {
    let (namespace, name) = full_name.split_once('/').unwrap_or_default();
    let is_other = |other: &&DaemonSet| {
        let meta = &other.metadata;
        (meta.namespace.as_str(), meta.name.as_str()) != (namespace, name)
    };
    let mut preflight = Preflight::new(daemon_set, now)
        .nodes(&models.nodes)
        .pods(models.pods.iter().filter(|pod| pod.metadata.namespace == namespace))
        .revisions(models.revisions.iter().filter(|revision| revision.metadata.namespace == namespace))
        .daemon_sets(models.daemon_sets.iter().filter(is_other))
        .allocatable(objects.allocatable().iter().map(|(node, resources)| (node.as_str(), resources)));
    if let Some(stored) = stored {
        preflight = preflight.stored(stored);
    }
    if let Some(classes) = objects.priority_classes() {
        preflight = preflight.priority_classes(classes.iter().map(String::as_str));
    }
    let mut found = lint(&preflight.read_annotations(powers, read_policy));
    // Where there is an error already, a simulation would only repeat it.
    if let Ok(policy) = Policy::default().with_annotations(daemon_set, powers, read_policy) {
        let missed = LintRehearsal::new(daemon_set, &models.nodes, &policy).finding();
        found.extend(missed.filter(|_| found.iter().all(|finding| finding.severity != Severity::Error)));
        found.sort_by_key(|finding| finding.severity);
    }
    found
}

/// The API server's answer to a manifest: the object that it would store, if it does, and why it refuses the manifest. `stored` is the
/// DaemonSet that the manifest replaces.
///
/// A manifest of an older version is refused, and yet answered as if it were of the newest, so that its fields are looked at.
pub fn admitted(stored: Option<&Value>, manifest: &Value) -> (Option<Value>, Vec<Refusal>) {
    let rules = Rules::new().field_validation(FieldValidation::Warn);
    let answer = |request: Request<'_>| match respond(request, &rules).stored {
        Ok(applied) => (Some(applied), Vec::new()),
        Err(refusal) => (None, vec![refusal]),
    };
    let Some(stored) = stored else { return answer(Request::Create(manifest)) };
    let (applied, mut refusals) = answer(Request::Update(stored, manifest));
    if !matches!(refusals.as_slice(), [Refusal::Conflict { .. }]) {
        return (applied, refusals);
    }
    let mut newest = manifest.clone();
    if let Some(metadata) = newest.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
    let (applied, others) = answer(Request::Update(stored, &newest));
    refusals.extend(others);
    (applied, refusals)
}

/// The same where the API server refuses the manifest: its errors come first, each in place of ours about the same field.
pub fn with_refusals(mut findings: Vec<Finding>, refusals: &[Refusal]) -> Vec<Finding> {
    let mut refused: Vec<Finding> = refusals.iter().flat_map(refused).collect();
    findings.retain(|ours| {
        let is_repeated = ours.rule == Rule::Invalid && refused.iter().any(|it| it.path == ours.path);
        !is_repeated
    });
    refused.append(&mut findings);
    refused
}

fn refused(refusal: &Refusal) -> Vec<Finding> {
    match refusal {
        Refusal::Invalid(invalid) => {
            let errors = (&invalid.errors).into_iter().filter(|error| !error.path.is_empty());
            errors.map(|error| Finding::refused(&error.path, error.body())).collect()
        }
        Refusal::Undecodable { messages, .. } => {
            messages.iter().map(|message| Finding::refused(field_in(message), message)).collect()
        }
        Refusal::OtherKind { owner, api_version, kind, .. } => {
            let why = format!("{api_version} {kind} is not {} {}", owner.api_version, owner.kind);
            vec![Finding::refused("apiVersion", why)]
        }
        Refusal::Conflict { .. } => {
            let why = "the stored DaemonSet has changed since this version of it was read";
            vec![Finding::refused("metadata.resourceVersion", why)]
        }
        other => vec![Finding::refused("metadata", other)],
    }
}

/// The path in a message of Go about a value of a wrong type; without one it is about the whole object.
fn field_in(message: &str) -> &str {
    let field = message.split_once("Go struct field ").and_then(|(_, rest)| rest.split_once(" of type"));
    field.and_then(|(field, _)| field.split_once('.')).map_or("spec", |(_, path)| path)
}

/// What a manifest does to the pods when it is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restarts {
    Nothing,
    /// The strategy is OnDelete.
    OnDelete,
    /// The strategy is OnDelete, and a policy lets a driver delete the pods.
    Driven,
    Everything,
}

impl Restarts {
    /// `change` is that of the template.
    pub fn of(change: Option<&TemplateDiff>, stored: &Value, manifest: &Value) -> Self {
        match change.map(|change| change.restart) {
            None => Restarts::Nothing,
            // An annotation that the manifest does not name stays.
            Some(Restart::OnDelete) if drives(manifest).or_else(|| drives(stored)) == Some(true) => {
                Restarts::Driven
            }
            Some(Restart::OnDelete) => Restarts::OnDelete,
            Some(_) => Restarts::Everything,
        }
    }

    pub fn in_words(self) -> &'static str {
        match self {
            Restarts::Nothing => "applying it restarts no pod",
            Restarts::OnDelete => {
                "applying it restarts no pod: the update strategy is OnDelete, so that each pod gets the new version when it is deleted"
            }
            Restarts::Driven => {
                "applying it restarts every pod: the update strategy is OnDelete, and the driver that the policy asks for deletes the pods \
                 within its limits"
            }
            Restarts::Everything => "applying it restarts every pod",
        }
    }
}

fn read_policy(text: &str) -> Result<Value, String> {
    policy::read(text.as_bytes())
}

/// A manifest as the API server would store it, so that a default that is written out is no change; as it is where the API server
/// refuses it.
///
/// # Errors
/// A field that can't be read.
pub fn as_stored(admitted: Option<Value>, manifest: &Value) -> Result<DaemonSet, String> {
    let mut applied = admitted.unwrap_or_else(|| manifest.clone());
    hostile::put_stand_ins(&mut applied);
    read(&applied).map_err(|(path, error)| format!("{path}: {error}"))
}
