//! Defaults of a DaemonSet around its template: the update strategy and the history.

use super::path::DefaultStep::{self, In, OfType};
use super::row::{DefaultRow, Fill, absent, zero};

const SET_DEFAULTS: &str = "v1.36 apps/v1 defaults.go SetDefaults_DaemonSet";
const CONVERSION: &str = "v1.36 apps/v1 zz_generated.conversion.go RollingUpdateDaemonSet";
const STRUCT: &str = "v1.36 apps/v1 types.go: a struct, always written";
const PROPOSED: &str = "proposal: update strategy";

const DAEMON_SET: &[DefaultStep] = &[];
const SPEC: &[DefaultStep] = &[In("spec")];
const STRATEGY: &[DefaultStep] = &[In("spec"), In("updateStrategy")];
const ROLLING: &[DefaultStep] = &[In("spec"), In("updateStrategy"), OfType("RollingUpdate")];
const ROLLING_UPDATE: &[DefaultStep] =
    &[In("spec"), In("updateStrategy"), OfType("RollingUpdate"), In("rollingUpdate")];
const ANY_ROLLING_UPDATE: &[DefaultStep] = &[In("spec"), In("updateStrategy"), In("rollingUpdate")];
const SURGING: &[DefaultStep] = &[In("spec"), In("updateStrategy"), OfType("SurgingRollingUpdate")];
const SURGING_UPDATE: &[DefaultStep] =
    &[In("spec"), In("updateStrategy"), OfType("SurgingRollingUpdate"), In("surgingRollingUpdate")];

/// The structs that contain the other fields.
pub(super) const STRUCTS: &[DefaultRow] = &[
    absent(DAEMON_SET, "spec", Fill::Object, STRUCT),
    absent(SPEC, "template", Fill::Object, STRUCT),
    absent(SPEC, "updateStrategy", Fill::Object, STRUCT),
];

/// The strategy of `apps/v1`.
pub(super) const APPS_V1: &[DefaultRow] =
    &[zero(STRATEGY, "type", Fill::Text("RollingUpdate"), SET_DEFAULTS)];

/// The strategy of the proposal, and its limit.
pub(super) const PROPOSAL: &[DefaultRow] = &[
    zero(STRATEGY, "type", Fill::Text("OnDelete"), PROPOSED),
    absent(SURGING, "surgingRollingUpdate", Fill::Object, PROPOSED),
    absent(SURGING_UPDATE, "maxSurge", Fill::Number(1), PROPOSED),
];

/// The limits of RollingUpdate, and how much history is kept.
pub(super) const LIMITS: &[DefaultRow] = &[
    absent(ROLLING, "rollingUpdate", Fill::Object, SET_DEFAULTS),
    absent(ROLLING_UPDATE, "maxUnavailable", Fill::Number(1), SET_DEFAULTS),
    absent(ROLLING_UPDATE, "maxSurge", Fill::Number(0), SET_DEFAULTS),
    absent(SPEC, "revisionHistoryLimit", Fill::Number(10), SET_DEFAULTS),
];

/// Limits beside another strategy type: the internal type has no pointers, so an absent limit comes back as 0.
pub(super) const APPS_V1_CONVERSION: &[DefaultRow] = &[
    absent(ANY_ROLLING_UPDATE, "maxUnavailable", Fill::Number(0), CONVERSION),
    absent(ANY_ROLLING_UPDATE, "maxSurge", Fill::Number(0), CONVERSION),
];
