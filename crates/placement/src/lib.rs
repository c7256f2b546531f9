//! Where the pods of Kubernetes DaemonSets run: on a node that need not exist yet, and after a change of a node.
//!
//! | | |
//! |---|---|
//! | [`daemons_on`], [`Daemons`] | the DaemonSets that would run on a node, of which not everything need be known |
//! | [`affected`], [`NodeChange`] | the DaemonSets whose plan a changed node may change |
//!
//! The first is for autoscalers, which size a node before it exists. Theirs are second versions of the controller's rules, and
//! forget terms of the affinity, tolerations, or unknown labels (karpenter#1337, #1749, #2838, kubernetes/autoscaler#7841). The
//! second is for controllers, which plan again only where it matters. Both use the planner's own code: for a node of which
//! everything is known, all give the same answer.
//!
//! Pure, as the core is: no I/O, no clock, no randomness, no environment.
//!
//! The feature `k8s-openapi` makes a [`NodeShape`] of that crate's type (Rust 1.88).

mod affected;
mod daemon;
mod host_port;
mod shape;

pub use affected::{CompiledPlacement, NodeChange, affected};
pub use host_port::HostPort;
pub use shape::{LabelKnowledge, NodeShape, OtherLabels};

use daemon::Daemon;
use daemonset::Problem;
use daemonset::model::{DaemonSet, Taint};
use daemonset::report::NodePlacement;
use serde::{Serialize, Serializer};

/// Which of the DaemonSets would run a pod on this node, with the reason for each.
///
/// The answers are independent of each other: neither their order nor the resources of the node matter. A DaemonSet that
/// can't be planned has an answer of its own and spoils no other. The effective resource requests of the pods, and their
/// sums, are `daemonset_apiserver::requests`: amounts are text for this crate.
///
/// To ask about many nodes, read the DaemonSets once with [`Daemons::new`].
///
/// ```
/// use daemonset::model;
/// use daemonset_placement::{DaemonOn, LabelKnowledge, NodeShape, OtherLabels, Runs, UnknownFact, daemons_on};
/// use serde_json::{from_value, json};
///
/// let agent = |name: &str, spec: serde_json::Value| json!({
///     "metadata": {"name": name, "namespace": "ns"},
///     "spec": {
///         "selector": {"matchLabels": {"app": name}},
///         "template": {"metadata": {"labels": {"app": name}}, "spec": spec},
///         "updateStrategy": {"type": "RollingUpdate"},
///     },
/// });
/// let daemon_sets: Vec<model::DaemonSet> = from_value(json!([
///     agent("everywhere", json!({})),
///     agent("of-zone-a", json!({"nodeSelector": {"topology.kubernetes.io/zone": "a"}})),
///     agent("windows", json!({"nodeSelector": {"kubernetes.io/os": "windows"}})),
/// ]))?;
/// let shape = NodeShape::default()
///     .labels([("kubernetes.io/os", "linux")].into_iter().collect())
///     .label("topology.kubernetes.io/zone", LabelKnowledge::Present)
///     .other_labels(OtherLabels::Absent);
///
/// let answer = daemons_on(&daemon_sets, &shape);
/// let zone = UnknownFact::Label { key: "topology.kubernetes.io/zone".into() };
/// assert_eq!(answer.daemons[0].runs, Runs::Yes);
/// assert_eq!(answer.daemons[1].runs, Runs::Maybe { depends_on: vec![zone] });
/// assert!(matches!(answer.daemons[2].runs, Runs::No { .. }));
/// let positions = |daemons: Vec<(usize, &DaemonOn)>| -> Vec<usize> {
///     daemons.into_iter().map(|(position, _)| position).collect()
/// };
/// assert_eq!(positions(answer.certain().collect()), [0]);
/// assert_eq!(positions(answer.possible().collect()), [0, 1]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[doc(alias = "overhead")]
#[must_use]
pub fn daemons_on<'d>(daemon_sets: impl IntoIterator<Item = &'d DaemonSet>, node: &NodeShape) -> DaemonsOn {
    Daemons::new(daemon_sets).on(node)
}

/// DaemonSets, read once to be asked about any number of nodes.
///
/// ```
/// use daemonset::model::DaemonSet;
/// use daemonset_placement::{Daemons, NodeShape, daemons_on};
///
/// let daemon_sets: Vec<DaemonSet> = vec![DaemonSet::default()];
/// let daemons = Daemons::new(&daemon_sets);
/// for pool in ["gpu", "batch"] {
///     let shape = NodeShape::default().labels([("pool", pool)].into_iter().collect());
///     assert_eq!(daemons.on(&shape), daemons_on(&daemon_sets, &shape));
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Daemons {
    list: Vec<DaemonEntry>,
}

#[derive(Debug, Clone)]
struct DaemonEntry {
    namespace: String,
    name: String,
    daemon: Result<Daemon, Vec<Problem>>,
    host_ports: Vec<HostPort>,
}

impl Daemons {
    /// Reads the DaemonSets.
    pub fn new<'d>(daemon_sets: impl IntoIterator<Item = &'d DaemonSet>) -> Self {
        let entry = |ds: &DaemonSet| DaemonEntry {
            namespace: ds.metadata.namespace.clone(),
            name: ds.metadata.name.clone(),
            daemon: Daemon::new(ds),
            host_ports: HostPort::all_of(&ds.spec.template),
        };
        Daemons { list: daemon_sets.into_iter().map(entry).collect() }
    }

    /// The same as [`daemons_on`].
    #[must_use]
    pub fn on(&self, node: &NodeShape) -> DaemonsOn {
        DaemonsOn { daemons: self.list.iter().map(|entry| entry.on(node)).collect() }
    }
}

impl DaemonEntry {
    fn on(&self, node: &NodeShape) -> DaemonOn {
        let (runs, waits_for) = match &self.daemon {
            Ok(daemon) => {
                let runs = daemon.runs(node);
                let waits_for = if runs.is_possible() { daemon.waits_for(node) } else { Vec::new() };
                (runs, waits_for)
            }
            Err(problems) => (Runs::Invalid { problems: problems.clone() }, Vec::new()),
        };
        DaemonOn {
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            runs,
            waits_for,
            host_ports: self.host_ports.clone(),
        }
    }
}

/// The answer of [`daemons_on`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DaemonsOn {
    /// One entry for each DaemonSet, in the order of the input.
    pub daemons: Vec<DaemonOn>,
}

impl DaemonsOn {
    /// The DaemonSets that surely run a pod there, each with its position in the input: the lower bound of every sum.
    pub fn certain(&self) -> impl Iterator<Item = (usize, &DaemonOn)> {
        self.daemons.iter().enumerate().filter(|(_, daemon)| daemon.runs == Runs::Yes)
    }

    /// The DaemonSets that run a pod there or may: the upper bound of every sum.
    pub fn possible(&self) -> impl Iterator<Item = (usize, &DaemonOn)> {
        self.daemons.iter().enumerate().filter(|(_, daemon)| daemon.runs.is_possible())
    }

    /// Two DaemonSets that run there, or may, and want the same port of the node: the scheduler places only one of their
    /// pods.
    ///
    /// ```
    /// use daemonset::model;
    /// use daemonset_placement::{NodeShape, daemons_on};
    /// use serde_json::{from_value, json};
    ///
    /// let daemon_sets: Vec<model::DaemonSet> = ["a", "b"].into_iter().map(|name| from_value(json!({
    ///     "metadata": {"name": name, "namespace": "ns"},
    ///     "spec": {
    ///         "selector": {"matchLabels": {"app": name}},
    ///         "template": {
    ///             "metadata": {"labels": {"app": name}},
    ///             "spec": {"containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 9100}]}]},
    ///         },
    ///     },
    /// }))).collect::<Result<_, _>>()?;
    /// let conflicts = daemons_on(&daemon_sets, &NodeShape::default()).port_conflicts();
    /// assert_eq!((conflicts[0].first, conflicts[0].second), (0, 1));
    /// assert_eq!(conflicts[0].port.to_string(), "9100/TCP");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn port_conflicts(&self) -> Vec<PortConflict> {
        let mut conflicts = Vec::new();
        for (second, daemon) in self.possible() {
            for (first, before) in self.possible().take_while(|(first, _)| *first < second) {
                let taken =
                    |port: &&HostPort| before.host_ports.iter().any(|other| other.conflicts_with(port));
                let both = daemon.host_ports.iter().filter(taken);
                conflicts.extend(both.map(|port| PortConflict { first, second, port: port.clone() }));
            }
        }
        conflicts
    }
}

/// A DaemonSet on a node.
///
/// See the example of [`daemons_on`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DaemonOn {
    /// The DaemonSet's namespace.
    pub namespace: String,
    /// The DaemonSet's name.
    pub name: String,
    /// Whether it runs a pod there.
    pub runs: Runs,
    /// The startup taints that its pod does not tolerate: it is created once they are gone.
    pub waits_for: Vec<Taint>,
    /// The ports of the node that its pod takes, sorted.
    pub host_ports: Vec<HostPort>,
}

/// Whether a DaemonSet runs a pod on a node.
///
/// See the example of [`daemons_on`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Runs {
    /// It does, whatever the unknown facts turn out to be.
    Yes,
    /// It does not, whatever the unknown facts turn out to be.
    No {
        /// The first known reason.
        why: WhyNot,
    },
    /// Unknown facts decide.
    Maybe {
        /// The facts: the name, then labels by key, then taints; each once, never empty.
        depends_on: Vec<UnknownFact>,
    },
    /// It has no pods anywhere: a plan would refuse the DaemonSet.
    Invalid {
        /// Its problems; never empty.
        #[serde(serialize_with = "as_text")]
        problems: Vec<Problem>,
    },
}

impl Runs {
    /// Whether it runs a pod there, or may.
    pub fn is_possible(&self) -> bool {
        match self {
            Runs::Yes | Runs::Maybe { .. } => true,
            Runs::No { .. } | Runs::Invalid { .. } => false,
        }
    }
}

fn as_text<S: Serializer>(problems: &[Problem], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(problems.iter().map(Problem::to_string))
}

/// Why a DaemonSet runs no pod on a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum WhyNot {
    /// The node is no target node.
    Placement {
        /// The planner's answer; never [`NodePlacement::Run`]. A new node has no pod that
        /// [`ContinueOnly`](NodePlacement::ContinueOnly) could keep.
        placement: NodePlacement,
    },
    /// Its selector is empty: the controller leaves it alone.
    SelectingAll,
    /// It has a deletionTimestamp: the controller leaves it alone.
    BeingDeleted,
}

/// A fact about a node that is not known and that an answer depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum UnknownFact {
    /// The name of the node, which the template or its affinity mentions.
    Name,
    /// A label.
    Label {
        /// Its key.
        key: String,
    },
    /// A taint that the node may have and the pod does not tolerate.
    Taint {
        /// The taint.
        taint: Taint,
    },
}

/// A port of the node that two pods want.
///
/// See the example of [`DaemonsOn::port_conflicts`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PortConflict {
    /// The position of one DaemonSet in the input.
    pub first: usize,
    /// The position of the other one, after it.
    pub second: usize,
    /// The port, as the second one wants it.
    pub port: HostPort,
}

/// The README's examples are tested as documentation is.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
