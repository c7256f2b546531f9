//! The command lines that name a manifest.

use crate::cluster::{ClusterArgs, Files, MIDROLLOUT, Source, Wanted, is_file, read_documents};
use crate::manifest::requests::{PatchFormat, Subresource};
use crate::shell::console::{Format, Stop};
use clap::Args;
use daemonset_apiserver::admission::FieldValidation;
use daemonset_view::policy::PolicyChoice;
use kubectl_daemonset::kubectl::ManifestError;
use std::path::PathBuf;

/// A manifest that changes the DaemonSet of the built-in example.
const EXAMPLE: &str = include_str!("example.yaml");

/// A manifest in YAML or JSON.
#[derive(Args, Clone)]
pub(crate) struct ManifestArgs {
    /// The manifest, in YAML or JSON; `-` is stdin. Default: one that is built in
    #[arg(long, value_name = "FILE", conflicts_with = "word")]
    manifest: Option<PathBuf>,
    /// The cluster, as for plan, or the manifest: the content tells
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    file: Option<PathBuf>,
    #[arg(hide = true, value_name = "MANIFEST")]
    word: Option<PathBuf>,
}

/// Lints the DaemonSet of a manifest, or one that is stored.
#[derive(Args)]
pub(crate) struct LintArgs {
    /// The stored DaemonSet: NAME, NAMESPACE/NAME or ds/NAME. Or a FILE with the cluster
    #[arg(value_name = "NAME|FILE")]
    target: Option<String>,
    /// The manifest to look at, in YAML or JSON; `-` is stdin. Default: the stored DaemonSet
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// The cluster, as for plan, or the manifest: the content tells
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    file: Option<PathBuf>,
    /// A rollout policy to look at, in YAML or JSON: the content of the annotation rollout.daemonset/policy. Default: the
    /// DaemonSet's own annotations
    #[arg(long, value_name = "FILE", value_parser = crate::simulate::policy_file)]
    pub(crate) policy: Option<PolicyChoice>,
    #[command(flatten)]
    stored: StoredArgs,
}

/// `create`.
#[derive(Args)]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    manifest: ManifestArgs,
    /// Fields that the API does not have: refuse them, warn, or ignore them
    #[arg(long, value_enum, default_value_t)]
    pub(crate) validate: Validate,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// `would-restart`.
#[derive(Args)]
pub(crate) struct ChangeArgs {
    #[command(flatten)]
    manifest: ManifestArgs,
    #[command(flatten)]
    stored: StoredArgs,
}

/// `update`.
#[derive(Args)]
pub(crate) struct UpdateArgs {
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
    /// Fields that the API does not have: refuse them, warn, or ignore them. A patch warns
    #[arg(long, value_enum, default_value_t, conflicts_with = "patch")]
    pub(crate) validate: Validate,
    /// The patch instead of a manifest, as JSON or YAML
    #[arg(long, value_name = "PATCH", conflicts_with_all = ["manifest", "word"])]
    pub(crate) patch: Option<String>,
    /// The kind of patch
    #[arg(long, value_enum, default_value_t, requires = "patch")]
    pub(crate) r#type: PatchFormat,
    /// `status` to change the status
    #[arg(long, value_enum, default_value_t, requires = "patch")]
    pub(crate) subresource: Subresource,
}

/// `--validate`, as kubectl has it.
#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub(crate) enum Validate {
    #[default]
    #[value(alias = "true")]
    Strict,
    Warn,
    #[value(alias = "false")]
    Ignore,
}

impl Validate {
    pub(crate) fn field_validation(self) -> FieldValidation {
        match self {
            Validate::Strict => FieldValidation::Strict,
            Validate::Warn => FieldValidation::Warn,
            Validate::Ignore => FieldValidation::Ignore,
        }
    }
}

/// The stored DaemonSet, and its cluster.
#[derive(Args, Clone)]
pub(crate) struct StoredArgs {
    /// A List, as `kubectl get daemonsets,pods,nodes,controllerrevisions -A -o json` (or yaml) prints it, or a Recording;
    /// `-` is stdin. Default: the cluster that kubectl reads
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Which stored DaemonSet. Default: the one that the manifest names
    #[arg(long, value_name = "NAMESPACE/NAME")]
    daemonset: Option<String>,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

/// Text and its name in messages.
pub(crate) struct ManifestFile {
    pub(crate) title: String,
    /// kubectl's name of the file; `None` for the one that is built in.
    pub(crate) source: Option<String>,
    pub(crate) documents: Vec<serde_json::Value>,
}

impl ManifestArgs {
    /// The manifest's file, and that of the cluster.
    fn files(&self, cluster: Option<PathBuf>) -> Result<Files, Stop> {
        let subject = self.manifest.clone().or_else(|| self.word.clone());
        Files { subject, cluster }.sorted(self.file.as_ref(), "--manifest")
    }
}

/// Why a manifest is not read.
pub(crate) struct Unread {
    own: Stop,
    /// kubectl's refusal, where it has one.
    pub(crate) kubectl: Option<String>,
}

impl Unread {
    /// In this program's words.
    pub(crate) fn own(self) -> Stop {
        self.own
    }
}

/// Reads a manifest; without a file, the example.
fn read(file: Option<PathBuf>) -> Result<ManifestFile, Unread> {
    let named = file.map(Source::named);
    let title = named.as_ref().map_or_else(|| "the built-in manifest".to_owned(), Source::to_string);
    let source = named.as_ref().map(|named| match named {
        Source::Stdin => "STDIN".to_owned(),
        named => named.to_string(),
    });
    let unread = |message: String, kubectl: Option<ManifestError>| Unread {
        own: Stop::Input(format!("{title}: {message}")),
        kubectl: kubectl.map(|error| error.to_string()),
    };
    let absent = || match &named {
        Some(Source::File(path)) if !path.exists() => source.clone().map(ManifestError::NoSuchFile),
        _ => None,
    };
    let bytes = named.as_ref().map_or(Ok(EXAMPLE.as_bytes().into()), Source::bytes);
    let bytes = bytes.map_err(|message| unread(message, absent()))?;
    match read_documents(&bytes) {
        Ok(documents) => Ok(ManifestFile { title, source, documents }),
        Err(message) => {
            let is_json = bytes.trim_ascii_start().starts_with(b"{");
            let parser = if is_json { "json" } else { "error converting YAML to JSON: yaml" };
            let syntax = |source| ManifestError::syntax(source, &format!("{parser}: {message}"));
            let kubectl = source.as_deref().map(syntax);
            Err(unread(message, kubectl))
        }
    }
}

impl CreateArgs {
    pub(crate) fn manifest(&self) -> Result<ManifestFile, Unread> {
        // There is no cluster: whatever the file holds shall be the manifest.
        let ManifestArgs { manifest, file, word } = &self.manifest;
        read(manifest.clone().or_else(|| word.clone()).or_else(|| file.clone()))
    }
}

impl ChangeArgs {
    pub(crate) fn output(&self) -> Format {
        self.stored.output
    }

    pub(crate) fn manifest(&self) -> Result<ManifestFile, Unread> {
        let unread = |own| Unread { own, kubectl: None };
        let Files { subject: file, cluster } =
            self.manifest.files(self.stored.from.clone()).map_err(unread)?;
        // The built-in manifest is for the built-in cluster.
        if file.is_none() && (cluster.is_some() || self.stored.cluster.chooses_kubectl()) {
            return Err(unread(Stop::Input("--manifest: name the manifest".to_owned())));
        }
        read(file)
    }

    /// The DaemonSet that the command line names, or the manifest; without either the only one.
    pub(crate) fn stored(&self, named: Option<Wanted>) -> Result<(Source, Option<Wanted>), Stop> {
        let Files { subject, cluster } = self.manifest.files(self.stored.from.clone())?;
        self.stored.resolve(named, cluster, subject.is_some())
    }

    /// The same for a patch, which names no DaemonSet.
    pub(crate) fn patched(&self) -> Result<(Source, Option<Wanted>), Stop> {
        match self.manifest.files(self.stored.from.clone())? {
            Files { subject: None, cluster } => self.stored.resolve(None, cluster, true),
            Files { .. } => Err(Stop::Input("--patch: can't be used with a manifest".to_owned())),
        }
    }
}

impl StoredArgs {
    /// An example manifest is compared with the example cluster.
    fn resolve(
        &self,
        named: Option<Wanted>,
        from: Option<PathBuf>,
        may_ask: bool,
    ) -> Result<(Source, Option<Wanted>), Stop> {
        let flag = self.daemonset.as_deref().map(Wanted::parse).transpose().map_err(Stop::Input)?;
        let wanted = flag.or(named);
        if may_ask || from.is_some() || self.cluster.chooses() {
            let target = self.cluster.source(from, wanted, MIDROLLOUT)?;
            return Ok((target.source, target.wanted));
        }
        let instead_of = Some("no --manifest names one".to_owned());
        Ok((Source::Example { example: MIDROLLOUT, instead_of }, wanted))
    }
}

impl LintArgs {
    pub(crate) fn output(&self) -> Format {
        self.stored.output
    }

    /// `None` where a stored DaemonSet is looked at.
    pub(crate) fn manifest(&self) -> Result<Option<ManifestFile>, Stop> {
        let file = self.files()?.subject;
        file.map(|file| read(Some(file)).map_err(Unread::own)).transpose()
    }

    fn files(&self) -> Result<Files, Stop> {
        let files = Files { subject: self.manifest.clone(), cluster: self.stored.from.clone() };
        files.sorted(self.file.as_ref(), "--manifest")
    }

    /// `are_wide`: the manifests are of several namespaces.
    pub(crate) fn stored(
        &self,
        named: Option<Wanted>,
        are_wide: bool,
    ) -> Result<(Source, Option<Wanted>), Stop> {
        let (mut stored, mut from) = (self.stored.clone(), self.files()?.cluster);
        if are_wide {
            stored.cluster = stored.cluster.of_all_namespaces();
        }
        match &self.target {
            Some(file) if is_file(file) && from.is_none() => from = Some(file.into()),
            Some(name) if !is_file(name) && stored.daemonset.is_none() => {
                stored.daemonset = Some(name.clone());
            }
            Some(word) => return Err(Stop::Input(format!("{word}: named twice"))),
            None => {}
        }
        stored.resolve(named, from, true)
    }
}
