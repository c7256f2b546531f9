//! The clocks, which tests replace.

use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The source of wall-clock time: the system, or a clock that a test moves by itself.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}

impl Default for Clock {
    /// The system's clock.
    fn default() -> Self {
        Clock::new(Timestamp::now)
    }
}

impl Clock {
    /// A clock that reads the time from this function.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Clock(Arc::new(now))
    }

    /// The time now.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

/// The time since the machine started. It runs while the process is stopped (SIGSTOP) and while the machine sleeps: tokio's
/// clock does not run in a sleep, and its timers fire late after both.
#[derive(Clone)]
pub struct BootClock(Arc<dyn Fn() -> Duration + Send + Sync>);

impl fmt::Debug for BootClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BootClock").field(&self.now()).finish()
    }
}

impl Default for BootClock {
    /// The system's clock.
    fn default() -> Self {
        #[cfg(target_os = "linux")]
        const ID: ClockId = ClockId::Boottime;
        // Elsewhere the monotonic clock is the closest one.
        #[cfg(not(target_os = "linux"))]
        const ID: ClockId = ClockId::Monotonic;
        BootClock::new(|| Duration::try_from(clock_gettime(ID)).unwrap_or_default())
    }
}

impl BootClock {
    /// A clock that reads the time from this function.
    pub fn new(now: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        BootClock(Arc::new(now))
    }

    /// The time now.
    pub fn now(&self) -> Duration {
        (self.0)()
    }
}
