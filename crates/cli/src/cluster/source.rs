//! The sources of a command: kubectl, a file, stdin, or the built-in example.

use crate::cluster::{Choice, Input, InputForm, Kubectl, Models, Needs, Objects, Read, Wanted};
use crate::shell::console::{Format, Stop, system_clock};
use daemonset::Plan;
use daemonset_view::case::View;
use daemonset_view::plan::Planned;
use jiff::Timestamp;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::PathBuf;

/// How a file that gzip made begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Where the bytes come from.
pub(crate) enum Source {
    /// Compiled into the program.
    Example {
        example: Example,
        /// Why kubectl could not be used, where nobody asked for the example.
        instead_of: Option<String>,
    },
    Stdin,
    File(PathBuf),
    Kubectl(Box<Kubectl>),
}

impl Source {
    /// `-` is stdin.
    pub(crate) fn named(file: PathBuf) -> Self {
        if file.as_os_str() == "-" { Source::Stdin } else { Source::File(file) }
    }

    /// The example, because somebody asked for it.
    pub(crate) fn example(example: Example) -> Self {
        Source::Example { example, instead_of: None }
    }

    /// Everything at once; for kubectl, all that a plan needs.
    pub(crate) fn bytes(&self) -> Result<Cow<'static, [u8]>, String> {
        match self {
            Source::Example { example, .. } => Ok(Cow::Borrowed(example.json.as_bytes())),
            Source::Kubectl(kubectl) => kubectl.get(Needs::Plan).map(|list| Cow::Owned(list.concat())),
            Source::Stdin | Source::File(_) => {
                let mut bytes = Vec::new();
                let read = self.open().and_then(|mut file| file.read_to_end(&mut bytes));
                read.map_err(|error| self.unreadable(&error))?;
                match bytes.starts_with(&GZIP) {
                    false => Ok(Cow::Owned(bytes)),
                    true => Err(format!("is compressed: gunzip -c {self} prints its text, which `-` reads")),
                }
            }
        }
    }

    /// All that a plan needs, as it was read: several texts where kubectl is asked several times.
    pub(crate) fn texts(&self) -> Result<Vec<Vec<u8>>, String> {
        let Source::Kubectl(kubectl) = self else { return Ok(vec![self.bytes()?.into_owned()]) };
        let mut texts = kubectl.get(Needs::Plan)?;
        let mut needed = BTreeSet::new();
        for text in &texts {
            needed.append(&mut Objects::read(text)?.namespaces_that_need_powers());
        }
        texts.extend(if needed.is_empty() { None } else { kubectl.list_namespaces(&needed)? });
        Ok(texts)
    }

    /// The namespace into which kubectl puts an object without one; `None` where that is unknown.
    pub(crate) fn namespace(&self) -> Option<String> {
        match self {
            Source::Kubectl(kubectl) => kubectl.namespace(),
            Source::Example { .. } | Source::Stdin | Source::File(_) => None,
        }
    }

    /// Opens a file or stdin to be read piece by piece.
    pub(crate) fn open(&self) -> io::Result<Box<dyn io::Read>> {
        Ok(match self {
            Source::Stdin => Box::new(io::stdin().lock()),
            Source::File(path) => Box::new(File::open(path)?),
            Source::Example { .. } | Source::Kubectl(_) => {
                Box::new(io::Cursor::new(self.bytes().map_err(io::Error::other)?))
            }
        })
    }

    fn unreadable(&self, error: &io::Error) -> String {
        match error.kind() {
            io::ErrorKind::IsADirectory => "is a directory: name a file in it".to_owned(),
            _ => error.to_string(),
        }
    }

    /// The objects of a List, a Recording or YAML documents.
    pub(crate) fn objects(&self, needs: Needs) -> Result<Objects, Stop> {
        let read = match self {
            Source::Kubectl(kubectl) => kubectl.objects(needs),
            Source::Example { .. } | Source::Stdin | Source::File(_) => {
                self.bytes().and_then(|bytes| Objects::read(&bytes))
            }
        };
        let mut objects = read.map_err(|message| self.stop(message))?;
        let needed = objects.namespaces_that_need_powers();
        self.learn_powers(&mut objects, needed).map_err(|message| self.stop(message))?;
        Ok(objects)
    }

    /// Reads these namespaces for the powers of their DaemonSets, where there is a cluster and one may read them.
    pub(crate) fn learn_powers(
        &self,
        objects: &mut Objects,
        mut namespaces: BTreeSet<String>,
    ) -> Result<(), String> {
        let Source::Kubectl(kubectl) = self else { return Ok(()) };
        namespaces.retain(|name| !objects.knows_powers_of(name));
        if namespaces.is_empty() {
            return Ok(());
        }
        if let Some(read) = kubectl.namespaces(&namespaces)? {
            objects.learn_powers(read);
        }
        Ok(())
    }

    /// Reads the events of DaemonSets whose plans act, and of pods whose cause they may tell, where there is a cluster and one may read them. Of
    /// pods that can't be created, since their namespace is being deleted, that namespace alone tells.
    pub(crate) fn learn_events(&self, models: &mut Models, planned: &[Planned], now: Timestamp) {
        let Source::Kubectl(kubectl) = self else { return };
        let acts = planned.iter().any(|planned| planned.plan.as_ref().is_ok_and(Plan::acts));
        if let Some(read) = if acts { kubectl.warnings() } else { None } {
            models.events.append(read.into_events());
        }
        let view = View { models, now, plugin: "", connection: "" };
        let open: BTreeSet<String> = planned
            .iter()
            .filter_map(|planned| {
                Some(view.case(planned, planned.plan.as_ref().ok()?).pods_with_open_causes())
            })
            .flatten()
            .collect();
        let only = open.first().filter(|_| open.len() == 1);
        let of_pods = if open.is_empty() { None } else { kubectl.pod_warnings(only.map(String::as_str)) };
        let may_end = planned.iter().filter(|planned| {
            planned.plan.as_ref().is_ok_and(|plan| view.case(planned, plan).may_lack_its_namespace())
        });
        let names: BTreeSet<String> =
            may_end.map(|planned| planned.daemon_set.metadata.namespace.clone()).collect();
        let read = if names.is_empty() { None } else { kubectl.namespaces(&names).ok().flatten() };
        if let Some(of_pods) = of_pods {
            models.events.append(of_pods.into_events());
        }
        if let Some(read) = read {
            models.ending_namespaces.append(&mut read.into_ending_namespaces());
        }
    }

    /// One decision to make.
    pub(crate) fn input(&self, choice: &Choice) -> Result<Input, Stop> {
        match self.read(choice)? {
            Read::Recording(input) => Ok(*input),
            Read::Objects(objects) => self.input_of(*objects, choice),
        }
    }

    /// A Recording, which is one decision, or the objects of a cluster.
    pub(crate) fn read(&self, choice: &Choice) -> Result<Read, Stop> {
        let read = match self {
            Source::Kubectl(_) => return self.objects(Needs::Plan).map(Box::new).map(Read::Objects),
            Source::Example { .. } | Source::Stdin | Source::File(_) => self.bytes().and_then(|bytes| {
                let form = InputForm::of(&bytes)?;
                Read::parse(&bytes, form, choice)
            }),
        };
        read.map_err(|message| self.stop(message))
    }

    /// kubectl is asked for each kind of object; a file may lack one that a plan needs.
    pub(crate) fn check(&self, objects: &Objects, wanted: Option<&Wanted>) -> Result<(), Stop> {
        match self {
            Source::Kubectl(_) => Ok(()),
            Source::Example { .. } | Source::Stdin | Source::File(_) => {
                objects.lacks_no_kind(wanted).map_err(|message| self.stop(message))
            }
        }
    }

    /// One decision to make about objects that were read already.
    pub(crate) fn input_of(&self, objects: Objects, choice: &Choice) -> Result<Input, Stop> {
        let input = match self {
            Source::Kubectl(_) => Input::from_cluster(objects, choice, system_clock),
            Source::Example { .. } | Source::Stdin | Source::File(_) => Input::from_list(objects, choice),
        };
        input.map_err(|message| self.stop(message))
    }

    /// The nodes, the DaemonSets, and the pods of all nodes or of this one.
    pub(crate) fn objects_on(&self, node: &str) -> Result<Objects, Stop> {
        match self {
            Source::Kubectl(kubectl) => kubectl.objects_on(node).map_err(|message| self.stop(message)),
            Source::Example { .. } | Source::Stdin | Source::File(_) => self.objects(Needs::Plan),
        }
    }

    /// When to look at the cluster: as the command line says, now for one that is there, and else at the newest time in it.
    pub(crate) fn instant(&self, given: Option<Timestamp>, objects: &Objects) -> Result<Timestamp, Stop> {
        objects.is_over_by(given).map_err(|message| self.stop(message))?;
        match (given, self, objects.now()) {
            (Some(now), _, _) => Ok(now),
            (None, Source::Kubectl(_), _) => Ok(system_clock()),
            (None, _, Some(newest)) => Ok(newest),
            (None, _, None) => Err(self.stop("nothing in it tells the time: pass --now")),
        }
    }

    /// A line about the instant of a file that tells it itself, which may be older than the file.
    pub(crate) fn as_of(&self, given: Option<Timestamp>, objects: &Objects) -> String {
        match (given, self, objects.now()) {
            (None, Source::File(_) | Source::Stdin, Some(newest)) if !objects.is_recorded() => {
                format!("As of      {newest}, the newest time in {self}; --now tells another one\n")
            }
            _ => String::new(),
        }
    }

    /// The flags by which another command of this program reads the same, each after a space. Those of kubectl itself are not
    /// among them.
    pub(crate) fn flags(&self) -> String {
        match self {
            Source::Example { .. } => " --example".to_owned(),
            Source::Stdin => " -f -".to_owned(),
            Source::File(path) => {
                let path = path.to_string_lossy();
                let quoted = shlex::try_quote(&path).map_or_else(|_| path.to_string(), Into::into);
                format!(" -f {quoted}")
            }
            Source::Kubectl(kubectl) => kubectl.flags(),
        }
    }

    /// The flags by which another command of this program looks at the same namespaces, each after a space.
    pub(crate) fn scope(&self) -> String {
        match self {
            Source::Kubectl(kubectl) => kubectl.scope_flags(),
            Source::Example { .. } | Source::Stdin | Source::File(_) => String::new(),
        }
    }

    /// The flags by which kubectl finds the same cluster, each after a space.
    pub(crate) fn connection(&self) -> String {
        match self {
            Source::Kubectl(kubectl) => kubectl.flags(),
            Source::Example { .. } | Source::Stdin | Source::File(_) => String::new(),
        }
    }

    /// Bad input, with where it comes from.
    pub(crate) fn stop(&self, message: impl fmt::Display) -> Stop {
        Stop::Input(match self {
            Source::Example { instead_of: Some(missing), .. } => format!("{self} ({missing}): {message}"),
            _ => format!("{self}: {message}"),
        })
    }

    /// Says that the answer is about the example where nobody asked for it: as the first line of a text; beside JSON on
    /// stderr.
    pub(crate) fn announce(&self, format: Format) -> io::Result<()> {
        use std::io::Write;
        let Source::Example { instead_of: Some(missing), .. } = self else { return Ok(()) };
        let note = format!(
            "Example    {missing}, so this is a cluster that is built in; --help says how to read yours"
        );
        match format {
            Format::Text => writeln!(io::stdout(), "{note}"),
            Format::Json => writeln!(io::stderr(), "{note}"),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Example { example, .. } => f.write_str(example.title),
            Source::Stdin => f.write_str("stdin"),
            Source::File(path) => path.display().fmt(f),
            Source::Kubectl(kubectl) => kubectl.fmt(f),
        }
    }
}

/// A cluster for a first look.
#[derive(Clone, Copy)]
pub(crate) struct Example {
    /// The List.
    pub(crate) json: &'static str,
    /// How messages call it.
    pub(crate) title: &'static str,
}

/// In the middle of an update.
pub(crate) const MIDROLLOUT: Example =
    Example { json: include_str!("midrollout.json"), title: "the built-in example" };

/// At rest, with several DaemonSets.
pub(crate) const STEADY: Example =
    Example { json: include_str!("steady.json"), title: "the built-in cluster" };
