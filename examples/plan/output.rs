//! Writing to stdout and stderr.

use crate::input::Input;
use anstream::{AutoStream, ColorChoice};
use daemonset::Plan;
use jiff::Timestamp;
use serde::Serialize;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// Writes styled text to stdout, with its colours only where they can be seen and are wanted.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let stdout = io::stdout();
    if AutoStream::choice(&stdout) == ColorChoice::Never {
        let plain = anstream::adapter::strip_str(text).to_string();
        let mut out = BufWriter::new(stdout.lock());
        for line in plain.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        return out.flush();
    }
    let mut out = AutoStream::auto(stdout);
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// A plan, and what it is about.
#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    now: Timestamp,
    #[serde(flatten)]
    plan: &'a Plan,
}

/// Writes the whole plan to stdout.
pub(crate) fn print_json(input: &Input, plan: &Plan) -> io::Result<()> {
    let named = Named { name: &input.recording.name, now: input.recording.now, plan };
    let mut out = BufWriter::new(io::stdout().lock());
    serde_json::to_writer_pretty(&mut out, &named)?;
    writeln!(out)?;
    out.flush()
}

/// Writes one line to stderr, whatever is in the message.
pub(crate) fn complain(message: &str, code: u8) -> ExitCode {
    let mut line = String::from("plan: ");
    for c in message.chars() {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    // Where even stderr is closed, the exit code is all that is left to tell.
    let _ = writeln!(io::stderr(), "{line}");
    ExitCode::from(code)
}
