//! The fields that choose a node (v1.37 `api/core/v1` types.go).

use super::meta::LABEL_SELECTOR;
use crate::schema::table::{INT32, INT64, Struct, TEXT, TEXT_LIST, always, many, omit_empty, one, pointer};

pub(super) static TOLERATION: Struct = Struct::new(
    "Toleration",
    &[
        omit_empty("key", TEXT),
        omit_empty("operator", TEXT),
        omit_empty("value", TEXT),
        omit_empty("effect", TEXT),
        pointer("tolerationSeconds", INT64),
    ],
);

pub(super) static TOPOLOGY_SPREAD_CONSTRAINT: Struct = Struct::new(
    "TopologySpreadConstraint",
    &[
        always("maxSkew", INT32),
        always("topologyKey", TEXT),
        always("whenUnsatisfiable", TEXT),
        pointer("labelSelector", one(&LABEL_SELECTOR)),
        pointer("minDomains", INT32),
        pointer("nodeAffinityPolicy", TEXT),
        pointer("nodeTaintsPolicy", TEXT),
        omit_empty("matchLabelKeys", TEXT_LIST),
    ],
);

pub(super) static AFFINITY: Struct = Struct::new(
    "Affinity",
    &[
        pointer("nodeAffinity", one(&NODE_AFFINITY)),
        pointer("podAffinity", one(&POD_AFFINITY)),
        pointer("podAntiAffinity", one(&POD_ANTI_AFFINITY)),
    ],
);

pub(super) static NODE_AFFINITY: Struct = Struct::new(
    "NodeAffinity",
    &[
        pointer("requiredDuringSchedulingIgnoredDuringExecution", one(&NODE_SELECTOR)),
        omit_empty("preferredDuringSchedulingIgnoredDuringExecution", many(&PREFERRED_SCHEDULING_TERM)),
    ],
);

pub(super) static PREFERRED_SCHEDULING_TERM: Struct = Struct::new(
    "PreferredSchedulingTerm",
    &[always("weight", INT32), always("preference", one(&NODE_SELECTOR_TERM))],
);

pub(super) static NODE_SELECTOR: Struct =
    Struct::new("NodeSelector", &[always("nodeSelectorTerms", many(&NODE_SELECTOR_TERM))]);

pub(super) static NODE_SELECTOR_TERM: Struct = Struct::new(
    "NodeSelectorTerm",
    &[
        omit_empty("matchExpressions", many(&NODE_SELECTOR_REQUIREMENT)),
        omit_empty("matchFields", many(&NODE_SELECTOR_REQUIREMENT)),
    ],
);

pub(super) static NODE_SELECTOR_REQUIREMENT: Struct = Struct::new(
    "NodeSelectorRequirement",
    &[always("key", TEXT), always("operator", TEXT), omit_empty("values", TEXT_LIST)],
);

pub(super) static POD_AFFINITY: Struct = Struct::new(
    "PodAffinity",
    &[
        omit_empty("requiredDuringSchedulingIgnoredDuringExecution", many(&POD_AFFINITY_TERM)),
        omit_empty("preferredDuringSchedulingIgnoredDuringExecution", many(&WEIGHTED_POD_AFFINITY_TERM)),
    ],
);

pub(super) static POD_ANTI_AFFINITY: Struct = Struct::new(
    "PodAntiAffinity",
    &[
        omit_empty("requiredDuringSchedulingIgnoredDuringExecution", many(&POD_AFFINITY_TERM)),
        omit_empty("preferredDuringSchedulingIgnoredDuringExecution", many(&WEIGHTED_POD_AFFINITY_TERM)),
    ],
);

pub(super) static WEIGHTED_POD_AFFINITY_TERM: Struct = Struct::new(
    "WeightedPodAffinityTerm",
    &[always("weight", INT32), always("podAffinityTerm", one(&POD_AFFINITY_TERM))],
);

pub(super) static POD_AFFINITY_TERM: Struct = Struct::new(
    "PodAffinityTerm",
    &[
        pointer("labelSelector", one(&LABEL_SELECTOR)),
        omit_empty("namespaces", TEXT_LIST),
        always("topologyKey", TEXT),
        pointer("namespaceSelector", one(&LABEL_SELECTOR)),
        omit_empty("matchLabelKeys", TEXT_LIST),
        omit_empty("mismatchLabelKeys", TEXT_LIST),
    ],
);
