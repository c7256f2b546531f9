//! How a user steers a rollout.

/// A user's change of the annotations that steer a rollout. The controller needs
/// [`reads_annotations`](field@crate::ControllerSettings::reads_annotations) to see them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Steering {
    /// Approves so many waves of the newest revision.
    Approve {
        /// How many waves, from the first one on.
        waves: u32,
    },
    /// Pauses the rollout.
    Pause,
    /// Lets a paused rollout go on.
    Resume,
}
