//! The parts of the pod template that a decision reads; the template itself stays raw.

use daemonset_objects::Problem;
use daemonset_objects::internal::{
    Affinity, CompiledRequirement, NodeFacts, Problems, Truth, Vocabulary, null_is_default,
};
use daemonset_objects::model::{Labels, NodeSelector, NodeSelectorTerm, Toleration};
use serde::Deserialize;
use serde_json::Value;

/// The labels, placement and ports of the template.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Template {
    #[serde(deserialize_with = "null_is_default")]
    pub metadata: TemplateMeta,
    #[serde(deserialize_with = "null_is_default")]
    pub spec: TemplateSpec,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct TemplateMeta {
    #[serde(deserialize_with = "null_is_default")]
    pub labels: Labels,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TemplateSpec {
    #[serde(deserialize_with = "null_is_default")]
    pub(crate) node_name: String,
    #[serde(deserialize_with = "null_is_default")]
    pub node_selector: Labels,
    #[serde(deserialize_with = "null_is_default")]
    pub(crate) affinity: Affinity,
    #[serde(deserialize_with = "null_is_default")]
    pub(crate) tolerations: Vec<Toleration>,
    #[serde(deserialize_with = "null_is_default")]
    pub host_network: bool,
    #[serde(deserialize_with = "null_is_default")]
    containers: Vec<Container>,
    #[serde(deserialize_with = "null_is_default")]
    init_containers: Vec<Container>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Container {
    #[serde(deserialize_with = "null_is_default")]
    ports: Vec<Port>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Port {
    #[serde(deserialize_with = "null_is_default")]
    host_port: u32,
    #[serde(deserialize_with = "null_is_default")]
    container_port: u32,
}

impl Template {
    /// Reads the raw template. A field that can't be read is a problem with its path.
    pub fn parse(raw: &Value, problems: &mut Problems) -> Self {
        if !raw.is_object() {
            problems.add(Problem::required("spec.template"));
            return Template::default();
        }
        // Keeping the path costs more than the parsing itself: only an error needs it.
        if let Ok(template) = Template::deserialize(raw) {
            return template;
        }
        serde_path_to_error::deserialize(raw).unwrap_or_else(|error: serde_path_to_error::Error<_>| {
            problems.add(Problem::unreadable(format!("spec.template.{}", error.path()), error.inner()));
            Template::default()
        })
    }

    /// The ports of the node that a pod takes; with hostNetwork these are all container ports.
    pub fn host_ports(&self) -> impl Iterator<Item = u32> {
        let containers = self.spec.containers.iter().chain(&self.spec.init_containers);
        let ports = containers.flat_map(|container| &container.ports);
        ports
            .map(|port| {
                if self.spec.host_network && port.host_port == 0 {
                    port.container_port
                } else {
                    port.host_port
                }
            })
            .filter(|port| *port != 0)
    }
}

/// Required node affinity, compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredAffinity {
    pub terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    pub expressions: Vec<CompiledRequirement>,
    pub fields: Vec<CompiledRequirement>,
}

const AFFINITY_PATH: &str = "spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";

impl RequiredAffinity {
    pub(crate) fn compile(selector: &NodeSelector, problems: &mut Problems) -> Self {
        let terms = selector.node_selector_terms.iter().enumerate();
        RequiredAffinity { terms: terms.map(|(i, term)| Term::compile(term, i, problems)).collect() }
    }

    /// Terms are ORed; an empty term matches nothing
    /// (v1.36 `component-helpers/scheduling/corev1/nodeaffinity`).
    #[inline]
    pub fn matches(&self, node: &impl NodeFacts) -> Truth {
        Truth::any(self.terms.iter().map(|term| term.matches(node)))
    }

    /// The keys of the labels that it reads.
    pub(crate) fn label_keys(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().flat_map(|term| &term.expressions).map(CompiledRequirement::key)
    }

    /// Whether it reads the name of the node.
    pub(crate) fn reads_name(&self) -> bool {
        self.terms.iter().any(|term| !term.fields.is_empty())
    }
}

impl Term {
    fn compile(term: &NodeSelectorTerm, index: usize, problems: &mut Problems) -> Self {
        let vocabulary = Vocabulary::NodeSelector;
        let mut expressions = Vec::new();
        for (i, requirement) in term.match_expressions.iter().enumerate() {
            let path = format!("{AFFINITY_PATH}[{index}].matchExpressions[{i}]");
            expressions.extend(CompiledRequirement::compile(requirement, vocabulary, &path, problems));
        }
        let mut fields = Vec::new();
        for (i, requirement) in term.match_fields.iter().enumerate() {
            let path = format!("{AFFINITY_PATH}[{index}].matchFields[{i}]");
            if !requirement.key.is_empty() && requirement.key != "metadata.name" {
                let key = format!("{path}.key");
                problems.add(Problem::invalid(key, &requirement.key, "must be metadata.name"));
            }
            fields.extend(CompiledRequirement::compile(requirement, Vocabulary::NodeFields, &path, problems));
        }
        Term { expressions, fields }
    }

    #[inline]
    pub fn matches(&self, node: &impl NodeFacts) -> Truth {
        if self.expressions.is_empty() && self.fields.is_empty() {
            return Truth::No;
        }
        let expressions = self.expressions.iter().map(|own| own.accepts_known(node.label(own.key())));
        let fields = self.fields.iter().map(|own| own.accepts_known(node.name()));
        Truth::all(expressions.chain(fields))
    }
}
