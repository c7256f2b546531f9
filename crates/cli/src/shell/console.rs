//! The end of a program that a shell called: text on stdout, one line on stderr, and an exit code; and its clock.

use anstream::{AutoStream, ColorChoice};
use clap::error::{ContextKind, ContextValue};
use daemonset_view::hostile;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// How an answer is printed.
#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For a person
    #[default]
    Text,
    /// For a program
    Json,
}

/// The last fine exit code: there is something to look at.
pub(crate) const LOOK: u8 = 1;
/// The user's input can't be used.
pub(crate) const BAD_INPUT: u8 = 2;

/// Why a program ends early.
pub(crate) enum Stop {
    /// The user's input can't be used.
    Input(String),
    /// The answer can't be written.
    Output(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Output(error)
    }
}

/// Exit code 2 for bad input, 1 for `output` that can't be written.
pub(crate) fn finish(output: &str, done: Result<u8, Stop>) -> ExitCode {
    match done {
        Ok(code) => ExitCode::from(code),
        // The reader has seen enough, as `head` does.
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Stop::Output(error)) => complain(&format!("{output}: {error}"), 1),
        Err(Stop::Input(message)) => complain(&message, BAD_INPUT),
    }
}

/// Clap's message up to the usage, without its line breaks; with the word that is nearly the same, where there is one.
pub(crate) fn in_one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let message = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    let message = message.collect::<Vec<_>>().join(" ");
    let message = message.trim_start_matches("error: ");
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let near = kinds.into_iter().find_map(|kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.clone()),
        ContextValue::Strings(words) => words.first().cloned(),
        _ => None,
    });
    match near {
        Some(word) => format!("{message}: did you mean {word}?"),
        None => format!("{message}; see --help"),
    }
}

/// Writes styled text to stdout, with its colours only where they can be seen and are wanted.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let stdout = io::stdout();
    let text = hostile::in_styled_text(text);
    if AutoStream::choice(&stdout) == ColorChoice::Never {
        let plain = anstream::adapter::strip_str(&text).to_string();
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
    let json = serde_json::to_string_pretty(value)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", hostile::in_json(&json))?;
    out.flush()
}

/// Writes one line to stderr.
fn complain(message: &str, code: u8) -> ExitCode {
    // If even stderr is closed, the exit code has to do.
    let _ = writeln!(io::stderr(), "error: {}", hostile::in_one_line(message));
    ExitCode::from(code)
}

/// In whole seconds, as Kubernetes writes times.
#[expect(clippy::disallowed_methods, reason = "a shell has a clock, the library has none")]
pub(crate) fn system_clock() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

/// A span of time on the command line.
pub(crate) fn duration(text: &str) -> Result<SignedDuration, String> {
    match text.parse::<SignedDuration>() {
        Ok(duration) if duration.is_positive() => Ok(duration),
        Ok(_) => Err("must be more than nothing".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
