//! The node that the command line names, its pods, and the flags of `kubectl drain`.

use crate::cluster::{ClusterArgs, Example, Models, Source};
use crate::shell::console::{Format, Stop};
use daemonset::kubernetes::UnreadableSelector;
use daemonset::model::{DaemonSet, Node, Pod as ListedPod};
use daemonset_drain::{DaemonOwner, DrainPolicy, EmptyDir, Pod, PodSelector, PodSpec, PodStatus, Volume};
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A node with a pod of each kind.
const EXAMPLE: Example = Example { json: include_str!("example.yaml"), title: "the built-in node" };

/// Asks about one node; the flags are those of `kubectl drain`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The node: NAME or node/NAME
    #[arg(value_name = "NODE")]
    node: String,
    /// A List, as `kubectl get daemonsets,pods,nodes -A -o json` (or yaml) prints it; `-` is stdin. Default: the cluster that
    /// kubectl reads, with all its namespaces
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    file: Option<PathBuf>,
    /// Only pods with these labels, as for kubectl drain
    #[arg(long, value_name = "SELECTOR")]
    pod_selector: Option<String>,
    /// Evict pods that nothing creates again, as for kubectl drain
    #[arg(long)]
    force: bool,
    /// Evict pods with emptyDir volumes, whose data is lost, as for kubectl drain
    #[arg(long)]
    delete_emptydir_data: bool,
    /// The seconds that each pod has to end; negative: its own grace period
    #[arg(long, value_name = "SECONDS", default_value_t = -1, allow_negative_numbers = true)]
    grace_period: i32,
    /// Do not wait for pods that have been terminating for this many seconds; 0: wait for them
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    skip_wait_for_delete_timeout: u32,
    /// For a command line of kubectl drain: the pods of DaemonSets are always left alone
    #[arg(long, hide = true)]
    ignore_daemonsets: bool,
    /// The instant to look at. Default: as for plan
    #[arg(long, value_name = "RFC3339")]
    now: Option<Timestamp>,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// A node with its pods, and the policy of its drain.
pub(crate) struct DrainQuestion {
    pub(crate) source: Source,
    pub(crate) node: Node,
    pub(crate) pods: Vec<Pod>,
    pub(crate) daemon_sets: Vec<DaemonOwner>,
    pub(crate) policy: DrainPolicy,
    /// As it was given.
    pub(crate) pod_selector: Option<String>,
    pub(crate) now: Timestamp,
    /// The flags of kubectl that find the same cluster.
    pub(crate) connection: String,
}

impl Args {
    /// Reads the cluster.
    pub(crate) fn question(&self) -> Result<DrainQuestion, Stop> {
        if let Some(flag) = self.cluster.narrowing_flag() {
            return Err(Stop::Input(format!("{flag}: a drain is about the pods of all namespaces")));
        }
        let cluster = self.cluster.clone().of_all_namespaces();
        let source = cluster.source(self.file.clone(), None, EXAMPLE)?.source;
        let name = ["node/", "nodes/", "no/"].iter().find_map(|kind| self.node.strip_prefix(kind));
        let name = name.unwrap_or(&self.node);
        let objects = source.objects_on(name)?;
        let now = source.instant(self.now, &objects)?;
        let Models { daemon_sets, nodes, pods, local_storage, .. } =
            objects.models().map_err(|message| source.stop(message))?;
        let node = named(name, nodes).map_err(|message| source.stop(message))?;
        // kubectl lists all of them.
        if !matches!(source, Source::Kubectl(_)) {
            lacks_no_kind(&node, &pods, &daemon_sets).map_err(|message| source.stop(message))?;
        }
        Ok(DrainQuestion {
            node,
            pods: pods.into_iter().map(|pod| drained(pod, &local_storage)).collect(),
            daemon_sets: daemon_sets.iter().map(DaemonOwner::from).collect(),
            policy: self.policy()?,
            pod_selector: self.pod_selector.clone(),
            now,
            connection: self.cluster.connection(),
            source,
        })
    }

    fn policy(&self) -> Result<DrainPolicy, Stop> {
        let selector = match &self.pod_selector {
            Some(text) => {
                selector(text).map_err(|problem| Stop::Input(format!("--pod-selector: {problem}")))?
            }
            None => PodSelector::default(),
        };
        Ok(DrainPolicy::default()
            .pod_selector(selector)
            .evict_without_controller(self.force)
            .delete_empty_dir_data(self.delete_emptydir_data)
            .grace_seconds(u32::try_from(self.grace_period).ok())
            .skip_wait_for_delete_seconds(self.skip_wait_for_delete_timeout))
    }
}

fn selector(text: &str) -> Result<PodSelector, String> {
    let selector = text.parse().map_err(|error: UnreadableSelector| error.to_string())?;
    PodSelector::new(selector).map_err(|invalid| invalid.to_string())
}

fn named(name: &str, nodes: Vec<Node>) -> Result<Node, String> {
    let there: Vec<String> = nodes.iter().map(|node| node.metadata.name.to_string()).collect();
    let found = nodes.into_iter().find(|node| node.metadata.name.as_str() == name);
    found.ok_or_else(|| match there.len() {
        0 => format!("no node is named {name}: there is none"),
        _ => format!("no node is named {name}: there is {}", daemonset_view::words::names(there, 3)),
    })
}

/// An error that names the kind: without DaemonSets their pods would count as nobody's, and without pods the node as drained.
fn lacks_no_kind(node: &Node, pods: &[ListedPod], daemon_sets: &[DaemonSet]) -> Result<(), String> {
    const COMPLETE: &str = "kubectl get daemonsets,pods,nodes -A -o json prints all that is needed";
    let mut here = pods.iter().filter(|pod| pod.spec.node_name == node.metadata.name);
    let is_daemon = |pod: &&ListedPod| {
        let mut owners = pod.metadata.owner_references.iter();
        owners.any(|owner| owner.controller == Some(true) && owner.kind == "DaemonSet")
    };
    if let Some(pod) = here.find(is_daemon).filter(|_| daemon_sets.is_empty()) {
        let pod = format!("{}/{}", pod.metadata.namespace, pod.metadata.name);
        return Err(format!("no DaemonSet in it, though pod {pod} is of one: {COMPLETE}"));
    }
    let runs = daemon_sets.iter().find(|ds| ds.status.current_number_scheduled > 0);
    if let Some(ds) = runs.filter(|_| pods.is_empty()) {
        let name = format!("{}/{}", ds.metadata.namespace, ds.metadata.name);
        return Err(format!("no Pod in it, though DaemonSet {name} has some by its status: {COMPLETE}"));
    }
    Ok(())
}

/// The pod as a drain reads it.
fn drained(pod: ListedPod, local_storage: &BTreeSet<(String, String)>) -> Pod {
    let key = (pod.metadata.namespace.clone(), pod.metadata.name.clone());
    let volume = || Volume { empty_dir: Some(EmptyDir::default()) };
    let volumes = local_storage.contains(&key).then(volume).into_iter().collect();
    Pod {
        metadata: pod.metadata,
        spec: PodSpec { node_name: pod.spec.node_name, volumes },
        status: PodStatus { phase: pod.status.phase.into_owned() },
    }
}
