//! The defaults that the API server fills in: tables of rows, each with its source, and one function that applies
//! them.

mod always_serialized;
mod container;
mod image;
mod path;
mod pod;
mod row;
mod volume;
mod workload;

use super::Form;
use path::DefaultStep;
use row::DefaultRow;
use serde_json::Value;
use std::fmt;

/// Fills in the defaults of a decoded DaemonSet, as the API server does before it validates and stores one (v1.36
/// apps/v1 `zz_generated.defaults.go SetObjectDefaults_DaemonSet`, then the conversion to the internal types and
/// back).
///
/// It removes nothing but the four annotations that [`default_template`] names, and applying it twice gives the same
/// object as applying it once. A value of a wrong type is left alone: decoding has refused it.
pub fn default(object: &mut Value, form: Form) {
    for rows in workload(form) {
        apply(rows, object);
    }
    if let Some(template) = object.pointer_mut("/spec/template") {
        default_template(template);
    }
}

/// Fills in the defaults of a pod template, as the API server does for one inside a DaemonSet (core/v1).
///
/// A template gets fewer defaults than a pod: see [`default_pod`]. The annotations
/// `pod.{alpha,beta}.kubernetes.io/init-container{s,-statuses}` are removed, and `serviceAccount` is set to the value
/// of `serviceAccountName` (v1.36 core/v1 `conversion.go`).
pub fn default_template(template: &mut Value) {
    for rows in TEMPLATE {
        apply(rows, template);
    }
    pod::round_up(template);
    pod::drop_init_container_annotations(template);
}

/// Fills in the defaults of a pod: the defaults of [`default_template`], and the ones for pods only (v1.36 core/v1
/// `defaults.go SetDefaults_Pod`).
///
/// Pods alone get requests from limits, service links, and host ports under `hostNetwork`. A template that spells
/// these out therefore differs from one that does not. The requests of `spec.resources` are not derived from the
/// containers'.
pub fn default_pod(pod: &mut Value) {
    default_template(pod);
    for rows in POD_ONLY {
        apply(rows, pod);
    }
}

/// Every default that [`default`] fills in, in its order, with the source of each.
pub fn defaults(form: Form) -> impl Iterator<Item = DefaultRule> {
    let workload = workload(form).into_iter().flatten().map(|row| (WHOLE, row));
    workload.chain(TEMPLATE.iter().copied().flatten().map(|row| (IN_TEMPLATE, row))).map(rule)
}

/// The defaults that [`default_pod`] fills in and [`default_template`] does not.
pub fn pod_only_defaults() -> impl Iterator<Item = DefaultRule> {
    POD_ONLY.iter().copied().flatten().map(|row| rule((WHOLE, row)))
}

/// One default: the field, its value, and the source of the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DefaultRule {
    /// The field's path: `[*]` is each item of a list, `{a,b}` each of some fields, `[type=X]` only an object whose
    /// type is X.
    pub path: String,
    /// The value: JSON, or a description of how it is computed.
    pub value: String,
    /// The source of the default: a file and function of v1.36, or the proposal.
    pub source: &'static str,
}

impl fmt::Display for DefaultRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} ({})", self.path, self.value, self.source)
    }
}

const WHOLE: &[DefaultStep] = &[];
const IN_TEMPLATE: &[DefaultStep] = &[DefaultStep::In("spec"), DefaultStep::In("template")];

/// The rows of a pod template. Structs come first, since later rows fill in their fields.
const TEMPLATE: &[&[DefaultRow]] = &[
    always_serialized::STRUCTS,
    pod::ROWS,
    volume::ROWS,
    container::ROWS,
    container::HANDLERS,
    always_serialized::FIELDS,
];

const POD_ONLY: &[&[DefaultRow]] = &[pod::ONLY_ROWS];

/// The rows of a DaemonSet around its template.
fn workload(form: Form) -> [&'static [DefaultRow]; 4] {
    match form {
        Form::AppsV1 => {
            [workload::STRUCTS, workload::APPS_V1, workload::LIMITS, workload::APPS_V1_CONVERSION]
        }
        Form::Proposal => [workload::STRUCTS, workload::PROPOSAL, workload::LIMITS, &[]],
    }
}

fn apply(rows: &[DefaultRow], value: &mut Value) {
    for row in rows {
        path::visit(value, row.at, &mut |object| row.fill(object));
    }
}

fn rule((before, row): (&[DefaultStep], &DefaultRow)) -> DefaultRule {
    let mut path = path::display(before.iter().chain(row.at));
    path.push_str(row.field);
    DefaultRule { path, value: row.value.to_string(), source: row.source }
}
