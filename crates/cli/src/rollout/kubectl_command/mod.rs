//! A kubectl command as a person types it, and kubectl's answer to it.

mod answer;
mod flags;
mod target;

pub(crate) use answer::answer;

use self::flags::{Flag, FlagError, FlagNeeds, Given, Name};
use self::target::{KubectlTarget, TargetError, target};
use kubectl_daemonset::kubectl::{DryRun, ObjectFormat};

/// A `kubectl rollout` command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KubectlCommand {
    pub(crate) verb: Verb,
    pub(crate) target: KubectlTarget,
    pub(crate) namespace: Option<String>,
    pub(crate) output: OutputFormat,
}

/// The verb, with the values of its flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verb {
    Status { revision: i64 },
    History { revision: i64 },
    Undo { to_revision: i64, dry_run: DryRun },
    Restart,
    Pause,
    Resume,
}

/// The form in which kubectl prints its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    Words,
    /// `-o name`.
    Name,
    /// `-o json` and `-o yaml` of a history.
    Objects(ObjectFormat),
}

/// Why a command has no answer.
#[derive(Debug)]
pub(crate) enum Unusable {
    /// kubectl writes this to standard error; its exit code is 1.
    Kubectl(String),
    /// kubectl's answer is not known here.
    Unanswered(String),
}

impl From<TargetError> for Unusable {
    fn from(error: TargetError) -> Self {
        match error {
            TargetError::Kubectl(text) => Unusable::Kubectl(format!("error: {text}\n")),
            TargetError::Unanswered(text) => Unusable::Unanswered(text),
        }
    }
}

const fn flag(name: &'static str, short: Option<char>, value: FlagNeeds) -> Flag {
    Flag { name, short, value }
}

const SWITCH: FlagNeeds = FlagNeeds::ValueOr("true");
/// Flags of every command. Most of them choose a server, and there is no server here.
const GLOBAL: &[Flag] = &[
    flag("namespace", Some('n'), FlagNeeds::Value),
    flag("kubeconfig", None, FlagNeeds::Value),
    flag("context", None, FlagNeeds::Value),
    flag("cluster", None, FlagNeeds::Value),
    flag("user", None, FlagNeeds::Value),
    flag("server", Some('s'), FlagNeeds::Value),
    flag("token", None, FlagNeeds::Value),
    flag("as", None, FlagNeeds::Value),
    flag("request-timeout", None, FlagNeeds::Value),
    flag("cache-dir", None, FlagNeeds::Value),
    flag("v", Some('v'), FlagNeeds::Value),
    flag("insecure-skip-tls-verify", None, SWITCH),
    flag("warnings-as-errors", None, SWITCH),
];
const PRINTED: &[Flag] = &[
    flag("output", Some('o'), FlagNeeds::Value),
    flag("show-managed-fields", None, SWITCH),
    flag("allow-missing-template-keys", None, SWITCH),
];
const STATUS: &[Flag] = &[
    flag("watch", Some('w'), SWITCH),
    flag("revision", None, FlagNeeds::Value),
    flag("timeout", None, FlagNeeds::Value),
];
const HISTORY: &[Flag] = &[flag("revision", None, FlagNeeds::Value)];
const UNDO: &[Flag] =
    &[flag("to-revision", None, FlagNeeds::Value), flag("dry-run", None, FlagNeeds::ValueOr("unchanged"))];
const CHANGE: &[Flag] = &[flag("field-manager", None, FlagNeeds::Value)];

impl KubectlCommand {
    /// Reads `kubectl rollout VERB TYPE/NAME --flags`, in any order.
    pub(crate) fn parse(command: &str) -> Result<KubectlCommand, Unusable> {
        let mut words = shlex::split(command).ok_or_else(|| {
            Unusable::Unanswered(format!("command: {command:?}: a quote or a backslash without its end"))
        })?;
        if words.first().is_some_and(|word| word == "kubectl" || word.ends_with("/kubectl")) {
            words.remove(0);
        }
        let (area, verb) = (subcommand(&mut words), subcommand(&mut words));
        let unanswered = || {
            let known = "status, history, undo, restart, pause and resume";
            Unusable::Unanswered(format!("command: {command:?}: kubectl rollout {known} are answered here"))
        };
        if area.as_deref() != Some("rollout") {
            return Err(unanswered());
        }
        let verb = verb.ok_or_else(unanswered)?;
        let own = own_flags(&verb).ok_or_else(unanswered)?;
        let known = move |name: &Name<'_>| find(name, own);
        let refused = |error: FlagError| {
            Unusable::Kubectl(format!("error: {error}\nSee 'kubectl rollout {verb} --help' for usage.\n"))
        };
        let (given, others) = flags::parse(words, known).map_err(refused)?;
        let read = ReadCommand::of(&given).map_err(refused)?;
        read.command(&verb, &others).ok_or_else(unanswered)?
    }
}

/// Takes the next word that is neither a flag nor a flag's value.
fn subcommand(words: &mut Vec<String>) -> Option<String> {
    let mut place = 0;
    loop {
        let word = words.get(place)?;
        if !word.starts_with('-') {
            return Some(words.remove(place));
        }
        let separate = ["-n", "-s", "-v"].contains(&word.as_str())
            || GLOBAL.iter().any(|flag| {
                flag.value == FlagNeeds::Value
                    && word.strip_prefix("--").is_some_and(|name| name == flag.name)
            });
        place += if separate { 2 } else { 1 };
    }
}

fn own_flags(verb: &str) -> Option<&'static [&'static [Flag]]> {
    match verb {
        "status" => Some(&[GLOBAL, STATUS]),
        "history" => Some(&[GLOBAL, PRINTED, HISTORY]),
        "undo" => Some(&[GLOBAL, PRINTED, UNDO]),
        "restart" | "pause" | "resume" => Some(&[GLOBAL, PRINTED, CHANGE]),
        _ => None,
    }
}

fn find(name: &Name<'_>, own: &'static [&'static [Flag]]) -> Option<&'static Flag> {
    own.iter().copied().flatten().find(|flag| match name {
        Name::Long(name) => flag.name == *name,
        Name::Short(letter) => flag.short == Some(*letter),
    })
}

/// The values of the flags; the last of several counts.
#[derive(Default)]
struct ReadCommand {
    namespace: Option<String>,
    revision: i64,
    to_revision: i64,
    dry_run: Option<String>,
    output: Option<String>,
}

impl ReadCommand {
    fn of(given: &[Given]) -> Result<ReadCommand, FlagError> {
        let mut read = ReadCommand::default();
        for given in given {
            match given.flag.name {
                "namespace" => read.namespace = Some(given.value.clone()),
                "revision" => read.revision = given.number()?,
                "to-revision" => read.to_revision = given.number()?,
                "dry-run" => read.dry_run = Some(given.value.clone()),
                "output" => read.output = Some(given.value.clone()),
                // Nothing is watched: the answer is about the present state.
                "watch" => drop(given.switch()?),
                _ => {}
            }
        }
        Ok(read)
    }

    /// In kubectl's order: first what the flags say, then whether a resource is named, then which.
    fn command(self, verb: &str, words: &[String]) -> Option<Result<KubectlCommand, Unusable>> {
        let verb = match verb {
            "status" => Verb::Status { revision: self.revision },
            "history" => Verb::History { revision: self.revision },
            "undo" => match dry_run(self.dry_run.as_deref()) {
                Ok(dry_run) => Verb::Undo { to_revision: self.to_revision, dry_run },
                Err(unusable) => return Some(Err(unusable)),
            },
            "restart" => Verb::Restart,
            "pause" => Verb::Pause,
            "resume" => Verb::Resume,
            _ => return None,
        };
        let is_history = matches!(verb, Verb::History { .. });
        let output = match self.output.as_deref() {
            None | Some("") => OutputFormat::Words,
            Some("name") => OutputFormat::Name,
            Some("json") if is_history => OutputFormat::Objects(ObjectFormat::Json),
            Some("yaml") if is_history => OutputFormat::Objects(ObjectFormat::Yaml),
            Some(other) => {
                let known = if is_history { "-o name, json and yaml are" } else { "only -o name is" };
                let text = format!("command: -o {other}: {known} answered here");
                return Some(Err(Unusable::Unanswered(text)));
            }
        };
        let namespace = self.namespace;
        Some(
            target(words)
                .map(|target| KubectlCommand { verb, target, namespace, output })
                .map_err(Unusable::from),
        )
    }
}

/// v1.36 kubectl cmd/util/helpers.go `GetDryRunStrategy`.
fn dry_run(value: Option<&str>) -> Result<DryRun, Unusable> {
    match value {
        None | Some("none") => Ok(DryRun::None),
        Some("client" | "unchanged") => Ok(DryRun::Client),
        Some("server") => Ok(DryRun::Server),
        Some(other) => Err(Unusable::Kubectl(format!(
            "error: Invalid dry-run value ({other}). Must be \"none\", \"server\", or \"client\".\n"
        ))),
    }
}
