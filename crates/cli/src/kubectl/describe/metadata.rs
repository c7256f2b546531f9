//! Labels and annotations, sorted by key.

use crate::kubectl::text::Page;
use daemonset_apiserver::json::LAST_APPLIED;

/// The number of bytes of key and value that fit into one line.
const MAX_LENGTH: usize = 140;

/// v1.36 kubectl `describe.go printLabelsMultiline`.
pub(super) fn labels(page: &mut Page, title: &str, labels: &[(&str, &str)]) {
    page.write(0, &format!("{title}:\t"));
    if labels.is_empty() {
        page.end_line("<none>");
    }
    for (index, (key, value)) in labels.iter().enumerate() {
        if index > 0 {
            page.write(0, "");
            page.write(0, "\t");
        }
        page.write(0, &format!("{key}={value}\n"));
    }
}

/// v1.36 kubectl `describe.go printAnnotationsMultiline`.
pub(super) fn annotations(page: &mut Page, title: &str, annotations: &[(&str, &str)]) {
    page.write(0, &format!("{title}:\t"));
    let shown: Vec<_> = annotations.iter().filter(|(key, _)| *key != LAST_APPLIED).collect();
    if shown.is_empty() {
        page.end_line("<none>");
    }
    for (index, (key, value)) in shown.into_iter().enumerate() {
        if index > 0 {
            page.write(0, "\t");
        }
        annotation(page, key, value.strip_suffix('\n').unwrap_or(value));
    }
}

fn annotation(page: &mut Page, key: &str, value: &str) {
    if key.len() + value.len() + 2 <= MAX_LENGTH && !value.contains('\n') {
        page.write(0, &format!("{key}: {value}\n"));
        return;
    }
    page.write(0, &format!("{key}:\n"));
    for line in value.split('\n') {
        page.write(0, &format!("\t  {}\n", shortened(line, MAX_LENGTH - 2)));
    }
}

/// The first bytes of a long text, and dots. kubectl may cut inside a letter; the rest of that letter is shown as
/// U+FFFD here.
pub(super) fn shortened(text: &str, longest: usize) -> String {
    match text.as_bytes().get(..longest) {
        Some(start) if start.len() < text.len() => format!("{}...", String::from_utf8_lossy(start)),
        _ => text.to_owned(),
    }
}
