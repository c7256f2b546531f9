//! The binary: parses the command line, sets the log up, and runs the controller.

use clap::Parser;
use daemonset::Escaped;
use daemonset_controller::args::{Args, DEFAULT_LOG, LogFormat};
use daemonset_controller::log_lines::LogLines;
use daemonset_controller::run::run;
use std::io::Write;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

// One thread is enough: the process spends its time waiting for the API server.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args = Args::parse();
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT_LOG));
    // A log that can't be written is lost: its reader has gone, and nothing else can be told where.
    let log = tracing_subscriber::fmt().log_internal_errors(false).with_env_filter(filter).with_ansi(false);
    match args.log_format {
        LogFormat::Text => log.with_writer(|| LogLines(std::io::stderr())).init(),
        LogFormat::Json => log.with_writer(std::io::stderr).json().init(),
    }
    let policy = match args.check() {
        Ok(policy) => policy,
        Err(problems) => {
            for problem in problems {
                let _ = writeln!(std::io::stderr(), "error: {}", Escaped(&problem));
            }
            return ExitCode::from(2);
        }
    };
    match run(args, policy).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
