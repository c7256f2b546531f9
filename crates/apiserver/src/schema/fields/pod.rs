//! The fields of a pod template and of the pod spec itself (v1.37 `api/core/v1` types.go).

use super::container::{CONTAINER, EPHEMERAL_CONTAINER, RESOURCE_REQUIREMENTS};
use super::meta::{LOCAL_OBJECT_REFERENCE, OBJECT_META};
use super::scheduling::{AFFINITY, TOLERATION, TOPOLOGY_SPREAD_CONSTRAINT};
use super::security::POD_SECURITY_CONTEXT;
use super::volume::VOLUME;
use crate::schema::table::{
    BOOL, INT32, INT64, QUANTITY_MAP, Struct, TEXT, TEXT_LIST, TEXT_MAP, always, many, nullable, omit_empty,
    one, pointer,
};

pub(crate) static POD_TEMPLATE_SPEC: Struct =
    Struct::new("PodTemplateSpec", &[always("metadata", one(&OBJECT_META)), always("spec", one(&POD_SPEC))]);

pub(super) static POD_SPEC: Struct = Struct::new(
    "PodSpec",
    &[
        omit_empty("volumes", many(&VOLUME)).merged_by("name").retaining_keys(),
        omit_empty("initContainers", many(&CONTAINER)).merged_by("name"),
        always("containers", many(&CONTAINER)).merged_by("name"),
        omit_empty("ephemeralContainers", many(&EPHEMERAL_CONTAINER)).merged_by("name"),
        omit_empty("restartPolicy", TEXT),
        pointer("terminationGracePeriodSeconds", INT64),
        pointer("activeDeadlineSeconds", INT64),
        omit_empty("dnsPolicy", TEXT),
        omit_empty("nodeSelector", TEXT_MAP),
        omit_empty("serviceAccountName", TEXT),
        omit_empty("serviceAccount", TEXT),
        pointer("automountServiceAccountToken", BOOL),
        omit_empty("nodeName", TEXT),
        omit_empty("hostNetwork", BOOL),
        omit_empty("hostPID", BOOL),
        omit_empty("hostIPC", BOOL),
        pointer("shareProcessNamespace", BOOL),
        pointer("securityContext", one(&POD_SECURITY_CONTEXT)),
        omit_empty("imagePullSecrets", many(&LOCAL_OBJECT_REFERENCE)).merged_by("name"),
        omit_empty("hostname", TEXT),
        omit_empty("subdomain", TEXT),
        pointer("affinity", one(&AFFINITY)),
        omit_empty("schedulerName", TEXT),
        omit_empty("tolerations", many(&TOLERATION)),
        omit_empty("hostAliases", many(&HOST_ALIAS)).merged_by("ip"),
        omit_empty("priorityClassName", TEXT),
        pointer("priority", INT32),
        pointer("dnsConfig", one(&POD_DNS_CONFIG)),
        omit_empty("readinessGates", many(&POD_READINESS_GATE)),
        pointer("runtimeClassName", TEXT),
        pointer("enableServiceLinks", BOOL),
        pointer("preemptionPolicy", TEXT),
        omit_empty("overhead", QUANTITY_MAP),
        omit_empty("topologySpreadConstraints", many(&TOPOLOGY_SPREAD_CONSTRAINT)).merged_by("topologyKey"),
        pointer("setHostnameAsFQDN", BOOL),
        pointer("os", one(&POD_OS)),
        pointer("hostUsers", BOOL),
        omit_empty("schedulingGates", many(&POD_SCHEDULING_GATE)).merged_by("name"),
        omit_empty("resourceClaims", many(&POD_RESOURCE_CLAIM)).merged_by("name").retaining_keys(),
        pointer("resources", one(&RESOURCE_REQUIREMENTS)),
        pointer("hostnameOverride", TEXT),
        pointer("schedulingGroup", one(&POD_SCHEDULING_GROUP)),
        omit_empty("evictionResponders", many(&EVICTION_RESPONDER)).merged_by("name"),
    ],
);

pub(super) static HOST_ALIAS: Struct =
    Struct::new("HostAlias", &[always("ip", TEXT), omit_empty("hostnames", TEXT_LIST)]);

pub(super) static POD_DNS_CONFIG: Struct = Struct::new(
    "PodDNSConfig",
    &[
        omit_empty("nameservers", TEXT_LIST),
        omit_empty("searches", TEXT_LIST),
        omit_empty("options", many(&POD_DNS_CONFIG_OPTION)),
    ],
);

pub(super) static POD_DNS_CONFIG_OPTION: Struct =
    Struct::new("PodDNSConfigOption", &[omit_empty("name", TEXT), pointer("value", TEXT)]);

pub(super) static POD_READINESS_GATE: Struct =
    Struct::new("PodReadinessGate", &[always("conditionType", TEXT)]);

pub(super) static POD_OS: Struct = Struct::new("PodOS", &[always("name", TEXT)]);

pub(super) static POD_SCHEDULING_GATE: Struct = Struct::new("PodSchedulingGate", &[always("name", TEXT)]);

pub(super) static POD_RESOURCE_CLAIM: Struct = Struct::new(
    "PodResourceClaim",
    &[always("name", TEXT), pointer("resourceClaimName", TEXT), pointer("resourceClaimTemplateName", TEXT)],
);

pub(super) static POD_SCHEDULING_GROUP: Struct =
    Struct::new("PodSchedulingGroup", &[pointer("podGroupName", TEXT)]);

pub(super) static EVICTION_RESPONDER: Struct =
    Struct::new("EvictionResponder", &[always("name", TEXT), nullable("priority", INT32)]);
