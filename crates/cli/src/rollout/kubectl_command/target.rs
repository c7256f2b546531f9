//! Which DaemonSet a command names: `ds/web`, `daemonset web`, `daemonsets.apps/web`, or just `ds`.

use std::fmt;

/// The object of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KubectlTarget {
    /// All of the namespace.
    Every,
    Named(String),
}

/// Why it names no DaemonSet.
#[derive(Debug)]
pub(crate) enum TargetError {
    /// kubectl says this after `error: `.
    Kubectl(String),
    /// kubectl's answer is not known here.
    Unanswered(String),
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetError::Kubectl(text) | TargetError::Unanswered(text) => f.write_str(text),
        }
    }
}

/// Reads the words that are no flags (v1.36 cli-runtime resource/builder.go `ResourceTypeOrNameArgs`).
pub(crate) fn target(words: &[String]) -> Result<KubectlTarget, TargetError> {
    let slashes = words.iter().filter(|word| word.contains('/')).count();
    match words {
        [] => Err(TargetError::Kubectl("required resource not specified".to_owned())),
        [word] if slashes == 1 => in_one_word(word),
        _ if slashes == words.len() => Err(several()),
        _ if slashes > 0 => Err(mixed()),
        [kind] => kind_of(kind).map(|()| KubectlTarget::Every),
        [kind, name] => kind_of(kind).map(|()| KubectlTarget::Named(name.clone())),
        _ => Err(several()),
    }
}

fn in_one_word(word: &str) -> Result<KubectlTarget, TargetError> {
    match word.split('/').collect::<Vec<_>>().as_slice() {
        [kind, name] if !kind.is_empty() && !name.is_empty() => {
            kind_of(kind).map(|()| KubectlTarget::Named((*name).to_owned()))
        }
        [_, _] => Err(TargetError::Kubectl(
            "arguments in resource/name form must have a single resource and name".to_owned(),
        )),
        _ => Err(TargetError::Kubectl(
            "arguments in resource/name form may not have more than one slash".to_owned(),
        )),
    }
}

fn mixed() -> TargetError {
    TargetError::Kubectl(
        "there is no need to specify a resource type as a separate argument when passing arguments in resource/name \
         form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'"
            .to_owned(),
    )
}

fn several() -> TargetError {
    TargetError::Unanswered("command: one DaemonSet at a time is answered here".to_owned())
}

/// The kind, its plural and its short name, with and without version and group. The API server's resources are in
/// lower case; the kind is as it is.
fn kind_of(word: &str) -> Result<(), TargetError> {
    let name = word.strip_suffix(".apps").unwrap_or(word);
    let name = if name == word { word } else { name.strip_suffix(".v1").unwrap_or(name) };
    match name {
        "ds" | "daemonset" | "daemonsets" | "DaemonSet" => Ok(()),
        "deploy" | "deployment" | "deployments" | "sts" | "statefulset" | "statefulsets" | "po" | "pod"
        | "pods" | "rs" | "replicaset" | "replicasets" | "all" => {
            Err(TargetError::Unanswered(format!("command: {word}: only DaemonSets are answered here")))
        }
        _ => Err(TargetError::Kubectl(format!("the server doesn't have a resource type {word:?}"))),
    }
}
