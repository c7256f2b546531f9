//! What a container runs.

use crate::fields::texts;
use crate::text::Page;
use serde_json::Value;

/// Command and arguments, one line for each of theirs (v1.36 kubectl `describe.go describeContainerCommand`).
pub(super) fn commands(page: &mut Page, container: &Value) {
    for (key, label) in [("command", "Command:\n"), ("args", "Args:\n")] {
        let words = texts(container, key);
        if !words.is_empty() {
            page.write(2, label);
        }
        for line in words.into_iter().flat_map(|word| word.split('\n')) {
            page.write(3, &format!("{line}\n"));
        }
    }
}
