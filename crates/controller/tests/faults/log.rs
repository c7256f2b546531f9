//! The log of a story, as the process writes it.

use daemonset_controller::program::DEFAULT_LOG;
use std::io::Write;
use std::sync::{Arc, Mutex};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::EnvFilter;

/// Captures the log of this thread for as long as it lives.
pub struct Log {
    text: Text,
    _guard: DefaultGuard,
}

#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    pub fn capture() -> Self {
        let text = Text::default();
        let writer = text.clone();
        let log = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(DEFAULT_LOG))
            .with_ansi(false)
            .without_time()
            .with_writer(move || writer.clone());
        Log { text, _guard: tracing::subscriber::set_default(log.finish()) }
    }

    /// The lines that contain this text.
    pub fn lines(&self, with: &str) -> Vec<String> {
        let text = String::from_utf8(self.text.0.lock().expect("no panic").clone()).expect("a log is UTF-8");
        text.lines().filter(|line| line.contains(with)).map(ToOwned::to_owned).collect()
    }
}
