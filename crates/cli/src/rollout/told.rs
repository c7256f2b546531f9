//! What a job prints, and how it ends.

use crate::rollout::args::Format;
use crate::shell::console::Stop;
use daemonset_kubectl::Answer;
use serde::Serialize;
use std::io::{self, Write};
use std::process::ExitCode;

/// Text for both streams, and the exit code: 1 where kubectl's is.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) code: u8,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Told {
    pub(crate) fn words(stdout: String) -> Self {
        Told { stdout, ..Told::default() }
    }

    pub(crate) fn refusal(stderr: impl std::fmt::Display) -> Self {
        Told { code: 1, stderr: format!("{stderr}\n"), ..Told::default() }
    }

    pub(crate) fn json(value: &impl Serialize) -> Result<Self, Stop> {
        let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
        Ok(Told::words(text + "\n"))
    }

    /// kubectl's words, or what there is behind them; a refusal is told in words always.
    pub(crate) fn answer(answer: Answer, format: Format, behind: &impl Serialize) -> Result<Self, Stop> {
        let told = match format {
            Format::Json if answer.code == 0 => Told::json(behind)?,
            Format::Json | Format::Text => Told::words(answer.stdout),
        };
        Ok(Told { code: u8::try_from(answer.code).unwrap_or(1), stderr: answer.stderr, ..told })
    }

    /// Writes it. What kubectl prints has no colours.
    pub(crate) fn print(self) -> Result<ExitCode, Stop> {
        io::stderr().write_all(self.stderr.as_bytes())?;
        let mut out = io::stdout().lock();
        out.write_all(self.stdout.as_bytes())?;
        out.flush()?;
        Ok(ExitCode::from(self.code))
    }
}
