//! Many inputs, one a line: one line of JSON for each.

use crate::cluster::Source;
use crate::shell::console::Stop;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

const BUFFER: usize = 1 << 16;

/// Why a line has no answer.
pub(crate) struct RefusedLine {
    /// `None` where it can't be read.
    pub(crate) name: Option<String>,
    pub(crate) error: String,
}

#[derive(Serialize)]
struct LineFailure {
    /// Null where it can't be read.
    name: Option<String>,
    /// From 1.
    line: u64,
    error: String,
}

/// Answers each line; a bad one gets its error and stops nothing. Holds one line at a time.
pub(crate) fn run<A: Serialize>(
    source: &Source,
    answer: impl Fn(&str) -> Result<A, RefusedLine>,
) -> Result<u8, Stop> {
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
        match text(&line).and_then(&answer) {
            Ok(answer) => serde_json::to_writer(&mut out, &answer).map_err(io::Error::from)?,
            Err(RefusedLine { name, error }) => {
                let failure = LineFailure { name, line: number, error };
                serde_json::to_writer(&mut out, &failure).map_err(io::Error::from)?;
            }
        }
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(0)
}

/// A writer that waits for the answer to its last line gets it.
fn flush_before_waiting(lines: &BufReader<impl Read>, out: &mut impl Write) -> io::Result<()> {
    if lines.buffer().is_empty() { out.flush() } else { Ok(()) }
}

fn text(line: &[u8]) -> Result<&str, RefusedLine> {
    std::str::from_utf8(line).map_err(|error| RefusedLine {
        name: None,
        error: format!("invalid UTF-8 at column {}", error.valid_up_to() + 1),
    })
}

/// The name in a line of JSON, even where something else in it is wrong.
pub(crate) fn name(line: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: Option<String>,
    }
    serde_json::from_str::<Named>(line).ok()?.name
}

/// A message of the parser, for one line of many.
pub(crate) fn at_column(error: &impl ToString) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}
