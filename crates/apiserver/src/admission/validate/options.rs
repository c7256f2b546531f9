//! The validation options of a pod template: rules that do not apply because the stored template already breaks them.

/// v1.36 api/pod/util.go `PodValidationOptions`. Every option is false for a create; an update gets them from
/// [`options_of_stored`](super::ratcheting::options_of_stored).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ValidationOptions {
    /// An amount of huge pages that is no multiple of the page size.
    pub(super) allow_indivisible_huge_pages: bool,
    /// The path of a service account token that leads out of its volume.
    pub(super) allow_non_local_token_path: bool,
    /// `resizePolicy` with `RestartContainer` in an init container that runs to completion.
    pub(super) allow_restart_of_ending_init: bool,
    /// A deletion cost that is no integer of 32 bits.
    pub(super) allow_invalid_deletion_cost: bool,
    /// Values that no label can have, in the selectors of the DaemonSet and of pod affinity.
    pub(super) allow_invalid_selector_values: bool,
    /// Values that no label can have, in required node affinity.
    pub(super) allow_invalid_node_affinity_values: bool,
    /// An invalid label selector of a topology spread constraint.
    pub(super) allow_invalid_spread_selector: bool,
    /// `matchLabelKeys` of a topology spread constraint that break the rules of v1.34.
    pub(super) allow_invalid_spread_label_keys: bool,
    /// A sysctl of a namespace that the pod shares with its host.
    pub(super) allow_host_sysctls: bool,
    /// The operators `Lt` and `Gt` of a toleration.
    pub(super) allow_comparing_tolerations: bool,
    /// `hostUsers: false` together with `hostNetwork`.
    pub(super) allow_host_users_false_on_host_network: bool,
    /// `hostUsers: false` together with `volumeDevices`.
    pub(super) allow_host_users_false_with_devices: bool,
    /// The capability `CAP_SYS_ADMIN` of a container whose processes may not gain privileges.
    pub(super) allow_sys_admin_without_escalation: bool,
    /// A volume of an image without a reference.
    pub(super) allow_empty_image_reference: bool,
}
