//! The standard output of a dry run and a comparison, which may be a pipe to a program that reads no more, as `head`.

use std::io::Write;
use std::sync::Arc;
use tokio::sync::Notify;

/// The standard output; clones share its state.
#[derive(Debug, Clone, Default)]
pub struct Output {
    closed: Arc<Notify>,
}

impl Output {
    /// Writes whole lines.
    pub fn write(&self, text: &str) {
        if std::io::stdout().write_all(text.as_bytes()).is_err() {
            self.closed.notify_one();
        }
    }

    /// Waits until something could not be written: no one reads the rest either.
    pub async fn closed(&self) {
        self.closed.notified().await;
    }
}
