//! What the rules of a pod template's parts know of the template as a whole.

use super::kept::Kept;
use super::read::{flag, items, member, number, text};
use serde_json::Value;
use std::collections::BTreeSet;

/// A pod template's spec, and what more than one rule asks of it.
pub(crate) struct Pod<'a> {
    /// `spec.template.spec`.
    pub(crate) spec: &'a Value,
    /// What the stored template had already and may keep.
    pub(crate) kept: Kept,
    /// The names of the resource claims (v1.36 `gatherPodResourceClaimNames`).
    pub(crate) claims: BTreeSet<&'a str>,
}

impl<'a> Pod<'a> {
    pub(crate) fn new(spec: &'a Value, kept: Kept) -> Self {
        let names = items(spec, "resourceClaims").iter().map(|claim| text(claim, "name"));
        Pod { spec, kept, claims: names.filter(|name| !name.is_empty()).collect() }
    }

    pub(crate) fn grace_period(&self) -> Option<i64> {
        number(self.spec, "terminationGracePeriodSeconds")
    }

    /// Whether it runs with the host's users: true if nothing is said.
    pub(crate) fn host_users(&self) -> bool {
        self.spec.get("hostUsers").and_then(Value::as_bool).unwrap_or(true)
    }

    pub(crate) fn host_network(&self) -> bool {
        flag(self.spec, "hostNetwork")
    }

    /// The operating system's name; None if nothing is said.
    pub(crate) fn os(&self) -> Option<&'a str> {
        member(self.spec, "os").map(|os| text(os, "name"))
    }

    pub(crate) fn security_context(&self) -> Option<&'a Value> {
        member(self.spec, "securityContext")
    }
}
