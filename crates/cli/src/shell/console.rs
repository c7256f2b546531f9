//! The end of a program that a shell called: text on stdout, one line on stderr, and an exit code.

use anstream::{AutoStream, ColorChoice};
use serde::Serialize;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// Why a program ends early.
pub(crate) enum Stop {
    /// What the user gave can't be used.
    Input(String),
    /// What was made can't be written.
    Output(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Output(error)
    }
}

/// Exit code 2 for bad input, 1 for `output` that can't be written.
pub(crate) fn finish(output: &str, done: Result<(), Stop>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads has seen enough.
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Stop::Output(error)) => complain(&format!("{output}: {error}"), 1),
        Err(Stop::Input(message)) => complain(&message, 2),
    }
}

/// Clap's message up to the usage, without its line breaks.
pub(crate) fn in_one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let message = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    let message = message.collect::<Vec<_>>().join(" ");
    format!("{}; see --help", message.trim_start_matches("error: "))
}

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

/// Writes JSON for people to stdout.
pub(crate) fn print_json(value: &impl Serialize) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    out.flush()
}

/// Writes one line to stderr, whatever is in the message.
fn complain(message: &str, code: u8) -> ExitCode {
    let mut line = "error: ".to_owned();
    for c in message.chars() {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    // Where even stderr is closed, the exit code is all that is left to tell.
    let _ = writeln!(io::stderr(), "{line}");
    ExitCode::from(code)
}
