//! The pod template as the rules of its parts see it.

use super::options::ValidationOptions;
use crate::json::{flag, list, member, number_if_set, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A pod template's spec, and the values that several rules need.
pub(super) struct Pod<'a> {
    /// `spec.template.spec`.
    pub(super) spec: &'a Value,
    /// The rules that an update may break because the stored template does.
    pub(super) options: ValidationOptions,
    /// The names of the resource claims (v1.36 `gatherPodResourceClaimNames`).
    pub(super) claims: BTreeSet<&'a str>,
}

/// The valid volumes, by name.
pub(super) type Volumes<'a> = BTreeMap<&'a str, &'a Value>;

/// A container and its position in the spec.
pub(super) struct Container<'a> {
    pub(super) value: &'a Value,
    pub(super) list: &'static str,
    pub(super) position: usize,
}

impl<'a> Pod<'a> {
    pub(super) fn new(spec: &'a Value, options: ValidationOptions) -> Self {
        let names = list(spec, "resourceClaims").iter().map(|claim| text(claim, "name"));
        Pod { spec, options, claims: names.filter(|name| !name.is_empty()).collect() }
    }

    pub(super) fn grace_period(&self) -> Option<i64> {
        number_if_set(self.spec, "terminationGracePeriodSeconds")
    }

    /// Whether the pod uses the host's user namespace; true if the field is absent.
    pub(super) fn host_users(&self) -> bool {
        self.spec.get("hostUsers").and_then(Value::as_bool).unwrap_or(true)
    }

    pub(super) fn host_network(&self) -> bool {
        flag(self.spec, "hostNetwork")
    }

    /// The name of the operating system; `None` if the field is absent.
    pub(super) fn os(&self) -> Option<&'a str> {
        member(self.spec, "os").map(|os| text(os, "name"))
    }

    pub(super) fn security_context(&self) -> Option<&'a Value> {
        member(self.spec, "securityContext")
    }

    /// Every container, in the order of rules for all of them (v1.36 core/pods `VisitContainersWithPath`).
    pub(super) fn containers(&self) -> impl Iterator<Item = Container<'a>> + use<'a> {
        let spec = self.spec;
        ["initContainers", "containers", "ephemeralContainers"].into_iter().flat_map(move |field| {
            let containers = list(spec, field).iter().enumerate();
            containers.map(move |(position, value)| Container { value, list: field, position })
        })
    }
}
