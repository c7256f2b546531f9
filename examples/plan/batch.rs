//! Many recordings, one a line: one line of JSON for each.

use crate::console::Stop;
use crate::input::Source;
use daemonset::model::DaemonSetStatus;
use daemonset::{Action, Recording, plan};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

const BUFFER: usize = 1 << 16;

#[derive(Serialize)]
struct Answer {
    name: String,
    actions: Vec<Action>,
    /// After this plan; null where it is left alone.
    status: Option<DaemonSetStatus>,
}

#[derive(Serialize)]
struct Failure {
    /// Null where it can't be read.
    name: Option<String>,
    /// From 1.
    line: u64,
    error: String,
}

/// Answers each line; a bad one gets its error and stops nothing. Holds one line at a time.
pub(crate) fn run(source: &Source) -> Result<(), Stop> {
    let unreadable = |error: io::Error| Stop::Input(format!("{source}: {error}"));
    let mut lines = BufReader::with_capacity(BUFFER, source.open().map_err(unreadable)?);
    let mut out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
    let mut line = Vec::new();
    for number in 1.. {
        flush_before_waiting(&lines, &mut out)?;
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        match answer(&line) {
            Ok(answer) => serde_json::to_writer(&mut out, &answer).map_err(io::Error::from)?,
            Err((name, error)) => {
                let failure = Failure { name, line: number, error };
                serde_json::to_writer(&mut out, &failure).map_err(io::Error::from)?;
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}

/// Whoever writes a line and waits for its answer gets it.
fn flush_before_waiting(lines: &BufReader<impl Read>, out: &mut impl Write) -> io::Result<()> {
    if lines.buffer().is_empty() { out.flush() } else { Ok(()) }
}

fn answer(line: &[u8]) -> Result<Answer, (Option<String>, String)> {
    let text = std::str::from_utf8(line)
        .map_err(|error| (None, format!("invalid UTF-8 at column {}", error.valid_up_to() + 1)))?;
    let recording = Recording::from_json(text.as_bytes())
        .map_err(|error| (name(text), error.to_string().replace(" at line 1 column ", " at column ")))?;
    let snapshot = recording.snapshot().map_err(|error| (name(text), error.to_string()))?;
    let plan = plan(&snapshot);
    Ok(Answer { name: recording.name.clone(), actions: plan.actions, status: plan.status })
}

/// The name of a line that is JSON, though no recording.
fn name(line: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: Option<String>,
    }
    serde_json::from_str::<Named>(line).ok()?.name
}
