//! Writing to stdout and stderr.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// Writes styled text to stdout, with its colours only where they can be seen and are wanted.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = anstream::AutoStream::auto(io::stdout());
    for line in text.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    out.flush()
}

pub(crate) fn print_json(value: &impl serde::Serialize) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    out.flush()
}

/// Writes one line to stderr, whatever is in the message.
pub(crate) fn complain(message: &str, code: u8) -> ExitCode {
    let mut line = String::from("simulate: ");
    for c in message.chars() {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    // Where even stderr is closed, the exit code is all that is left to tell.
    let _ = writeln!(io::stderr(), "{line}");
    ExitCode::from(code)
}
