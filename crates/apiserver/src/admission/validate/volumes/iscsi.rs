//! Volumes of iSCSI targets.

use super::network::{logical_unit, required};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::json::{flag, member, number, text, text_if_set};
use serde_json::Value;

/// v1.36 core/validation `validateISCSIVolumeSource`.
pub(super) fn iscsi(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["targetPortal", "iqn"], path, errors);
    let target = Some(text(source, "iqn")).filter(|target| !target.is_empty());
    qualified_name(target, &path.child("iqn"), errors);
    logical_unit(number(source, "lun"), path, errors);
    let authenticates = flag(source, "chapAuthDiscovery") || flag(source, "chapAuthSession");
    if authenticates && member(source, "secretRef").is_none() {
        errors.required(&path.child("secretRef"), "");
    }
    qualified_name(text_if_set(source, "initiatorName"), &path.child("initiatorname"), errors);
}

/// The length of the name that the node uses for the volume (v1.36 core/validation `validateVolumeSource`).
pub(super) fn name_and_portal(volume: &Value, source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (name, portal) = (text(volume, "name"), text(source, "targetPortal"));
    if text_if_set(source, "initiatorName").is_some() && name.len() + 1 + portal.len() > 64 {
        let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
        errors.invalid(path, name, detail);
    }
}

/// A name of one of the three forms that iSCSI has.
fn qualified_name(name: Option<&str>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let Some(name) = name else { return };
    let well_formed = match name.get(..3) {
        Some("iqn") => name.match_indices("iqn.").any(|(at, _)| name.get(at..).is_some_and(is_dated_name)),
        Some("eui") => is_hexadecimal_name(name, 16),
        Some("naa") => is_hexadecimal_name(name, 32),
        _ => return errors.invalid(path, name, "must be valid format starting with iqn, eui, or naa"),
    };
    if !well_formed {
        errors.invalid(path, name, "must be valid format");
    }
}

/// `iqn.2001-04.com.example:storage` (v1.36 core/validation `iscsiInitiatorIqnRegex`, which accepts any prefix).
fn is_dated_name(name: &str) -> bool {
    let Some((authority, rest)) = name.split_once(':') else { return false };
    let mut parts = authority.splitn(3, '.').skip(1);
    let (date, domain) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let dated = date.split_once('-').is_some_and(|(year, month)| is_number(year, 4) && is_number(month, 2));
    let in_domain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.');
    let refused = |c| matches!(c, ',' | ';' | '*' | '&' | '$' | '|' | '\t' | '\n' | '\u{c}' | '\r' | ' ');
    dated
        && !domain.is_empty()
        && domain.bytes().all(in_domain)
        && !rest.is_empty()
        && !rest.contains(refused)
}

fn is_number(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| b.is_ascii_digit())
}

/// `eui.02004567A425678D` (v1.36 core/validation `iscsiInitiatorEuiRegex`, `iscsiInitiatorNaaRegex`, whose dot
/// matches any character).
fn is_hexadecimal_name(name: &str, digits: usize) -> bool {
    let mut chars = name.get(3..).unwrap_or_default().chars();
    let separated = chars.next().is_some_and(|separator| separator != '\n');
    let rest = chars.as_str();
    separated && rest.len() == digits && rest.bytes().all(|b| b.is_ascii_alphanumeric())
}
