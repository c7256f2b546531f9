//! A cluster read by kubectl: a fake one, which is a shell script at the front of PATH.

mod called;
mod cluster;
mod events;
mod failures;
mod help;
mod wait;
mod watch;

use crate::program::{Ran, binary, dump, finish};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Prints the dump, whatever is asked.
const CONTEXT: &str = "config) echo kind-dev ;;";

/// Kinds of objects, as kubectl names them in a watch.
const KINDS: [(&str, &str); 4] = [
    ("DaemonSet", "daemonsets"),
    ("Pod", "pods"),
    ("Node", "nodes"),
    ("ControllerRevision", "controllerrevisions"),
];

/// A directory with a script `kubectl`, which keeps its arguments.
pub struct Fake {
    directory: PathBuf,
}

impl Fake {
    /// `cases` are those of a shell's `case "$1" in`; `$here` is the directory.
    pub fn new(name: &str, cases: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kubectl-{name}"));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        let script = directory.join("kubectl");
        let here = directory.display();
        let text = format!(
            "#!/bin/sh\nhere='{here}'\necho \"$*\" >>\"$here/calls\"\ncase \"$1\" in\n{cases}\nesac\n"
        );
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        Fake { directory }
    }

    /// A cluster that is always the same.
    pub fn of_dump(name: &str, file: &str) -> Self {
        Fake::new(name, &format!("{CONTEXT}\nget) cat '{}' ;;", dump(file)))
    }

    /// A cluster that can be watched: the list is in `cluster.json`, its namespace in `namespace.json`, and `KIND.events` grows. A
    /// watch ends with the file `open`.
    pub fn watched(name: &str, list: &Value) -> Self {
        let watch = "\
n=0
while [ -e \"$here/open\" ]; do
  m=$(wc -l <\"$here/$2.events\")
  # The line after them may be half written.
  if [ $m -gt $n ]; then head -n $m \"$here/$2.events\" | tail -n +$((n + 1)); n=$m; fi
  sleep 0.02
done";
        let get = format!(
            "get) case \"$*\" in *--watch*) {watch} ;; 'get namespace/'*)
               cat \"$here/namespace.json\" 2>/dev/null || {{ echo 'Error from server (Forbidden)' >&2; exit 1; }} ;;
             *) cat \"$here/cluster.json\" ;; esac ;;"
        );
        let fake = Fake::new(name, &format!("{CONTEXT}\n{get}"));
        for (kind, file) in KINDS {
            let objects = list["items"].as_array().unwrap().iter().filter(|item| item["kind"] == kind);
            let events = objects.map(|object| format!("{}\n", json!({"type": "ADDED", "object": object})));
            fs::write(fake.path(&format!("{file}.events")), events.collect::<String>()).unwrap();
        }
        fs::write(fake.path("open"), "").unwrap();
        fs::write(fake.path("cluster.json"), list.to_string()).unwrap();
        fake
    }

    /// A watch tells this.
    pub fn tell(&self, event: &str, object: &Value) {
        let (_, file) = KINDS.iter().find(|(kind, _)| object["kind"] == *kind).unwrap();
        let mut file =
            fs::OpenOptions::new().append(true).open(self.path(&format!("{file}.events"))).unwrap();
        writeln!(file, "{}", json!({"type": event, "object": object})).unwrap();
    }

    /// How often all objects were listed.
    pub fn lists(&self) -> usize {
        self.calls().iter().filter(|call| call.starts_with("get ") && !call.contains("--watch")).count()
    }

    /// Waits until the watches build on a list, so that nothing is listed any more; how often all was listed until then.
    pub fn settled(&self) -> usize {
        loop {
            let lists = self.lists();
            // Longer than one list takes on a machine that is busy with others.
            std::thread::sleep(std::time::Duration::from_millis(1500));
            let watches = self.calls().iter().filter(|call| call.contains("--watch")).count();
            if lists > 1 && self.lists() == lists && watches > 0 {
                return lists;
            }
        }
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(arguments);
        self.prepare(&mut command);
        command
    }

    /// In its directory, where the first kubectl in PATH is this one.
    #[expect(clippy::disallowed_methods, reason = "a test has an environment, the library has none")]
    pub fn prepare(&self, command: &mut Command) {
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.directory.display()));
        command.env_remove("KUBECTL").current_dir(&self.directory);
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        finish(self.command(arguments), b"")
    }

    /// Its stdout when all is well.
    pub fn printed(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{arguments:?}");
        ran.out
    }

    /// Its one line about bad input.
    pub fn refused(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
        let line = ran.err.strip_suffix('\n').unwrap();
        assert!(!line.contains('\n'), "{line}");
        line.to_owned()
    }

    /// The arguments of each call.
    pub fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.directory.join("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }
}

/// The cluster of `midrollout.json`.
pub fn midrollout() -> Value {
    serde_json::from_slice(&fs::read(dump("midrollout.json")).unwrap()).unwrap()
}

/// An object of a list.
pub fn object(list: &Value, kind: &str, name: &str) -> Value {
    let found = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["kind"] == kind && item["metadata"]["name"] == name);
    found.unwrap().clone()
}

/// The same object in a newer version.
pub fn newer(mut object: Value, versions: u64) -> Value {
    let version = &mut object["metadata"]["resourceVersion"];
    let number: u64 = version.as_str().unwrap().parse().unwrap();
    *version = (number + versions).to_string().into();
    object
}

/// The cluster of `midrollout.json`, with annotations that steer the rollout.
pub fn steered(annotations: &[(&str, &str)]) -> Value {
    let mut list = midrollout();
    let items = list["items"].as_array_mut().unwrap();
    let daemon_set = items.iter_mut().find(|item| item["kind"] == "DaemonSet").unwrap();
    for (name, value) in annotations {
        daemon_set["metadata"]["annotations"][format!("rollout.daemonset/{name}")] = (*value).into();
    }
    list
}
