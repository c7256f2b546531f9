//! Fields that Go always serializes: structs, and fields without `omitempty`, are in the stored object even if the
//! client left them out. The tables contain only the fields that a valid template may leave out.

use super::container::{ALL, CONTAINERS, HOOKS, PROBES};
use super::path::DefaultStep::{self, Each, In, InAny};
use super::row::{DefaultRow, Fill, absent, zero};
use super::volume::{CLAIM_SPECS, ISCSI, PROJECTIONS};

const STRUCT: &str = "v1.36 core/v1 types.go: a struct, always written";
const FIELD: &str = "v1.36 core/v1 types.go: no omitempty, always written";
const STORED: &str = "v1.36 core/v1 types.go: no omitempty, and protobuf keeps no empty list";

const TEMPLATE: &[DefaultStep] = &[];
const ENV_RESOURCES: &[DefaultStep] =
    &[In("spec"), ALL, Each("env"), In("valueFrom"), In("resourceFieldRef")];
const PROBE_HEADERS: &[DefaultStep] = &[In("spec"), ALL, PROBES, In("httpGet"), Each("httpHeaders")];
const HOOK_HEADERS: &[DefaultStep] =
    &[In("spec"), ALL, In("lifecycle"), HOOKS, In("httpGet"), Each("httpHeaders")];
const HOOK_SLEEPS: &[DefaultStep] = &[In("spec"), ALL, In("lifecycle"), HOOKS, In("sleep")];
const SYSCTLS: &[DefaultStep] = &[In("spec"), In("securityContext"), Each("sysctls")];
const PREFERRED_NODES: &[DefaultStep] = &[
    In("spec"),
    In("affinity"),
    In("nodeAffinity"),
    Each("preferredDuringSchedulingIgnoredDuringExecution"),
];
const DOWNWARD_RESOURCES: &[DefaultStep] =
    &[In("spec"), Each("volumes"), In("downwardAPI"), Each("items"), In("resourceFieldRef")];
const PROJECTED_RESOURCES: &[DefaultStep] = &[
    In("spec"),
    Each("volumes"),
    In("projected"),
    Each("sources"),
    In("downwardAPI"),
    Each("items"),
    In("resourceFieldRef"),
];
const CLAIMS: &[DefaultStep] = &[In("spec"), Each("volumes"), In("ephemeral"), In("volumeClaimTemplate")];
const CLAIM_SOURCES: &[DefaultStep] = &[
    In("spec"),
    Each("volumes"),
    In("ephemeral"),
    In("volumeClaimTemplate"),
    In("spec"),
    InAny(&["dataSource", "dataSourceRef"]),
];

/// The structs that contain the other fields.
pub(super) const STRUCTS: &[DefaultRow] = &[
    absent(TEMPLATE, "metadata", Fill::Object, STRUCT),
    absent(TEMPLATE, "spec", Fill::Object, STRUCT),
    absent(CLAIMS, "metadata", Fill::Object, STRUCT),
    absent(CLAIMS, "spec", Fill::Object, STRUCT),
];

/// The other fields.
pub(super) const FIELDS: &[DefaultRow] = &[
    absent(CONTAINERS, "resources", Fill::Object, STRUCT),
    absent(ENV_RESOURCES, "divisor", Fill::Text("0"), STRUCT),
    absent(PROBE_HEADERS, "value", Fill::Text(""), FIELD),
    absent(HOOK_HEADERS, "value", Fill::Text(""), FIELD),
    absent(HOOK_SLEEPS, "seconds", Fill::Number(0), FIELD),
    absent(SYSCTLS, "value", Fill::Text(""), FIELD),
    absent(PREFERRED_NODES, "preference", Fill::Object, FIELD),
    absent(DOWNWARD_RESOURCES, "divisor", Fill::Text("0"), STRUCT),
    zero(PROJECTIONS, "sources", Fill::Null, STORED),
    absent(PROJECTED_RESOURCES, "divisor", Fill::Text("0"), STRUCT),
    absent(ISCSI, "lun", Fill::Number(0), FIELD),
    absent(CLAIM_SPECS, "resources", Fill::Object, STRUCT),
    absent(CLAIM_SOURCES, "apiGroup", Fill::Null, FIELD),
];
