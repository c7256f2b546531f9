//! Ctrl-C, and waits that it ends.
#![allow(clippy::disallowed_types, reason = "a wait needs a clock; the library reads none")]

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often a wait looks whether it should end.
const TICK: Duration = Duration::from_millis(20);

/// Whether the program should end.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on Ctrl-C does no more than set this.
    pub(crate) fn register() -> io::Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
        Ok(Interrupt(flag))
    }

    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Waits so long, or until it is set.
    pub(crate) fn wait(&self, time: Duration) {
        // `None` is further away than a clock can tell.
        let until = Instant::now().checked_add(time);
        while until.is_none_or(|until| Instant::now() < until) && !self.is_set() {
            thread::sleep(TICK.min(time));
        }
    }
}
