//! The text log: one event is one line, whatever the names and messages in it are.

use daemonset::Escaped;
use std::io::{self, Write};

/// A writer of events, each with one write, as `tracing_subscriber::fmt` does. Characters that would act on a terminal or begin a
/// line are escaped, colours among them: nothing tells those of the log from those in a field.
#[derive(Debug)]
pub struct LogLines<W>(pub W);

impl<W: Write> Write for LogLines<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = Escaped(text.strip_suffix('\n').unwrap_or(&text));
        self.0.write_all(format!("{line}\n").as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex, PoisonError};

    #[derive(Clone, Default)]
    struct SharedLog(Arc<Mutex<Vec<u8>>>);

    impl Write for SharedLog {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    const HOSTILE: &str =
        "a\n2026-01-01T00:00:00Z ERROR forged\r\u{1b}]0;title\u{7}\u{1b}[31m\u{202e}\u{9b}2Jb";

    #[test]
    fn an_event_is_one_line_without_characters_that_act() {
        let out = SharedLog::default();
        let writer = out.clone();
        let log = tracing_subscriber::fmt().with_ansi(false).with_writer(move || LogLines(writer.clone()));
        tracing::subscriber::with_default(log.finish(), || {
            let error = io::Error::other(HOSTILE);
            tracing::warn!(name = HOSTILE, shown = %HOSTILE, debug = ?HOSTILE, error = %error, "{HOSTILE}");
        });
        let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
        let line = text.strip_suffix('\n').unwrap();
        assert!(!line.contains(Escaped::is_needed), "{line:?}");
        assert!(line.contains("WARN") && line.contains(r"a\n2026"), "{line}");
    }
}
