//! The program as a user calls it: arguments and stdin in, text and exit code out.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The program that these tests are about.
pub fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_kubectl-daemonset"))
}

/// The result of a call.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// Calls a subcommand with this on stdin, on a machine without kubectl.
pub fn run(subcommand: &str, arguments: &[&str], stdin: &[u8]) -> Ran {
    let mut command = Command::new(binary());
    command.arg(subcommand).args(arguments).env("KUBECTL", "/nowhere/kubectl");
    finish(command, stdin)
}

/// Waits for its end.
pub fn finish(mut command: Command, stdin: &[u8]) -> Ran {
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // It may end before it has read everything.
        scope.spawn(move || input.write_all(stdin));
        child.wait_with_output().unwrap()
    });
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// A real cluster among the library's own test data.
pub fn dump(name: &str) -> String {
    format!("{}/../../tests/data/dumps/{name}", env!("CARGO_MANIFEST_DIR"))
}
