//! The fields of security contexts, of pods and of containers (v1.37 `api/core/v1` types.go).

use crate::schema::table::{
    BOOL, INT64, INT64_LIST, Struct, TEXT, TEXT_LIST, always, many, omit_empty, one, pointer,
};

pub(super) static POD_SECURITY_CONTEXT: Struct = Struct::new(
    "PodSecurityContext",
    &[
        pointer("seLinuxOptions", one(&SELINUX_OPTIONS)),
        pointer("windowsOptions", one(&WINDOWS_SECURITY_CONTEXT_OPTIONS)),
        pointer("runAsUser", INT64),
        pointer("runAsGroup", INT64),
        pointer("runAsNonRoot", BOOL),
        omit_empty("supplementalGroups", INT64_LIST),
        pointer("supplementalGroupsPolicy", TEXT),
        pointer("fsGroup", INT64),
        omit_empty("sysctls", many(&SYSCTL)),
        pointer("fsGroupChangePolicy", TEXT),
        pointer("seccompProfile", one(&SECCOMP_PROFILE)),
        pointer("appArmorProfile", one(&APP_ARMOR_PROFILE)),
        pointer("seLinuxChangePolicy", TEXT),
    ],
);

pub(super) static SECURITY_CONTEXT: Struct = Struct::new(
    "SecurityContext",
    &[
        pointer("capabilities", one(&CAPABILITIES)),
        pointer("privileged", BOOL),
        pointer("seLinuxOptions", one(&SELINUX_OPTIONS)),
        pointer("windowsOptions", one(&WINDOWS_SECURITY_CONTEXT_OPTIONS)),
        pointer("runAsUser", INT64),
        pointer("runAsGroup", INT64),
        pointer("runAsNonRoot", BOOL),
        pointer("readOnlyRootFilesystem", BOOL),
        pointer("allowPrivilegeEscalation", BOOL),
        pointer("procMount", TEXT),
        pointer("seccompProfile", one(&SECCOMP_PROFILE)),
        pointer("appArmorProfile", one(&APP_ARMOR_PROFILE)),
    ],
);

pub(super) static CAPABILITIES: Struct =
    Struct::new("Capabilities", &[omit_empty("add", TEXT_LIST), omit_empty("drop", TEXT_LIST)]);

pub(super) static SELINUX_OPTIONS: Struct = Struct::new(
    "SELinuxOptions",
    &[
        omit_empty("user", TEXT),
        omit_empty("role", TEXT),
        omit_empty("type", TEXT),
        omit_empty("level", TEXT),
    ],
);

pub(super) static WINDOWS_SECURITY_CONTEXT_OPTIONS: Struct = Struct::new(
    "WindowsSecurityContextOptions",
    &[
        pointer("gmsaCredentialSpecName", TEXT),
        pointer("gmsaCredentialSpec", TEXT),
        pointer("runAsUserName", TEXT),
        pointer("hostProcess", BOOL),
    ],
);

pub(super) static SYSCTL: Struct = Struct::new("Sysctl", &[always("name", TEXT), always("value", TEXT)]);

pub(super) static SECCOMP_PROFILE: Struct =
    Struct::new("SeccompProfile", &[always("type", TEXT), pointer("localhostProfile", TEXT)]);

pub(super) static APP_ARMOR_PROFILE: Struct =
    Struct::new("AppArmorProfile", &[always("type", TEXT), pointer("localhostProfile", TEXT)]);
