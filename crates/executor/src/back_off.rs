//! The delay after a failure, which grows with each further one.

use std::time::Duration;
use tokio::time::Instant;

/// The first delay after a failure; each further failure doubles it (client-go `DefaultTypedControllerRateLimiter`).
const FIRST: Duration = Duration::from_millis(5);
/// The longest delay.
pub const LONGEST: Duration = Duration::from_secs(300);
/// The longest delay while the API server is unreachable: nothing waits for minutes after the end of a long outage.
pub const LONGEST_IN_OUTAGE: Duration = Duration::from_secs(10);

/// Failures in a row.
#[derive(Debug, Clone, Copy, Default)]
pub struct BackOff {
    failures: u32,
    /// When the next attempt is due.
    retry_at: Option<Instant>,
}

impl BackOff {
    /// Records a failure, and gives the instant of the next attempt. Only a failure of a due attempt doubles the delay: events that
    /// lead to further failures in between do not postpone the next attempt.
    pub fn failed(&mut self, longest: Duration) -> Instant {
        let now = Instant::now();
        match self.retry_at {
            Some(at) if at > now => at,
            _ => {
                let delay = FIRST.saturating_mul(1 << self.failures.min(20)).min(longest);
                // After an outage, whose delays are short, the delay grows from there.
                let failures = if delay < longest { self.failures + 1 } else { self.failures };
                *self = BackOff { failures, retry_at: Some(now + delay) };
                now + delay
            }
        }
    }

    /// The next attempt is due at this instant at the latest.
    pub fn retry_by(&mut self, at: Instant) {
        self.retry_at = self.retry_at.map(|due| due.min(at));
    }
}
