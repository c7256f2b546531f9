//! The fields of a DaemonSet (v1.36 `api/apps/v1` types.go).

use super::meta::{LABEL_SELECTOR, OBJECT_META};
use super::pod::POD_TEMPLATE_SPEC;
use crate::schema::table::{
    INT_OR_STRING, INT32, INT64, Struct, TEXT, TIME, always, many, nullable, omit_empty, one, pointer,
};

pub(crate) static DAEMON_SET: Struct = Struct::new(
    "DaemonSet",
    &[
        omit_empty("kind", TEXT),
        omit_empty("apiVersion", TEXT),
        always("metadata", one(&OBJECT_META)),
        always("spec", one(&DAEMON_SET_SPEC)),
        always("status", one(&DAEMON_SET_STATUS)),
    ],
);

pub(super) static DAEMON_SET_SPEC: Struct = Struct::new(
    "DaemonSetSpec",
    &[
        nullable("selector", one(&LABEL_SELECTOR)),
        always("template", one(&POD_TEMPLATE_SPEC)),
        always("updateStrategy", one(&DAEMON_SET_UPDATE_STRATEGY)),
        omit_empty("minReadySeconds", INT32),
        pointer("revisionHistoryLimit", INT32),
    ],
);

pub(super) static DAEMON_SET_UPDATE_STRATEGY: Struct = Struct::new(
    "DaemonSetUpdateStrategy",
    &[omit_empty("type", TEXT), pointer("rollingUpdate", one(&ROLLING_UPDATE_DAEMON_SET))],
);

/// The proposal's form, which `apps/v1` does not have (proposal: `DaemonSetUpdateStrategy.SurgingRollingUpdate`).
pub(crate) static PROPOSED_DAEMON_SET: Struct = Struct::new(
    "DaemonSet",
    &[
        omit_empty("kind", TEXT),
        omit_empty("apiVersion", TEXT),
        always("metadata", one(&OBJECT_META)),
        always("spec", one(&PROPOSED_SPEC)),
        always("status", one(&DAEMON_SET_STATUS)),
    ],
);

static PROPOSED_SPEC: Struct = Struct::new(
    "DaemonSetSpec",
    &[
        nullable("selector", one(&LABEL_SELECTOR)),
        always("template", one(&POD_TEMPLATE_SPEC)),
        always("updateStrategy", one(&PROPOSED_STRATEGY)),
        omit_empty("minReadySeconds", INT32),
        pointer("revisionHistoryLimit", INT32),
    ],
);

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
