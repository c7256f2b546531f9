//! Annotations that other fields have replaced.

use super::profile;
use crate::admission::path::FieldPath;
use crate::json::{at, text, text_if_set};
use serde_json::Value;

const DEPRECATED: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    ("security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];
const SECCOMP_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
const NO_SECCOMP: &str = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
const OLD_APP_ARMOR: &str = "deprecated since v1.30; use the \"appArmorProfile\" field instead";

/// The annotations of a template, beside its pod.
pub(super) struct Annotated<'a> {
    annotations: &'a Value,
    pod: &'a Value,
    path: &'a FieldPath<'a>,
}

impl<'a> Annotated<'a> {
    /// `path` is that of the metadata.
    pub(super) fn new(metadata: &'a Value, pod: &'a Value, path: &'a FieldPath<'a>) -> Self {
        Annotated { annotations: at(metadata, &["annotations"]), pod, path }
    }

    pub(super) fn deprecated(&self, found: &mut Vec<String>) {
        for (key, message) in DEPRECATED {
            self.warn_of(key, message, found);
        }
    }

    /// The pod's seccomp annotation, without the field.
    pub(super) fn pod_profile(&self, found: &mut Vec<String>) {
        if profile(self.pod, "seccompProfile").is_none() {
            self.warn_of(SECCOMP_POD, NO_SECCOMP, found);
        }
    }

    /// A container's seccomp and AppArmor annotations, without the fields.
    pub(super) fn container_profiles(&self, container: &Value, found: &mut Vec<String>) {
        let name = text(container, "name");
        if profile(container, "seccompProfile").is_none() {
            self.warn_of(&format!("{SECCOMP_CONTAINER}{name}"), NO_SECCOMP, found);
        }
        let app_armor = format!("{APP_ARMOR}{name}");
        let annotation = text(self.annotations, &app_armor);
        let by_the_pod =
            profile(self.pod, "appArmorProfile").is_some_and(|profile| is_the_same(profile, annotation));
        if profile(container, "appArmorProfile").is_none() && !by_the_pod {
            self.warn_of(&app_armor, OLD_APP_ARMOR, found);
        }
    }

    fn warn_of(&self, key: &str, message: &str, found: &mut Vec<String>) {
        if self.annotations.get(key).is_some() {
            found.push(format!("{}: {message}", self.path.child("annotations").key(key)));
        }
    }
}

/// Whether the annotation means this profile (v1.36 `pkg/api/pod` util.go `ApparmorFieldForAnnotation`).
fn is_the_same(profile: &Value, annotation: &str) -> bool {
    let meant = match annotation {
        "unconfined" => ("Unconfined", None),
        "runtime/default" => ("RuntimeDefault", None),
        other => match other.strip_prefix("localhost/").filter(|name| !name.is_empty()) {
            Some(name) => ("Localhost", Some(name)),
            None => return false,
        },
    };
    meant == (text(profile, "type"), text_if_set(profile, "localhostProfile"))
}
