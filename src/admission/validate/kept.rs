//! What an update may keep because the stored template has it, although a new one could not.

/// v1.36 api/pod/util.go `GetValidationOptionsFromPodSpecAndMeta`: each is false for a create, and for an update
/// when the stored template does without it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Kept {
    pub(crate) indivisible_huge_pages: bool,
    pub(crate) non_local_token_path: bool,
    pub(crate) restart_of_ending_init: bool,
}
