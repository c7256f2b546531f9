//! Files of a volume that overwrite each other.

use crate::go::quoted;
use crate::json::{at, list, member, text};
use serde_json::Value;
use std::fmt;

/// A file's path within its volume, and its source where the volume has several.
struct File<'a> {
    path: &'a str,
    source: String,
}

impl fmt::Display for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quoted(self.path))?;
        if self.source.is_empty() { Ok(()) } else { write!(f, " ({})", self.source) }
    }
}

/// Files of one volume with the same path, or one below the other (v1.36 `pkg/api/pod` warnings.go
/// `warningsForOverlappingVirtualPaths`).
pub(super) fn overlapping(pod: &Value, found: &mut Vec<String>) {
    for volume in list(pod, "volumes") {
        let named = |kind: &str, field: &str, name: &str| {
            let source = member(volume, field)?;
            Some((format!("{kind} {}", quoted(text(source, name))), listed(source, String::new)))
        };
        let downward =
            member(volume, "downwardAPI").map(|it| ("DownwardAPI".to_owned(), listed(it, String::new)));
        let single =
            [named("ConfigMap", "configMap", "name"), named("Secret", "secret", "secretName"), downward];
        for (title, files) in single.into_iter().flatten() {
            conflicts(volume, &title, files, &mut Vec::new(), found);
        }
        projected(volume, found);
    }
}

fn projected(volume: &Value, found: &mut Vec<String>) {
    let mut before = Vec::new();
    for source in list(at(volume, &["projected"]), "sources") {
        if source.as_object().is_none_or(|fields| fields.values().all(Value::is_null)) {
            let name = quoted(text(volume, "name"));
            found.push(format!("volume {name} (Projected) has no sources provided"));
        } else {
            conflicts(volume, "Projected", files_of(source), &mut before, found);
        }
    }
}

/// The files of one source of a projected volume; of a source with several kinds, those of the first that lists files.
fn files_of(source: &Value) -> Vec<File<'_>> {
    for (field, kind) in [("configMap", "ConfigMap"), ("secret", "Secret")] {
        if let Some(of) = member(source, field).filter(|of| member(of, "items").is_some()) {
            return listed(of, || format!("{kind} {}", quoted(text(of, "name"))));
        }
    }
    if let Some(of) = member(source, "downwardAPI").filter(|of| member(of, "items").is_some()) {
        listed(of, || "DownwardAPI".to_owned())
    } else if let Some(token) = member(source, "serviceAccountToken") {
        vec![File { path: text(token, "path"), source: "ServiceAccountToken".to_owned() }]
    } else if let Some(bundle) = member(source, "clusterTrustBundle") {
        let name = member(bundle, "name").or_else(|| member(bundle, "signerName"));
        let name = name.and_then(Value::as_str).unwrap_or_default();
        vec![File { path: text(bundle, "path"), source: format!("ClusterTrustBundle {}", quoted(name)) }]
    } else {
        let certificate = at(source, &["podCertificate"]);
        [("certificateChainPath", "chain"), ("keyPath", "key"), ("credentialBundlePath", "credential bundle")]
            .into_iter()
            .map(|(field, part)| File {
                path: text(certificate, field),
                source: format!("PodCertificate {part}"),
            })
            .filter(|file| !file.path.is_empty())
            .collect()
    }
}

fn listed(of: &Value, source: impl Fn() -> String) -> Vec<File<'_>> {
    list(of, "items").iter().map(|item| File { path: text(item, "path"), source: source() }).collect()
}

/// Compares each file with those before it.
fn conflicts<'a>(
    volume: &Value,
    title: &str,
    files: Vec<File<'a>>,
    before: &mut Vec<File<'a>>,
    found: &mut Vec<String>,
) {
    for file in files {
        let file = File { path: file.path.trim_end_matches('/'), ..file };
        for other in before.iter().filter(|other| overlap(&file, other)) {
            let name = quoted(text(volume, "name"));
            found.push(format!("volume {name} ({title}): overlapping paths: {file} with {other}"));
        }
        before.push(file);
    }
}

fn overlap(a: &File<'_>, b: &File<'_>) -> bool {
    let holds = |outer: &str, inner: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    !a.path.is_empty() && !b.path.is_empty() && (holds(a.path, b.path) || holds(b.path, a.path))
}
