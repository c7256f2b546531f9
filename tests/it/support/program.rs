//! Examples as a user calls them: arguments and stdin in, text and exit code out.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What came of a call.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// Calls a program with this on stdin.
pub fn run(binary: &Path, arguments: &[&str], stdin: &[u8]) -> Ran {
    let mut command = Command::new(binary);
    command.args(arguments).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
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

/// `target/debug/examples/NAME` for `target/debug/deps/it-0123456789abcdef`, up to date.
pub fn example(name: &str, features: &[&str]) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let directory = test.parent().and_then(Path::parent).unwrap();
    build(directory, name, features);
    directory.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// `cargo test` has done so already, but `cargo test NAME` and `cargo test --test it` leave examples as they are.
fn build(directory: &Path, name: &str, features: &[&str]) {
    let profile = directory.file_name().unwrap().to_str().unwrap();
    let mut target = directory.parent().unwrap();
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "--quiet", "--example", name]);
    command.args(["--features", &features.join(",")]);
    command.args(["--profile", if profile == "debug" { "dev" } else { profile }]);
    if !target.join("CACHEDIR.TAG").exists() {
        command.arg("--target").arg(target.file_name().unwrap());
        target = target.parent().unwrap();
    }
    assert!(command.arg("--target-dir").arg(target).status().unwrap().success());
}
