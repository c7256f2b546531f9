//! The clocks of the machine on which a process runs.

use daemonset_executor::lease::{BootClock, Clock};
use jiff::{SignedDuration, Timestamp};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// A clock that follows tokio's paused one, which jumps to the next timer whenever all tasks wait.
pub fn clock() -> Clock {
    let (begin, start) = (Instant::now(), Timestamp::from_second(1_767_225_600).expect("2026"));
    Clock::new(move || start + SignedDuration::try_from(begin.elapsed()).expect("an hour or two"))
}

/// A machine whose clock runs while the process is stopped.
#[derive(Clone, Default)]
pub struct Machine {
    stopped: Arc<Mutex<Duration>>,
}

impl Machine {
    pub fn clock(&self) -> BootClock {
        let (begin, stopped) = (Instant::now(), self.stopped.clone());
        BootClock::new(move || begin.elapsed() + *stopped.lock().expect("no panic"))
    }

    /// Stops the process for this time: the clock of the machine runs, and nothing else happens. The timers of the process are
    /// late afterwards.
    pub fn stop_process(&self, time: Duration) {
        *self.stopped.lock().expect("no panic") += time;
    }
}
