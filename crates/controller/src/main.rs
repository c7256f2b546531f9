//! The controller: parses its command line, and runs.

use daemonset_controller::args::Args;
use daemonset_controller::program::run_program;
use daemonset_controller::run::run;
use std::process::ExitCode;

// One thread is enough: the process spends its time waiting for the API server.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args = Args::read(std::env::args_os()).unwrap_or_else(|error| error.exit());
    let (format, checked) = (args.common.log_format, args.check());
    run_program(format, checked, async |policy| run(args, policy).await).await
}
