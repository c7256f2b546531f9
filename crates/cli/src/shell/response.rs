//! The answer of a subcommand in kubectl's manner: text for both streams, and an exit code.

use crate::shell::console::{Format, Stop};
use daemonset_view::hostile;
use kubectl_daemonset::kubectl::Answer;
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, Write};

/// Text for both streams, and the exit code: 1 where kubectl's is.
#[derive(Default)]
pub(crate) struct Response {
    pub(crate) code: u8,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Response {
    pub(crate) fn text(stdout: String) -> Self {
        Response { stdout, ..Response::default() }
    }

    pub(crate) fn refusal(stderr: impl Display) -> Self {
        Response { code: 1, stderr: format!("{stderr}\n"), ..Response::default() }
    }

    pub(crate) fn json(value: &impl Serialize) -> Result<Self, Stop> {
        let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
        Ok(Response::text(hostile::in_json(&text) + "\n"))
    }

    /// The same answer with another exit code.
    pub(crate) fn with_code(self, code: u8) -> Self {
        Response { code, ..self }
    }

    /// The same answer after the API server's warnings, as kubectl prints them.
    pub(crate) fn with_warnings(self, warnings: &[String]) -> Self {
        let warnings = warnings.iter().map(|warning| format!("Warning: {warning}\n")).collect::<String>();
        Response { stderr: warnings + &self.stderr, ..self }
    }

    /// kubectl's text, or the data behind it; a refusal is text in both formats.
    pub(crate) fn answer(answer: Answer, format: Format, data: &impl Serialize) -> Result<Self, Stop> {
        let response = match format {
            Format::Json if answer.code == 0 => Response::json(data)?,
            Format::Json | Format::Text => Response::text(answer.stdout),
        };
        Ok(Response { code: u8::try_from(answer.code).unwrap_or(1), stderr: answer.stderr, ..response })
    }

    /// Writes it, and gives its exit code. Text of kubectl has no colours.
    pub(crate) fn print(self) -> Result<u8, Stop> {
        io::stderr().write_all(hostile::in_text(&self.stderr).as_bytes())?;
        let mut out = io::stdout().lock();
        out.write_all(hostile::in_text(&self.stdout).as_bytes())?;
        out.flush()?;
        Ok(self.code)
    }
}
