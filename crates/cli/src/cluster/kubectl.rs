//! kubectl as a child process: the only way to a cluster, so that no client library is linked.
#![allow(clippy::disallowed_types, reason = "patience needs a clock; the library reads none")]

use crate::cluster::Objects;
use crate::cluster::connection::ConnectionArgs;
use crate::shell::progress::Spinner;
use daemonset_view::cause::quoted;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often a child that has not ended is looked at.
const POLL: Duration = Duration::from_millis(10);

/// The part of a cluster that a command reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// The DaemonSet and its revisions.
    Rollout,
    /// The DaemonSets and the nodes.
    Nodes,
    /// Everything that a decision reads.
    Plan,
}

impl Needs {
    const fn beside_daemon_sets(self) -> &'static str {
        match self {
            Needs::Rollout => "controllerrevisions",
            Needs::Nodes => "nodes",
            Needs::Plan => "pods,nodes,controllerrevisions",
        }
    }

    /// Each kind of object.
    pub(super) fn kinds(self) -> impl Iterator<Item = &'static str> {
        [DAEMON_SETS].into_iter().chain(self.beside_daemon_sets().split(','))
    }
}

const DAEMON_SETS: &str = "daemonsets";

/// Which namespaces are read.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The context's own.
    Current,
    Namespace(String),
    All,
}

/// A cluster that kubectl knows.
#[derive(Clone)]
pub(crate) struct Kubectl {
    program: OsString,
    connection: ConnectionArgs,
    scope: Scope,
    /// Of DaemonSets only: their pods, nodes and revisions are read whole.
    selector: Option<String>,
    /// As messages call it.
    title: String,
    /// Ends a child that is still running.
    interrupted: Arc<AtomicBool>,
    /// Ends a child that runs for longer.
    until: Option<Instant>,
    /// Without a sign of life: another one draws on the terminal.
    is_silent: bool,
}

/// Why there is no cluster.
pub(crate) enum ConnectError {
    /// There is no kubectl, or it has no current context.
    Missing(String),
    /// kubectl can't read its own configuration.
    Broken(String),
}

impl Kubectl {
    /// Asks kubectl for its current context, unless a context is named. Speaks to no server.
    pub(crate) fn connect(
        connection: ConnectionArgs,
        scope: Scope,
        selector: Option<String>,
    ) -> Result<Self, ConnectError> {
        let mut kubectl = Kubectl {
            program: program(),
            connection,
            scope,
            selector,
            title: String::new(),
            interrupted: Arc::default(),
            until: None,
            is_silent: false,
        };
        let current = match &kubectl.connection.context {
            Some(named) => format!("context {named}"),
            None => kubectl.current_context()?,
        };
        kubectl.title = match &kubectl.scope {
            Scope::Current => current,
            Scope::Namespace(namespace) => format!("{current}, namespace {namespace}"),
            Scope::All => format!("{current}, all namespaces"),
        };
        Ok(kubectl)
    }

    /// Inside a pod kubectl needs no context.
    fn current_context(&self) -> Result<String, ConnectError> {
        let mut arguments = vec!["config".into(), "current-context".into()];
        arguments.extend(self.connection.arguments());
        let ended = self.run(arguments).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => ConnectError::Missing("there is no kubectl".to_owned()),
            _ => ConnectError::Broken(format!("kubectl: {error}")),
        })?;
        let name = String::from_utf8_lossy(&ended.stdout).trim().to_owned();
        let message = one_line(&ended.stderr);
        match (ended.status.success(), name.is_empty()) {
            (true, false) => Ok(format!("context {name}")),
            _ if is_in_a_pod() => Ok("the pod's own cluster".to_owned()),
            (true, true) => Err(ConnectError::Missing("kubectl has no current context".to_owned())),
            (false, _) if message.contains("current-context is not set") => {
                Err(ConnectError::Missing("kubectl has no current context".to_owned()))
            }
            (false, _) => Err(ConnectError::Broken(format!("kubectl: {message}"))),
        }
    }

    /// The flags by which kubectl finds the same cluster, each after a space.
    pub(crate) fn flags(&self) -> String {
        self.connection.text()
    }

    /// The flag by which it reads the same namespaces, after a space.
    pub(crate) fn scope_flags(&self) -> String {
        match &self.scope {
            Scope::Current => String::new(),
            Scope::Namespace(namespace) => format!(" -n {}", quoted(namespace)),
            Scope::All => " -A".to_owned(),
        }
    }

    /// For a watch, which draws itself. Once the flag is set, a child that runs is ended, and its answer is an error.
    pub(crate) fn watch_until(&mut self, interrupted: Arc<AtomicBool>) {
        self.interrupted = interrupted;
        self.is_silent = true;
    }

    /// For a wait with an end: a server that never answers does not outlast it.
    pub(crate) fn give_up_at(&mut self, until: Option<Instant>) {
        self.until = until;
    }

    /// The objects, as read from the server.
    pub(crate) fn objects(&self, needs: Needs) -> Result<Objects, String> {
        let mut objects = Objects::default();
        for list in self.get(needs)? {
            objects
                .append(Objects::read(&list).map_err(|error| format!("kubectl printed no List: {error}"))?);
        }
        let (holder, hint) = match &self.scope {
            Scope::Current => ("the namespace".to_owned(), ": -A looks at all of them"),
            Scope::Namespace(namespace) => (format!("namespace {namespace}"), ""),
            Scope::All => ("the cluster".to_owned(), ""),
        };
        let holder = match &self.selector {
            Some(selector) => format!("{holder} with labels {selector}"),
            None => holder,
        };
        objects.found_in(holder, hint);
        Ok(objects)
    }

    /// The nodes and DaemonSets, and then the pods of this node: a pod that comes in between is seen.
    pub(crate) fn objects_on(&self, node: &str) -> Result<Objects, String> {
        let mut objects = self.objects(Needs::Nodes)?;
        let pods =
            self.print("pods", "json", Some(("--field-selector", &format!("spec.nodeName={node}"))))?;
        objects.append(Objects::read(&pods).map_err(|error| format!("kubectl printed no List: {error}"))?);
        Ok(objects)
    }

    /// One List; two where only some DaemonSets are chosen.
    pub(crate) fn get(&self, needs: Needs) -> Result<Vec<Vec<u8>>, String> {
        let beside = needs.beside_daemon_sets();
        match &self.selector {
            None => Ok(vec![self.list(&format!("daemonsets,{beside}"), None)?]),
            Some(selector) => Ok(vec![self.list("daemonsets", Some(selector))?, self.list(beside, None)?]),
        }
    }

    /// The priority classes; `None` where one may not read them.
    pub(crate) fn priority_classes(&self) -> Option<Objects> {
        Objects::read(&self.list("priorityclasses", None).ok()?).ok()
    }

    /// The warnings about DaemonSets among the events; `None` where one may not read them.
    pub(crate) fn warnings(&self) -> Option<Objects> {
        let selector = ("--field-selector", "involvedObject.kind=DaemonSet,type=Warning");
        Objects::read(&self.print("events", "json", Some(selector)).ok()?).ok()
    }

    /// The warnings about pods among the events: about this one, or about all; `None` where one may not read them.
    pub(crate) fn pod_warnings(&self, only: Option<&str>) -> Option<Objects> {
        let name = only.map(|name| format!(",involvedObject.name={name}")).unwrap_or_default();
        let selector = format!("involvedObject.kind=Pod,type=Warning{name}");
        Objects::read(&self.print("events", "json", Some(("--field-selector", &selector))).ok()?).ok()
    }

    /// These namespaces; `None` where one may not read them, or they are not there.
    pub(crate) fn namespaces(&self, names: &BTreeSet<String>) -> Result<Option<Objects>, String> {
        self.list_namespaces(names)?.map(|list| Objects::read(&list)).transpose()
    }

    /// The same as kubectl prints them.
    pub(crate) fn list_namespaces(&self, names: &BTreeSet<String>) -> Result<Option<Vec<u8>>, String> {
        let one = match (&self.scope, names.first()) {
            // kubectl takes no name beside --all-namespaces.
            (Scope::All, _) | (_, None) => "namespaces".to_owned(),
            (Scope::Current | Scope::Namespace(_), Some(name)) => format!("namespace/{name}"),
        };
        match self.list(&one, None) {
            // A connection that breaks says nothing about a namespace.
            Err(message) if !["(Forbidden)", "(NotFound)"].iter().any(|it| message.contains(it)) => {
                Err(message)
            }
            read => Ok(read.ok()),
        }
    }

    /// The namespace of the current context; `None` where it names none.
    pub(crate) fn namespace(&self) -> Option<String> {
        let words = ["config", "view", "--minify", "-o", "jsonpath={.contexts[0].context.namespace}"];
        let mut arguments: Vec<OsString> = words.map(OsString::from).into();
        arguments.extend(self.connection.arguments());
        let ended = self.run(arguments).ok().filter(|ended| ended.status.success())?;
        let printed = String::from_utf8_lossy(&ended.stdout).trim().to_owned();
        Some(printed).filter(|namespace| !namespace.is_empty())
    }

    /// Names of all objects of these kinds; none where kubectl fails.
    pub(crate) fn names(&self, kinds: &str) -> Vec<String> {
        let printed = self.print(kinds, "name", None).unwrap_or_default();
        let printed = String::from_utf8_lossy(&printed);
        printed.lines().filter_map(|line| Some(line.rsplit_once('/')?.1.to_owned())).collect()
    }

    fn list(&self, kinds: &str, selector: Option<&str>) -> Result<Vec<u8>, String> {
        self.print(kinds, "json", selector.map(|selector| ("--selector", selector)))
    }

    fn print(&self, kinds: &str, output: &str, selector: Option<(&str, &str)>) -> Result<Vec<u8>, String> {
        let mut arguments: Vec<OsString> = ["get", kinds, "-o", output].map(OsString::from).into();
        arguments.extend(self.connection.arguments());
        self.add_scope(&mut arguments);
        if let Some((flag, selector)) = selector {
            arguments.extend([flag.into(), selector.into()]);
        }
        let ended = self.run(arguments).map_err(|error| format!("kubectl: {error}"))?;
        match (ended.status.success(), ended.stdout.trim_ascii().is_empty()) {
            (true, false) => Ok(ended.stdout),
            (true, true) => Err("kubectl printed nothing".to_owned()),
            (false, _) => Err(match one_line(&ended.stderr) {
                silent if silent.is_empty() => format!("kubectl failed: {}", ended.status),
                message => format!("kubectl: {message}"),
            }),
        }
    }

    fn add_scope(&self, arguments: &mut Vec<OsString>) {
        match &self.scope {
            Scope::Current => {}
            Scope::Namespace(namespace) => arguments.extend(["--namespace".into(), namespace.into()]),
            Scope::All => arguments.push("--all-namespaces".into()),
        }
    }

    /// Starts a watch of one kind, which prints events until it ends. A time for one request would end it.
    pub(super) fn watch(&self, kind: &str) -> io::Result<Child> {
        let words = ["get", kind, "--watch", "--output-watch-events", "-o", "json"];
        let mut arguments: Vec<OsString> = words.map(OsString::from).into();
        arguments.extend(self.connection.without_timeout().arguments());
        self.add_scope(&mut arguments);
        if let Some(selector) = self.selector.as_ref().filter(|_| kind == DAEMON_SETS) {
            arguments.extend(["--selector".into(), selector.into()]);
        }
        let mut command = Command::new(&self.program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn()
    }

    /// Runs it to its end, with a sign of life on a terminal.
    fn run(&self, arguments: Vec<OsString>) -> io::Result<ProcessEnd> {
        let mut waiting = Spinner::new("waiting for kubectl");
        let mut command = Command::new(&self.program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (stdout, stderr) = (thread::spawn(|| read(stdout)), thread::spawn(|| read(stderr)));
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if let Some(why) = self.end() {
                // Its output is not waited for: a program that it has started may hold that open.
                child.kill()?;
                child.wait()?;
                return Err(io::Error::other(why));
            }
            if !self.is_silent {
                waiting.tick();
            }
            thread::sleep(POLL);
        };
        let all = |reader: thread::JoinHandle<io::Result<Vec<u8>>>| {
            reader.join().unwrap_or_else(|_| Err(io::Error::other("its output could not be read")))
        };
        Ok(ProcessEnd { status, stdout: all(stdout)?, stderr: all(stderr)? })
    }
}

impl Kubectl {
    /// Why a child that runs is ended.
    fn end(&self) -> Option<&'static str> {
        if self.interrupted.load(Ordering::Relaxed) {
            Some("interrupted")
        } else {
            self.until.filter(|until| Instant::now() >= *until).map(|_| "timed out")
        }
    }
}

struct ProcessEnd {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

fn read(pipe: Option<impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        pipe.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// `KUBECTL`, or the kubectl in PATH.
#[expect(clippy::disallowed_methods, reason = "a shell has an environment, the library has none")]
fn program() -> OsString {
    std::env::var_os("KUBECTL").filter(|program| !program.is_empty()).unwrap_or_else(|| "kubectl".into())
}

#[expect(clippy::disallowed_methods, reason = "a shell has an environment, the library has none")]
fn is_in_a_pod() -> bool {
    std::env::var_os("KUBERNETES_SERVICE_HOST").is_some()
}

/// A message without the log lines that client-go writes before it.
fn one_line(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut said: Vec<&str> = lines.iter().copied().filter(|line| !is_log(line)).collect();
    // One for each kind that was asked for.
    said.dedup();
    let said = if said.is_empty() { lines.last().copied().into_iter().collect() } else { said };
    said.join("; ").trim_start_matches("error: ").to_owned()
}

/// `E1122 10:00:00.000000    4242 memcache.go:265] …`.
fn is_log(line: &str) -> bool {
    let mut letters = line.chars();
    matches!(letters.next(), Some('E' | 'W' | 'I' | 'F'))
        && letters.by_ref().take(4).filter(char::is_ascii_digit).count() == 4
        && letters.next() == Some(' ')
}

impl fmt::Display for Kubectl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)
    }
}
