//! The fields of metadata, references and label selectors (v1.37 `apimachinery/pkg/apis/meta/v1` types.go).

use crate::schema::table::{
    BOOL, INT64, RAW, Struct, TEXT, TEXT_LIST, TEXT_MAP, TIME, always, many, omit_empty, pointer,
};

pub(super) static OBJECT_META: Struct = Struct::new(
    "ObjectMeta",
    &[
        omit_empty("name", TEXT),
        omit_empty("generateName", TEXT),
        omit_empty("namespace", TEXT),
        omit_empty("selfLink", TEXT),
        omit_empty("uid", TEXT),
        omit_empty("resourceVersion", TEXT),
        omit_empty("generation", INT64),
        omit_empty("creationTimestamp", TIME),
        pointer("deletionTimestamp", TIME),
        pointer("deletionGracePeriodSeconds", INT64),
        omit_empty("labels", TEXT_MAP),
        omit_empty("annotations", TEXT_MAP),
        omit_empty("ownerReferences", many(&OWNER_REFERENCE)).merged_by("uid"),
        omit_empty("finalizers", TEXT_LIST).merged(),
        omit_empty("managedFields", many(&MANAGED_FIELDS_ENTRY)),
    ],
);

pub(super) static OWNER_REFERENCE: Struct = Struct::new(
    "OwnerReference",
    &[
        always("apiVersion", TEXT),
        always("kind", TEXT),
        always("name", TEXT),
        always("uid", TEXT),
        pointer("controller", BOOL),
        pointer("blockOwnerDeletion", BOOL),
    ],
);

pub(super) static MANAGED_FIELDS_ENTRY: Struct = Struct::new(
    "ManagedFieldsEntry",
    &[
        omit_empty("manager", TEXT),
        omit_empty("operation", TEXT),
        omit_empty("apiVersion", TEXT),
        pointer("time", TIME),
        omit_empty("fieldsType", TEXT),
        pointer("fieldsV1", RAW),
        omit_empty("subresource", TEXT),
    ],
);

pub(super) static LABEL_SELECTOR: Struct = Struct::new(
    "LabelSelector",
    &[omit_empty("matchLabels", TEXT_MAP), omit_empty("matchExpressions", many(&LABEL_SELECTOR_REQUIREMENT))],
);

pub(super) static LABEL_SELECTOR_REQUIREMENT: Struct = Struct::new(
    "LabelSelectorRequirement",
    &[always("key", TEXT), always("operator", TEXT), omit_empty("values", TEXT_LIST)],
);

pub(super) static LOCAL_OBJECT_REFERENCE: Struct =
    Struct::new("LocalObjectReference", &[omit_empty("name", TEXT)]);
