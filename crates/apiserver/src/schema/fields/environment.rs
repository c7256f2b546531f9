//! The fields of environment variables and their sources (v1.37 `api/core/v1` types.go).

use crate::schema::table::{BOOL, QUANTITY, Struct, TEXT, always, omit_empty, one, pointer};

pub(super) static ENV_VAR: Struct = Struct::new(
    "EnvVar",
    &[always("name", TEXT), omit_empty("value", TEXT), pointer("valueFrom", one(&ENV_VAR_SOURCE))],
);

pub(super) static ENV_VAR_SOURCE: Struct = Struct::new(
    "EnvVarSource",
    &[
        pointer("fieldRef", one(&OBJECT_FIELD_SELECTOR)),
        pointer("resourceFieldRef", one(&RESOURCE_FIELD_SELECTOR)),
        pointer("configMapKeyRef", one(&CONFIG_MAP_KEY_SELECTOR)),
        pointer("secretKeyRef", one(&SECRET_KEY_SELECTOR)),
        pointer("fileKeyRef", one(&FILE_KEY_SELECTOR)),
    ],
);

pub(super) static OBJECT_FIELD_SELECTOR: Struct =
    Struct::new("ObjectFieldSelector", &[omit_empty("apiVersion", TEXT), always("fieldPath", TEXT)]);

pub(super) static RESOURCE_FIELD_SELECTOR: Struct = Struct::new(
    "ResourceFieldSelector",
    &[omit_empty("containerName", TEXT), always("resource", TEXT), always("divisor", QUANTITY)],
);

pub(super) static CONFIG_MAP_KEY_SELECTOR: Struct = Struct::new(
    "ConfigMapKeySelector",
    &[omit_empty("name", TEXT), always("key", TEXT), pointer("optional", BOOL)],
);

pub(super) static SECRET_KEY_SELECTOR: Struct = Struct::new(
    "SecretKeySelector",
    &[omit_empty("name", TEXT), always("key", TEXT), pointer("optional", BOOL)],
);

pub(super) static FILE_KEY_SELECTOR: Struct = Struct::new(
    "FileKeySelector",
    &[always("volumeName", TEXT), always("path", TEXT), always("key", TEXT), pointer("optional", BOOL)],
);

pub(super) static ENV_FROM_SOURCE: Struct = Struct::new(
    "EnvFromSource",
    &[
        omit_empty("prefix", TEXT),
        pointer("configMapRef", one(&CONFIG_MAP_ENV_SOURCE)),
        pointer("secretRef", one(&SECRET_ENV_SOURCE)),
    ],
);

pub(super) static CONFIG_MAP_ENV_SOURCE: Struct =
    Struct::new("ConfigMapEnvSource", &[omit_empty("name", TEXT), pointer("optional", BOOL)]);

pub(super) static SECRET_ENV_SOURCE: Struct =
    Struct::new("SecretEnvSource", &[omit_empty("name", TEXT), pointer("optional", BOOL)]);
