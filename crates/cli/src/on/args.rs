//! The node that the command line names, and the DaemonSets of the cluster.

use crate::cluster::{ClusterArgs, Files, Models, Needs, STEADY, Source, Target, is_file, read_documents};
use crate::shell::console::{Format, Stop};
use daemonset::model::{DaemonSet, Node, Taint};
use daemonset_placement::{LabelKnowledge, NodeShape, OtherLabels};
use serde_json::Value;
use std::path::PathBuf;

/// Asks about one node.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A node of the cluster. Or a FILE, as for --node
    #[arg(value_name = "NODE|FILE")]
    word: Option<String>,
    /// A node that does not exist yet, in YAML or JSON: a manifest of kind Node, whose labels are complete, or a node shape
    /// (name, labels, uncertainLabels, otherLabels, taints, startupTaints, possibleTaints); `-` is stdin
    #[arg(long, value_name = "FILE", conflicts_with = "word")]
    node: Option<PathBuf>,
    /// The cluster, as for plan, or the node of --node: the content tells
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    file: Option<PathBuf>,
    /// Ask about a new node like this one: with another name, and without the taints of its conditions
    #[arg(long)]
    new: bool,
    /// A label whose value is not known yet; may be repeated
    #[arg(long, value_name = "KEY")]
    unknown_label: Vec<String>,
    /// The node may have more labels than are known
    #[arg(long)]
    more_labels: bool,
    /// A taint that the node has at first and that goes away; may be repeated
    #[arg(long, value_name = "KEY[=VALUE]:EFFECT", value_parser = taint)]
    startup_taint: Vec<Taint>,
    /// A List, as `kubectl get daemonsets,nodes -A -o json` (or yaml) prints it, or a Recording; `-` is stdin. Default: the
    /// cluster that kubectl reads, with all its namespaces
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// A node, and the DaemonSets to ask about.
pub(crate) struct NodeQuestion {
    pub(crate) source: Source,
    /// How the answer calls the node: `node-1`, `a new node like node-1`.
    pub(crate) title: String,
    pub(crate) shape: NodeShape,
    /// By namespace and name.
    pub(crate) daemon_sets: Vec<DaemonSet>,
}

impl Args {
    /// Reads the cluster and the file.
    pub(crate) fn question(&self) -> Result<NodeQuestion, Stop> {
        let cluster = self.cluster.clone().of_all_namespaces();
        let files = Files { subject: self.node.clone(), cluster: self.from.clone() };
        let Files { subject, cluster: from } = files.sorted(self.file.as_ref(), "--node")?;
        let (name, file) = match (&self.word, subject) {
            (None, None) => return Err(Stop::Input("name a node, or a file with --node".to_owned())),
            (Some(_), Some(_)) => {
                return Err(Stop::Input("--filename: the node is named already".to_owned()));
            }
            (Some(word), None) if is_file(word) => (None, Some(PathBuf::from(word))),
            (name, file) => (name.as_deref(), file),
        };
        let Target { source, wanted } = cluster.source(from, None, STEADY)?;
        // The file first: nothing is asked of a cluster for a file that can't be read.
        let of_file = file.map(|file| self.read(file)).transpose()?;
        let objects = source.objects(Needs::Nodes)?;
        let Models { mut daemon_sets, nodes, .. } =
            objects.models().map_err(|message| source.stop(message))?;
        daemon_sets.retain(|ds| wanted.as_ref().is_none_or(|wanted| wanted.is(ds)));
        daemon_sets.sort_by(|a, b| {
            let key = |ds: &DaemonSet| (ds.metadata.namespace.clone(), ds.metadata.name.clone());
            key(a).cmp(&key(b))
        });
        let (title, shape) = match of_file {
            Some(of_file) => of_file,
            None => {
                self.existing(name.unwrap_or_default(), &nodes).map_err(|message| source.stop(message))?
            }
        };
        Ok(NodeQuestion { source, title, shape: self.less_known(shape), daemon_sets })
    }

    fn existing(&self, word: &str, nodes: &[Node]) -> Result<(String, NodeShape), String> {
        let name = ["node/", "nodes/", "no/"].iter().find_map(|kind| word.strip_prefix(kind)).unwrap_or(word);
        let Some(node) = nodes.iter().find(|node| node.metadata.name.as_str() == name) else {
            let there = nodes.iter().map(|node| node.metadata.name.as_str());
            return Err(match nodes.len() {
                0 => format!("no node is named {name}: there is none"),
                _ => format!("no node is named {name}: there is {}", daemonset_view::words::names(there, 3)),
            });
        };
        Ok(if self.new {
            (format!("a new node like {name}"), NodeShape::like(node))
        } else {
            (name.to_owned(), NodeShape::from(node))
        })
    }

    fn read(&self, file: PathBuf) -> Result<(String, NodeShape), Stop> {
        if file.as_os_str() == "-" && self.from.as_ref().is_some_and(|from| from.as_os_str() == "-") {
            return Err(Stop::Input("--from: stdin is the node already".to_owned()));
        }
        let source = Source::named(file);
        let read = source.bytes().and_then(|bytes| read_documents(&bytes));
        let shape = read.and_then(|documents| match documents.as_slice() {
            [document] => self.shape(document),
            several => Err(format!("must be one node: there are {} documents", several.len())),
        });
        match shape {
            Ok(shape) => Ok((self.title(&source, &shape), shape)),
            Err(message) => Err(source.stop(message)),
        }
    }

    /// A node of a manifest, or a shape.
    fn shape(&self, document: &Value) -> Result<NodeShape, String> {
        fn at(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
            format!("{}: {}", error.path(), error.inner())
        }
        match document.get("kind").and_then(Value::as_str) {
            Some("Node") => {
                let node: Node = serde_path_to_error::deserialize(document).map_err(|error| at(&error))?;
                let shape = if self.new { NodeShape::like(&node) } else { NodeShape::from(&node) };
                // A manifest of nodes to come has no name.
                Ok(if node.metadata.name.as_str().is_empty() { shape.name(None) } else { shape })
            }
            Some(kind) => Err(format!("kind: must be Node, and is {kind}")),
            None => serde_path_to_error::deserialize(document).map_err(|error| at(&error)),
        }
    }

    fn title(&self, source: &Source, shape: &NodeShape) -> String {
        match &shape.name {
            Some(name) => format!("{name} of {source}"),
            None => format!("a new node of {source}"),
        }
    }

    fn less_known(&self, mut shape: NodeShape) -> NodeShape {
        for key in &self.unknown_label {
            shape = shape.label(key, LabelKnowledge::Unknown);
        }
        if self.more_labels {
            shape = shape.other_labels(OtherLabels::Unknown);
        }
        shape.startup_taints.extend(self.startup_taint.iter().cloned());
        shape
    }
}

/// As `kubectl taint` reads it.
fn taint(text: &str) -> Result<Taint, String> {
    const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    let must =
        || "must be KEY[=VALUE]:EFFECT, with the effect NoSchedule, PreferNoSchedule or NoExecute".to_owned();
    let (rest, effect) = text.rsplit_once(':').ok_or_else(must)?;
    let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
    if key.is_empty() || !EFFECTS.contains(&effect) {
        return Err(must());
    }
    Ok(Taint { key: key.to_owned(), value: value.to_owned(), effect: effect.to_owned() })
}
