//! The begin and the end of each program: its log, the problems of its command line, and its exit code.

use crate::args::LogFormat;
use crate::log_lines::LogLines;
use daemonset::{Escaped, Policy};
use std::io::Write;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

/// The messages of the log where `RUST_LOG` chooses none. kube's own lines repeat each failed attempt, without the address and
/// in Debug form; this crate logs the failures itself.
pub const DEFAULT_LOG: &str = "info,kube_client=off,kube_client::client::tls=warn,kube_runtime=off";

/// Sets the log up, and runs the program with the policy of its command line.
pub async fn run_program(
    format: LogFormat,
    checked: Result<Policy, Vec<String>>,
    run: impl AsyncFnOnce(Policy) -> anyhow::Result<()>,
) -> ExitCode {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT_LOG));
    // A log that can't be written is lost: its reader has gone, and nothing else can be told where.
    let log = tracing_subscriber::fmt().log_internal_errors(false).with_env_filter(filter).with_ansi(false);
    match format {
        LogFormat::Text => log.with_writer(|| LogLines(std::io::stderr())).init(),
        LogFormat::Json => log.with_writer(std::io::stderr).json().init(),
    }
    let policy = match checked {
        Ok(policy) => policy,
        Err(problems) => {
            for problem in problems {
                let _ = writeln!(std::io::stderr(), "error: {}", Escaped(&problem));
            }
            return ExitCode::from(2);
        }
    };
    match run(policy).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The line is the whole program's.
            tracing::error!(target: env!("CARGO_CRATE_NAME"), "{error:#}");
            ExitCode::FAILURE
        }
    }
}
