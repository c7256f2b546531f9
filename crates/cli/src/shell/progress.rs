//! Hints of life on a terminal.
#![allow(clippy::disallowed_types, reason = "patience needs a clock; the library reads none")]

use indicatif::{ProgressBar, ProgressDrawTarget};
use std::time::{Duration, Instant};

/// A shorter wait is silent.
const PATIENCE: Duration = Duration::from_secs(1);

/// A spinner on stderr for anything that takes long; indicatif hides it where stderr is no terminal.
pub(crate) struct Spinner {
    what: &'static str,
    since: Instant,
    spinner: Option<ProgressBar>,
}

impl Spinner {
    pub(crate) fn new(what: &'static str) -> Self {
        Spinner { what, since: Instant::now(), spinner: None }
    }

    /// To be called again and again.
    pub(crate) fn tick(&mut self) {
        let waited = self.since.elapsed();
        if waited < PATIENCE {
            return;
        }
        let spinner = self.spinner.get_or_insert_with(|| {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
                .with_style(indicatif::ProgressStyle::default_spinner())
        });
        spinner.set_message(format!("{} ({}s)", self.what, waited.as_secs()));
        spinner.tick();
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }
}
