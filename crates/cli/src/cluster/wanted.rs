//! Which DaemonSet a command is about.

use std::fmt;

/// A DaemonSet by its name, and perhaps its namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
}

impl Wanted {
    /// `NAME`, `NAMESPACE/NAME`, or `ds/NAME` as kubectl prints it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (namespace, name) = match text.split_once('/') {
            None => (None, text),
            Some((kind, name)) if is_kind(kind) => (None, name),
            Some((namespace, name)) => (Some(namespace), name),
        };
        if namespace == Some("") || name.is_empty() || name.contains('/') {
            return Err(format!("{text:?}: must be NAME or NAMESPACE/NAME"));
        }
        Ok(Wanted { namespace: namespace.map(str::to_owned), name: name.to_owned() })
    }

    pub(crate) fn matches(&self, namespace: &str, name: &str) -> bool {
        self.name == name && self.namespace.as_deref().is_none_or(|wanted| wanted == namespace)
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}

fn is_kind(word: &str) -> bool {
    matches!(word, "ds" | "daemonset" | "daemonsets" | "daemonset.apps" | "daemonsets.apps")
}
