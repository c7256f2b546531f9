//! The fields of claimed volumes, and of the claim template of a pod (v1.37 `api/core/v1` types.go).

use super::meta::{LABEL_SELECTOR, OBJECT_META};
use crate::schema::table::{
    BOOL, QUANTITY_MAP, Struct, TEXT, TEXT_LIST, always, nullable, omit_empty, one, pointer,
};

pub(super) static PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE: Struct = Struct::new(
    "PersistentVolumeClaimVolumeSource",
    &[always("claimName", TEXT), omit_empty("readOnly", BOOL)],
);

pub(super) static EPHEMERAL_VOLUME_SOURCE: Struct = Struct::new(
    "EphemeralVolumeSource",
    &[pointer("volumeClaimTemplate", one(&PERSISTENT_VOLUME_CLAIM_TEMPLATE))],
);

pub(super) static PERSISTENT_VOLUME_CLAIM_TEMPLATE: Struct = Struct::new(
    "PersistentVolumeClaimTemplate",
    &[always("metadata", one(&OBJECT_META)), always("spec", one(&PERSISTENT_VOLUME_CLAIM_SPEC))],
);

pub(super) static PERSISTENT_VOLUME_CLAIM_SPEC: Struct = Struct::new(
    "PersistentVolumeClaimSpec",
    &[
        omit_empty("accessModes", TEXT_LIST),
        pointer("selector", one(&LABEL_SELECTOR)),
        always("resources", one(&VOLUME_RESOURCE_REQUIREMENTS)),
        omit_empty("volumeName", TEXT),
        pointer("storageClassName", TEXT),
        pointer("volumeMode", TEXT),
        pointer("dataSource", one(&TYPED_LOCAL_OBJECT_REFERENCE)),
        pointer("dataSourceRef", one(&TYPED_OBJECT_REFERENCE)),
        pointer("volumeAttributesClassName", TEXT),
    ],
);

pub(super) static VOLUME_RESOURCE_REQUIREMENTS: Struct = Struct::new(
    "VolumeResourceRequirements",
    &[omit_empty("limits", QUANTITY_MAP), omit_empty("requests", QUANTITY_MAP)],
);

pub(super) static TYPED_LOCAL_OBJECT_REFERENCE: Struct = Struct::new(
    "TypedLocalObjectReference",
    &[nullable("apiGroup", TEXT), always("kind", TEXT), always("name", TEXT)],
);

pub(super) static TYPED_OBJECT_REFERENCE: Struct = Struct::new(
    "TypedObjectReference",
    &[nullable("apiGroup", TEXT), always("kind", TEXT), always("name", TEXT), pointer("namespace", TEXT)],
);
