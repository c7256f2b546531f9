//! The fields of a DaemonSet (v1.37 `api/apps/v1` types.go).

use super::meta::{LABEL_SELECTOR, OBJECT_META};
use super::pod::POD_TEMPLATE_SPEC;
use crate::schema::table::{
    Field, INT_OR_STRING, INT32, INT64, Struct, TEXT, TIME, always, many, nullable, omit_empty, one, pointer,
};

pub(crate) static DAEMON_SET: Struct = Struct::new("DaemonSet", DAEMON_SET_FIELDS);
static DAEMON_SET_FIELDS: &[Field] = &daemon_set(&DAEMON_SET_SPEC);

pub(super) static DAEMON_SET_SPEC: Struct = Struct::new("DaemonSetSpec", SPEC_FIELDS);
static SPEC_FIELDS: &[Field] = &spec(&DAEMON_SET_UPDATE_STRATEGY);

const fn daemon_set(spec: &'static Struct) -> [Field; 5] {
    [
        omit_empty("kind", TEXT),
        omit_empty("apiVersion", TEXT),
        always("metadata", one(&OBJECT_META)),
        always("spec", one(spec)),
        always("status", one(&DAEMON_SET_STATUS)),
    ]
}

const fn spec(update_strategy: &'static Struct) -> [Field; 5] {
    [
        nullable("selector", one(&LABEL_SELECTOR)),
        always("template", one(&POD_TEMPLATE_SPEC)),
        always("updateStrategy", one(update_strategy)),
        omit_empty("minReadySeconds", INT32),
        pointer("revisionHistoryLimit", INT32),
    ]
}

pub(super) static DAEMON_SET_UPDATE_STRATEGY: Struct = Struct::new(
    "DaemonSetUpdateStrategy",
    &[omit_empty("type", TEXT), pointer("rollingUpdate", one(&ROLLING_UPDATE_DAEMON_SET))],
);

/// The proposal's form, which `apps/v1` does not have (proposal: `DaemonSetUpdateStrategy.SurgingRollingUpdate`).
pub(crate) static PROPOSED_DAEMON_SET: Struct = Struct::new("DaemonSet", PROPOSED_FIELDS);
static PROPOSED_FIELDS: &[Field] = &daemon_set(&PROPOSED_SPEC);

static PROPOSED_SPEC: Struct = Struct::new("DaemonSetSpec", PROPOSED_SPEC_FIELDS);
static PROPOSED_SPEC_FIELDS: &[Field] = &spec(&PROPOSED_STRATEGY);

static PROPOSED_STRATEGY: Struct =
    Struct::new("DaemonSetUpdateStrategy", &[pointer("surgingRollingUpdate", one(&SURGING_ROLLING_UPDATE))])
        .including(&DAEMON_SET_UPDATE_STRATEGY);

static SURGING_ROLLING_UPDATE: Struct =
    Struct::new("SurgingRollingUpdateDaemonSet", &[pointer("maxSurge", INT_OR_STRING)]);

pub(super) static ROLLING_UPDATE_DAEMON_SET: Struct = Struct::new(
    "RollingUpdateDaemonSet",
    &[pointer("maxUnavailable", INT_OR_STRING), pointer("maxSurge", INT_OR_STRING)],
);

pub(super) static DAEMON_SET_STATUS: Struct = Struct::new(
    "DaemonSetStatus",
    &[
        always("currentNumberScheduled", INT32),
        always("numberMisscheduled", INT32),
        always("desiredNumberScheduled", INT32),
        always("numberReady", INT32),
        omit_empty("observedGeneration", INT64),
        omit_empty("updatedNumberScheduled", INT32),
        omit_empty("numberAvailable", INT32),
        omit_empty("numberUnavailable", INT32),
        pointer("collisionCount", INT32),
        omit_empty("conditions", many(&DAEMON_SET_CONDITION)).merged_by("type"),
    ],
);

pub(super) static DAEMON_SET_CONDITION: Struct = Struct::new(
    "DaemonSetCondition",
    &[
        always("type", TEXT),
        always("status", TEXT),
        always("lastTransitionTime", TIME),
        omit_empty("reason", TEXT),
        omit_empty("message", TEXT),
    ],
);
