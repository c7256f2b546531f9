//! Volumes of a pod.

use super::claims::claim;
use super::metadata::shortened;
use super::volume_kinds::{KINDS, Row, Show};
use crate::kubectl::fields::{text_entries, texts};
use crate::kubectl::text::{Page, bracketed};
use daemonset_apiserver::json::{flag, list, member, number, text};
use daemonset_apiserver::quantity::Quantity;
use serde_json::Value;

/// The number of bytes of an attribute that are shown.
const MAX_LENGTH: usize = 140;

/// v1.36 kubectl `describe.go describeVolumes`.
pub(super) fn volumes(page: &mut Page, volumes: &[Value]) {
    page.write(0, if volumes.is_empty() { "  Volumes:\t<none>\n" } else { "  Volumes:\n" });
    for volume in volumes {
        page.write(1, &format!(" {}:\n", text(volume, "name")));
        let found = KINDS.iter().find_map(|kind| member(volume, kind.key).map(|source| (kind, source)));
        let Some((kind, source)) = found else {
            page.write(1, "<unknown>\n");
            continue;
        };
        page.write(2, &format!("Type:\t{}\n", kind.title));
        for Row(label, key, show) in kind.rows {
            page.write(2, &format!("{label}\t{}\n", formatted(source, key, show)));
        }
        extra_lines(page, kind.key, source);
    }
}

fn formatted(source: &Value, key: &str, show: &Show) -> String {
    let value = member(source, key);
    match show {
        Show::Text => text(source, key).to_owned(),
        Show::TextOr(other) => value.map_or(*other, |_| text(source, key)).to_owned(),
        Show::Number => number(source, key).to_string(),
        Show::NumberOrNone => value.map_or("<none>".to_owned(), |_| number(source, key).to_string()),
        Show::Flag => flag(source, key).to_string(),
        Show::List => bracketed(&texts(source, key)),
        Show::Joined => texts(source, key).join(", "),
        Show::Map => {
            let members = text_entries(source, key).into_iter();
            format!(
                "map{}",
                bracketed(&members.map(|(key, value)| format!("{key}:{value}")).collect::<Vec<_>>())
            )
        }
        Show::Secret => match value {
            Some(reference) => format!("&LocalObjectReference{{Name:{},}}", text(reference, "name")),
            None => "nil".to_owned(),
        },
        Show::Size => match value.map(Quantity::from_json) {
            Some(Ok(size)) if !size.is_zero() && !size.is_negative() => size.to_string(),
            _ => "<unset>".to_owned(),
        },
    }
}

/// The lines below the rows, which only some kinds have.
fn extra_lines(page: &mut Page, kind: &str, source: &Value) {
    match kind {
        "projected" => list(source, "sources").iter().for_each(|source| projected(page, source)),
        "downwardAPI" => items(page, list(source, "items")),
        "csi" => attributes(page, &text_entries(source, "volumeAttributes")),
        "ephemeral" => {
            if let Some(template) = member(source, "volumeClaimTemplate") {
                page.nested(2, |page| claim(page, template));
            }
        }
        _ => {}
    }
}

/// One source of a projected volume (`printProjectedVolumeSource`); kubectl prints no newer kinds of sources.
fn projected(page: &mut Page, source: &Value) {
    let optional = |page: &mut Page, label: &str, source: &Value| {
        page.write(2, &format!("{label}:\t{}\n", text(source, "name")));
        page.write(2, &format!("Optional:\t{}\n", flag(source, "optional")));
    };
    if let Some(secret) = member(source, "secret") {
        optional(page, "SecretName", secret);
    } else if member(source, "downwardAPI").is_some() {
        page.write(2, "DownwardAPI:\ttrue\n");
    } else if let Some(config_map) = member(source, "configMap") {
        optional(page, "ConfigMapName", config_map);
    } else if let Some(token) = member(source, "serviceAccountToken") {
        /// The API server's default (v1.36 core/v1 defaults.go SetDefaults_ServiceAccountTokenProjection).
        const AN_HOUR: i64 = 3600;
        let seconds = token.get("expirationSeconds").and_then(Value::as_i64).unwrap_or(AN_HOUR);
        page.write(2, &format!("TokenExpirationSeconds:\t{seconds}\n"));
    }
}

/// Fields and resources as files (`printDownwardAPIVolumeSource`).
fn items(page: &mut Page, items: &[Value]) {
    page.write(2, "Items:\n");
    for item in items {
        for (key, what) in [("fieldRef", "fieldPath"), ("resourceFieldRef", "resource")] {
            if let Some(source) = member(item, key) {
                page.write(3, &format!("{} -> {}\n", text(source, what), text(item, "path")));
            }
        }
    }
}

/// `printCSIPersistentVolumeAttributesMultiline`, which indents each piece of a line.
fn attributes(page: &mut Page, attributes: &[(&str, &str)]) {
    page.write(2, "VolumeAttributes:\t");
    if attributes.is_empty() {
        page.end_line("<none>");
    }
    for (index, (key, value)) in attributes.iter().enumerate() {
        if index > 0 {
            page.write(2, "");
            page.write(2, "\t");
        }
        page.write(2, &format!("{}\n", shortened(&format!("{key}={value}"), MAX_LENGTH)));
    }
}
