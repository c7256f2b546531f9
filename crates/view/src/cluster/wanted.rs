//! Which DaemonSets a command is about.

use daemonset::kubernetes::{Selector, UnreadableSelector};
use daemonset::model::{DaemonSet, LabelSelector, Labels};
use std::fmt;

/// DaemonSets by name, namespace and labels; each as far as it is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    pub namespace: Option<String>,
    pub name: Option<String>,
    labels: Option<Labelled>,
}

/// A label selector, and its text on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Labelled {
    text: String,
    selector: LabelSelector,
}

impl Wanted {
    /// `NAME`, `NAMESPACE/NAME`, or `ds/NAME` as kubectl prints it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (namespace, name) = match text.split_once('/') {
            None => (None, text),
            Some((kind, name)) if is_kind(kind) => (None, name),
            Some((namespace, name)) => (Some(namespace), name),
        };
        if namespace == Some("") || name.is_empty() || name.contains('/') {
            return Err(format!("{text:?}: must be NAME or NAMESPACE/NAME"));
        }
        Ok(Wanted::named(namespace, name))
    }

    /// Whether it is `ds/NAME`.
    pub fn has_kind(text: &str) -> bool {
        text.split_once('/')
            .is_some_and(|(kind, name)| is_kind(kind) && !name.is_empty() && !name.contains('/'))
    }

    /// One DaemonSet.
    pub fn named(namespace: Option<&str>, name: &str) -> Self {
        Wanted { namespace: namespace.map(str::to_owned), name: Some(name.to_owned()), labels: None }
    }

    /// The same, of this namespace only.
    pub fn in_namespace(mut self, namespace: Option<&str>) -> Result<Self, String> {
        match (namespace, &self.namespace) {
            (Some(flag), Some(own)) if flag != own => {
                return Err(format!("--namespace {flag}: the DaemonSet is named in {own}"));
            }
            (Some(flag), _) => self.namespace = Some(flag.to_owned()),
            (None, _) => {}
        }
        Ok(self)
    }

    /// The same, with these labels only.
    pub fn labelled(mut self, text: Option<&str>) -> Result<Self, String> {
        if let Some(text) = text {
            let selector =
                text.parse().map_err(|error: UnreadableSelector| format!("--selector: {error}"))?;
            self.labels = Some(Labelled { text: text.to_owned(), selector });
        }
        Ok(self)
    }

    /// `None` where it asks for nothing in particular.
    pub fn chosen(self) -> Option<Self> {
        Some(self).filter(|wanted| *wanted != Wanted::default())
    }

    /// Whether this DaemonSet is wanted.
    pub fn is(&self, ds: &DaemonSet) -> bool {
        self.matches(&ds.metadata.namespace, &ds.metadata.name, &ds.metadata.labels)
    }

    pub fn matches(&self, namespace: &str, name: &str, labels: &Labels) -> bool {
        let has_labels = |wanted: &Labelled| {
            Selector::new(&wanted.selector, "").is_ok_and(|selector| selector.matches_labels(labels))
        };
        self.name.as_deref().is_none_or(|wanted| wanted == name)
            && self.namespace.as_deref().is_none_or(|wanted| wanted == namespace)
            && self.labels.as_ref().is_none_or(has_labels)
    }
}

/// `monitoring/node-exporter`, `in namespace monitoring`, `with labels app=web`.
impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wanted { namespace, name, labels } = self;
        let named = match (namespace, name) {
            (Some(namespace), Some(name)) => Some(format!("{namespace}/{name}")),
            (None, Some(name)) => Some(name.clone()),
            (Some(namespace), None) => Some(format!("in namespace {namespace}")),
            (None, None) => None,
        };
        let labels = labels.as_ref().map(|labels| format!("with labels {}", labels.text));
        f.write_str(&named.into_iter().chain(labels).collect::<Vec<_>>().join(" "))
    }
}

fn is_kind(word: &str) -> bool {
    matches!(word, "ds" | "daemonset" | "daemonsets" | "daemonset.apps" | "daemonsets.apps")
}
