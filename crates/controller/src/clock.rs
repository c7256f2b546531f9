//! The wall clock, which tests replace.

use jiff::Timestamp;
use std::sync::Arc;

/// The source of wall-clock time: the system, or a clock that a test moves by itself.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

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
