//! The renew deadline: the instant until which this process may act without a further renewal of its lease.
//!
//! The main loop ends the process at this deadline, but a process that was stopped for longer (SIGSTOP, a frozen machine) runs
//! other tasks before its timers fire. Another process may lead by then. So everything that acts asks the deadline first: a
//! new plan, each request, and each write to a socket.

use crate::lease::clock::BootClock;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The deadline of a process without a lease: never.
const NEVER: u64 = u64::MAX;

/// The instant until which this process may act; clones share it.
///
/// ```
/// use daemonset_executor::lease::RenewDeadline;
/// use std::time::Duration;
///
/// let deadline = RenewDeadline::default();
/// assert!(deadline.check().is_err(), "no lease was acquired yet");
/// // An election does that after each renewal.
/// deadline.renewed(deadline.now(), Duration::from_secs(10));
/// assert!(deadline.check().is_ok());
/// deadline.end();
/// assert_eq!(deadline.check().unwrap_err().to_string(), "this process no longer holds the lease for certain");
/// ```
#[derive(Clone)]
pub struct RenewDeadline {
    clock: BootClock,
    /// Nanoseconds of the clock.
    ends_at: Arc<AtomicU64>,
}

/// The error of everything that the deadline stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "it has nothing to tell")]
pub struct DeadlineOver;

impl fmt::Display for DeadlineOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this process no longer holds the lease for certain")
    }
}

impl Default for RenewDeadline {
    /// By the clock of the machine.
    fn default() -> Self {
        RenewDeadline::new(BootClock::default())
    }
}

impl fmt::Debug for RenewDeadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RenewDeadline").field("check", &self.check()).finish_non_exhaustive()
    }
}

impl RenewDeadline {
    /// A deadline that is over until a first renewal.
    pub fn new(clock: BootClock) -> Self {
        RenewDeadline { clock, ends_at: Arc::default() }
    }

    /// No deadline, for a process that acts without a lease.
    pub fn without_lease() -> Self {
        RenewDeadline { clock: BootClock::default(), ends_at: Arc::new(AtomicU64::new(NEVER)) }
    }

    /// The time of the clock that the deadline follows.
    pub fn now(&self) -> Duration {
        self.clock.now()
    }

    /// Moves the deadline after a successful renewal, which began to be sent at `sent_at`.
    pub fn renewed(&self, sent_at: Duration, valid_for: Duration) {
        self.ends_at.fetch_max(nanoseconds(sent_at.saturating_add(valid_for)), Ordering::SeqCst);
    }

    /// Ends the leadership at once: the lease was lost, or is given back.
    pub fn end(&self) {
        self.ends_at.store(0, Ordering::SeqCst);
    }

    /// For how long the deadline is over although no one has ended the leadership: its renewal stands still.
    pub fn over_for(&self) -> Option<Duration> {
        let ends_at = Some(self.ends_at.load(Ordering::SeqCst)).filter(|ends_at| *ends_at > 0)?;
        self.now().checked_sub(Duration::from_nanos(ends_at))
    }

    /// Refuses to act after the deadline.
    ///
    /// # Errors
    /// When the deadline is over.
    pub fn check(&self) -> Result<(), DeadlineOver> {
        match self.ends_at.load(Ordering::SeqCst) {
            NEVER => Ok(()),
            ends_at if nanoseconds(self.now()) < ends_at => Ok(()),
            _ => Err(DeadlineOver),
        }
    }
}

/// Nanoseconds since the machine started: 584 years fit.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(NEVER - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_a_lease_never_ends_however_late_it_is() {
        assert_eq!(RenewDeadline::without_lease().check(), Ok(()));
        assert!(nanoseconds(Duration::MAX) < NEVER, "a lease of any length has an end");
    }

    #[test]
    fn the_refusal_says_why() {
        let refused = RenewDeadline::new(BootClock::default()).check().unwrap_err();
        assert_eq!(refused.to_string(), "this process no longer holds the lease for certain");
    }
}
