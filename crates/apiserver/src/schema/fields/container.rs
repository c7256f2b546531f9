//! The fields of containers: ordinary, init and ephemeral ones (v1.37 `api/core/v1` types.go).

use super::environment::{ENV_FROM_SOURCE, ENV_VAR};
use super::probe::{LIFECYCLE, PROBE};
use super::security::SECURITY_CONTEXT;
use crate::schema::table::{
    BOOL, INT32, INT32_LIST, QUANTITY_MAP, Struct, TEXT, TEXT_LIST, always, many, omit_empty, one, pointer,
};

pub(super) static CONTAINER: Struct = Struct::new(
    "Container",
    &[
        always("name", TEXT),
        omit_empty("image", TEXT),
        omit_empty("command", TEXT_LIST),
        omit_empty("args", TEXT_LIST),
        omit_empty("workingDir", TEXT),
        omit_empty("ports", many(&CONTAINER_PORT)).merged_by("containerPort"),
        omit_empty("envFrom", many(&ENV_FROM_SOURCE)),
        omit_empty("env", many(&ENV_VAR)).merged_by("name"),
        always("resources", one(&RESOURCE_REQUIREMENTS)),
        omit_empty("resizePolicy", many(&CONTAINER_RESIZE_POLICY)),
        pointer("restartPolicy", TEXT),
        omit_empty("restartPolicyRules", many(&CONTAINER_RESTART_RULE)),
        omit_empty("volumeMounts", many(&VOLUME_MOUNT)).merged_by("mountPath"),
        omit_empty("volumeDevices", many(&VOLUME_DEVICE)).merged_by("devicePath"),
        pointer("livenessProbe", one(&PROBE)),
        pointer("readinessProbe", one(&PROBE)),
        pointer("startupProbe", one(&PROBE)),
        pointer("lifecycle", one(&LIFECYCLE)),
        omit_empty("terminationMessagePath", TEXT),
        omit_empty("terminationMessagePolicy", TEXT),
        omit_empty("imagePullPolicy", TEXT),
        pointer("securityContext", one(&SECURITY_CONTEXT)),
        omit_empty("stdin", BOOL),
        omit_empty("stdinOnce", BOOL),
        omit_empty("tty", BOOL),
    ],
);

/// The fields of a container, and `targetContainerName`.
pub(super) static EPHEMERAL_CONTAINER: Struct =
    Struct::new("EphemeralContainer", &[omit_empty("targetContainerName", TEXT)]).including(&CONTAINER);

pub(super) static CONTAINER_PORT: Struct = Struct::new(
    "ContainerPort",
    &[
        omit_empty("name", TEXT),
        omit_empty("hostPort", INT32),
        always("containerPort", INT32),
        omit_empty("protocol", TEXT),
        omit_empty("hostIP", TEXT),
    ],
);

pub(super) static RESOURCE_REQUIREMENTS: Struct = Struct::new(
    "ResourceRequirements",
    &[
        omit_empty("limits", QUANTITY_MAP),
        omit_empty("requests", QUANTITY_MAP),
        omit_empty("claims", many(&RESOURCE_CLAIM)),
    ],
);

pub(super) static RESOURCE_CLAIM: Struct =
    Struct::new("ResourceClaim", &[always("name", TEXT), omit_empty("request", TEXT)]);

pub(super) static CONTAINER_RESIZE_POLICY: Struct =
    Struct::new("ContainerResizePolicy", &[always("resourceName", TEXT), always("restartPolicy", TEXT)]);

pub(super) static CONTAINER_RESTART_RULE: Struct = Struct::new(
    "ContainerRestartRule",
    &[omit_empty("action", TEXT), pointer("exitCodes", one(&CONTAINER_RESTART_RULE_ON_EXIT_CODES))],
);

pub(super) static CONTAINER_RESTART_RULE_ON_EXIT_CODES: Struct = Struct::new(
    "ContainerRestartRuleOnExitCodes",
    &[omit_empty("operator", TEXT), omit_empty("values", INT32_LIST)],
);

pub(super) static VOLUME_MOUNT: Struct = Struct::new(
    "VolumeMount",
    &[
        always("name", TEXT),
        omit_empty("readOnly", BOOL),
        pointer("recursiveReadOnly", TEXT),
        always("mountPath", TEXT),
        omit_empty("subPath", TEXT),
        pointer("mountPropagation", TEXT),
        omit_empty("subPathExpr", TEXT),
        omit_empty("bindMountOptions", TEXT_LIST),
    ],
);

pub(super) static VOLUME_DEVICE: Struct =
    Struct::new("VolumeDevice", &[always("name", TEXT), always("devicePath", TEXT)]);
