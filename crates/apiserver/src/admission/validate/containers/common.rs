//! What every container must be: its name and image, and the order in which its parts are looked at.

use super::{devices, env, env_from, mounts, ports, resize, resources, security};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::Pod;
use crate::admission::validate::volumes::Volumes;
use crate::admission::validate::words;
use crate::fields::text;
use crate::go::GoValue;
use serde_json::{Value, json};

/// v1.36 core/validation `validateContainerCommon`.
pub(super) fn validate(
    container: &Value,
    pod: &Pod<'_>,
    volumes: &Volumes<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    name(container, path, errors);
    words::required(text(container, "image"), &path.child("image"), errors);
    termination_message_policy(container, path, errors);
    ports::validate(container, path, errors);
    env::validate(container, path, errors);
    env_from::validate(container, path, errors);
    mounts::validate(container, volumes, path, errors);
    devices::validate(container, volumes, path, errors);
    pull_policy(text(container, "imagePullPolicy"), &path.child("imagePullPolicy"), errors);
    let (empty, at) = (json!({}), path.child("resources"));
    let requirements = container.get("resources").unwrap_or(&empty);
    resources::validate(requirements, resources::Names::Container, pod, &at, errors);
    resize::validate(container, pod, path, errors);
    security::validate(container, pod, path, errors);
}

fn name(container: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (name, path) = (text(container, "name"), path.child("name"));
    if name.is_empty() {
        errors.required(&path, "");
    } else {
        words::dns_label(name, &path, errors);
    }
}

fn termination_message_policy(container: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let supported = ["File", "FallbackToLogsOnError"];
    let (policy, path) =
        (text(container, "terminationMessagePolicy"), path.child("terminationMessagePolicy"));
    one_of(policy, &supported, &path, errors);
}

/// v1.36 core/validation `validatePullPolicy`.
pub(in crate::admission::validate) fn pull_policy(
    policy: &str,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    one_of(policy, &["Always", "IfNotPresent", "Never"], path, errors);
}

/// A name that must be there and be one of those that there are.
pub(super) fn one_of(name: &str, supported: &[&str], path: &FieldPath<'_>, errors: &mut ErrorList) {
    if name.is_empty() {
        errors.required(path, "");
    } else if !supported.contains(&name) {
        errors.not_supported(path, GoValue::named(name), supported);
    }
}
