//! Where a command reads its cluster from, as the command line says it.

use crate::cluster::connection::ConnectionArgs;
use crate::cluster::kubectl::{ConnectError, Kubectl, Scope};
use crate::cluster::{Example, Objects, Source, Wanted};
use crate::shell::console::Stop;
use clap::Args;
use std::path::{Path, PathBuf};

/// The cluster that kubectl reads, or the example.
#[derive(Args, Clone, Default)]
pub(crate) struct ClusterArgs {
    /// Use the example that is built in
    #[arg(long, help_heading = "Cluster")]
    example: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
    /// The namespace, as for kubectl
    #[arg(short, long, value_name = "NAMESPACE", help_heading = "Cluster")]
    namespace: Option<String>,
    /// All namespaces, as for kubectl
    #[arg(short = 'A', long, conflicts_with = "namespace", help_heading = "Cluster")]
    all_namespaces: bool,
    /// Only DaemonSets with these labels, as for kubectl
    #[arg(short = 'l', long, value_name = "SELECTOR", help_heading = "Cluster")]
    selector: Option<String>,
    /// Where no flag names a namespace.
    #[arg(skip)]
    reads_all_namespaces: bool,
}

impl ClusterArgs {
    /// The first flag that chooses some DaemonSets of a cluster.
    fn choosing_flag(&self) -> Option<&'static str> {
        first([
            ("--namespace", self.namespace.is_some()),
            ("--all-namespaces", self.all_namespaces),
            ("--selector", self.selector.is_some()),
        ])
    }

    /// The first flag by which the built-in example does not stand in for a cluster.
    fn kubectl_flag(&self) -> Option<&'static str> {
        self.connection.first_flag().or(self.choosing_flag())
    }

    /// The first flag that leaves out namespaces or DaemonSets.
    pub(crate) fn narrowing_flag(&self) -> Option<&'static str> {
        first([("--namespace", self.namespace.is_some()), ("--selector", self.selector.is_some())])
    }

    /// The same, with all namespaces where no flag names one.
    pub(crate) fn of_all_namespaces(self) -> Self {
        ClusterArgs { reads_all_namespaces: true, ..self }
    }

    /// Whether the command line asks for a cluster or the example, and not merely for whatever is there.
    pub(crate) fn chooses(&self) -> bool {
        self.example || self.kubectl_flag().is_some()
    }

    /// Whether the command line asks for a cluster that kubectl reads.
    pub(crate) fn chooses_kubectl(&self) -> bool {
        self.kubectl_flag().is_some()
    }

    /// The flags by which another kubectl finds the same cluster, each after a space.
    pub(crate) fn connection(&self) -> String {
        self.connection.text()
    }

    /// Whether more than one namespace is looked at, or some DaemonSets of many.
    pub(crate) fn chooses_several(&self) -> bool {
        self.all_namespaces || self.selector.is_some()
    }

    /// A file comes first, then kubectl, then the example. Only where no flag asks for a cluster, the example also
    /// replaces a kubectl or a current context that is not there.
    ///
    /// kubectl chooses by namespace and labels itself; elsewhere they are a part of the wanted DaemonSets.
    pub(crate) fn source(
        &self,
        file: Option<PathBuf>,
        wanted: Option<Wanted>,
        example: Example,
    ) -> Result<Target, Stop> {
        let (flag, connection) = (self.kubectl_flag(), self.connection.first_flag());
        let source = match (file, connection, self.example) {
            (Some(_), Some(flag), _) => Err(Stop::Input(format!("{flag}: has no effect on a file"))),
            (Some(_), None, true) => Err(Stop::Input("--example: can't be used with a file".to_owned())),
            (None, Some(flag), true) => Err(Stop::Input(format!("{flag}: has no effect on --example"))),
            (Some(file), None, false) => Ok(Source::named(file)),
            (None, None, true) => Ok(Source::Example { example, instead_of: None }),
            (None, _, false) => match self.connect(wanted.as_ref())? {
                Ok(kubectl) => return Ok(Target { source: Source::Kubectl(Box::new(kubectl)), wanted }),
                Err(missing) if flag.is_none() => Ok(Source::Example { example, instead_of: Some(missing) }),
                Err(missing) => Err(Stop::Input(missing)),
            },
        }?;
        Ok(Target { source, wanted: self.choose(wanted).map_err(Stop::Input)? })
    }

    /// The DaemonSets of these objects that the flags choose, too.
    fn choose(&self, wanted: Option<Wanted>) -> Result<Option<Wanted>, String> {
        let wanted = wanted.unwrap_or_default().in_namespace(self.namespace.as_deref())?;
        Ok(wanted.labelled(self.selector.as_deref())?.chosen())
    }

    /// The inner error says which of kubectl and its current context is missing.
    fn connect(&self, wanted: Option<&Wanted>) -> Result<Result<Kubectl, String>, Stop> {
        let wanted = wanted.cloned().unwrap_or_default();
        let namespace = wanted.in_namespace(self.namespace.as_deref()).map_err(Stop::Input)?.namespace;
        let scope = match namespace {
            Some(namespace) => Scope::Namespace(namespace),
            None if self.all_namespaces || self.reads_all_namespaces => Scope::All,
            None => Scope::Current,
        };
        match Kubectl::connect(self.connection.clone(), scope, self.selector.clone()) {
            Ok(kubectl) => Ok(Ok(kubectl)),
            Err(ConnectError::Missing(what)) => Ok(Err(what)),
            Err(ConnectError::Broken(message)) => Err(Stop::Input(message)),
        }
    }
}

/// The subject of most commands: a DaemonSet, and where it is.
#[derive(Args, Clone, Default)]
pub(crate) struct TargetArgs {
    /// A DaemonSet: NAME, NAMESPACE/NAME or ds/NAME. Or a FILE, where it is `-`, exists, or ends in .json, .jsonl, .yaml
    /// or .yml
    #[arg(value_name = "NAME|FILE")]
    target: Option<String>,
    /// A List, as `kubectl get daemonsets,pods,nodes,controllerrevisions -A -o json` (or yaml) prints it, or a Recording;
    /// `-` is stdin
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    file: Option<PathBuf>,
    /// Which DaemonSet, where there are several
    #[arg(long, value_name = "NAMESPACE/NAME")]
    pub(crate) daemonset: Option<String>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

/// A DaemonSet, and where it is.
pub(crate) struct Target {
    pub(crate) source: Source,
    /// `None` for all that there are.
    pub(crate) wanted: Option<Wanted>,
}

impl TargetArgs {
    /// From the words of a command whose `-f` is something else.
    pub(crate) fn new(
        target: Option<String>,
        file: Option<PathBuf>,
        daemonset: Option<String>,
        cluster: ClusterArgs,
    ) -> Self {
        TargetArgs { target, file, daemonset, cluster }
    }

    /// The same with its first word, which stood elsewhere.
    pub(crate) fn named(&self, word: &str, refusal: &str) -> Result<Self, Stop> {
        let target = one_of(Some(word.to_owned()), self.target.clone(), refusal)?;
        Ok(TargetArgs { target, ..self.clone() })
    }

    /// Asks kubectl for its current context at most.
    pub(crate) fn resolve(&self, example: Example) -> Result<Target, Stop> {
        let (wanted, file) = self.words()?;
        self.cluster.source(file, wanted, example)
    }

    /// The same where no cluster is to be asked.
    pub(crate) fn resolve_in_example(&self, example: Example) -> Result<Target, Stop> {
        let (wanted, file) = self.words()?;
        let source = file.map_or(Source::Example { example, instead_of: None }, Source::named);
        Ok(Target { source, wanted })
    }

    fn words(&self) -> Result<(Option<Wanted>, Option<PathBuf>), Stop> {
        let (name, file) = match &self.target {
            Some(target) if is_file(target) => (None, Some(PathBuf::from(target))),
            name => (name.as_deref(), None),
        };
        let file = one_of(file, self.file.clone(), "--filename: the file is named already")?;
        let name = one_of(name, self.daemonset.as_deref(), "--daemonset: the DaemonSet is named already")?;
        let wanted = name.map(Wanted::parse).transpose().map_err(Stop::Input)?;
        Ok((wanted, file))
    }

    /// Whether the command line names a DaemonSet.
    pub(crate) fn names_daemon_set(&self) -> bool {
        self.daemonset.is_some() || self.target.as_deref().is_some_and(|target| !is_file(target))
    }

    /// Whether the command line names no file, no cluster and no example.
    pub(crate) fn is_open(&self) -> bool {
        self.file.is_none() && !self.target.as_deref().is_some_and(is_file) && !self.cluster.chooses()
    }
}

/// The files of a command about something beside a cluster: a manifest, a node, a policy.
pub(crate) struct Files {
    pub(crate) subject: Option<PathBuf>,
    pub(crate) cluster: Option<PathBuf>,
}

impl Files {
    /// `-f` is the file with the cluster, as for every command. The subject may stand there, too: its content tells.
    ///
    /// stdin can be read once only: it is the subject.
    pub(crate) fn sorted(self, file: Option<&PathBuf>, flag: &str) -> Result<Self, Stop> {
        let Files { subject, cluster } = self;
        match file {
            None => Ok(Files { subject, cluster }),
            Some(file) if holds_cluster(file) => {
                let both = "--from: the file with the cluster is named already";
                Ok(Files { subject, cluster: one_of(Some(file.clone()), cluster, both)? })
            }
            Some(file) => {
                let both = format!("--filename: {flag} names the file already");
                Ok(Files { subject: one_of(Some(file.clone()), subject, &both)?, cluster })
            }
        }
    }
}

/// Whether it is a Recording, or has a DaemonSet and nodes.
fn holds_cluster(file: &Path) -> bool {
    let source = Source::named(file.to_owned());
    let bytes = if let Source::Stdin = source { None } else { source.bytes().ok() };
    bytes.and_then(|bytes| Objects::read(&bytes).ok()).is_some_and(|objects| objects.is_cluster())
}

fn first<const N: usize>(flags: [(&'static str, bool); N]) -> Option<&'static str> {
    flags.into_iter().find_map(|(flag, given)| given.then_some(flag))
}

fn one_of<T>(one: Option<T>, other: Option<T>, both: &str) -> Result<Option<T>, Stop> {
    match (one, other) {
        (Some(_), Some(_)) => Err(Stop::Input(both.to_owned())),
        (one, other) => Ok(one.or(other)),
    }
}

/// A word is a file's name where such a file is there, or where it looks like one.
pub(crate) fn is_file(word: &str) -> bool {
    let path = Path::new(word);
    let ending = path.extension().and_then(|ending| ending.to_str());
    word == "-"
        // A DaemonSet's name may end as a file's does.
        || (matches!(ending, Some("json" | "jsonl" | "yaml" | "yml")) && !Wanted::has_kind(word))
        || (path.exists() && !path.is_dir())
        // A directory is no file either, and its name may be that of a DaemonSet.
        || word.starts_with(['.', '/']) || word.ends_with('/')
}
