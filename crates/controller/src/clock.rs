//! What time it is.

use jiff::Timestamp;
use std::sync::Arc;

/// Where the time comes from: the system or, in a test, one that need not be waited for.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Default for Clock {
    /// The system's.
    fn default() -> Self {
        Clock::new(Timestamp::now)
    }
}

impl Clock {
    /// One that tells what this function tells.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Clock(Arc::new(now))
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}
