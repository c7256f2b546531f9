//! Random number streams, one for each purpose and subject.
//!
//! The seed of a stream is a hash of the simulation's seed, the purpose and the subject. A node that is slow with one
//! seed is slow in every run of that seed, independent of all other events. So two settings can be compared under the
//! same random conditions.

use fastrand::Rng;
use sha2::{Digest, Sha256};

/// The use of a random stream. A draw depends on the discriminant: add new purposes at the end.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Bind,
    Pull,
    Start,
    Ready,
    Stop,
    Crash,
    Evict,
    NeverReady,
    Lifetime,
    PanicNode,
    Watch,
    Request,
    Churn,
    Join,
    CrashLoop,
    PullFails,
    KeepsReady,
    Heartbeat,
    Gate,
}

/// All random streams of one simulation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RandomStreams {
    seed: u64,
}

impl RandomStreams {
    pub(crate) fn new(seed: u64) -> Self {
        RandomStreams { seed }
    }

    /// The stream for one purpose and one subject (such as a node and a revision); `number` counts repetitions.
    pub(crate) fn stream(self, purpose: Purpose, subject: [&str; 2], number: u64) -> Rng {
        let mut digest = Sha256::new();
        digest.update(self.seed.to_le_bytes());
        digest.update([purpose as u8]);
        for part in subject {
            digest.update(part.as_bytes());
            digest.update([0]);
        }
        digest.update(number.to_le_bytes());
        let first = digest.finalize().iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte));
        Rng::with_seed(first)
    }
}
