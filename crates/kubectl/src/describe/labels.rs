//! Labels and node selectors: `key=value`, by key.

use crate::text::Page;

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
