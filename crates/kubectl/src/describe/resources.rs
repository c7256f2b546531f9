//! Limits and requests of a container.

use crate::fields::entries;
use crate::text::Page;
use daemonset_apiserver::quantity::Quantity;
use serde_json::Value;

/// By resource name, in Go's canonical form (v1.36 kubectl `describe.go describeResources`).
pub(super) fn resources(page: &mut Page, resources: &Value) {
    for (key, label) in [("limits", "Limits:\n"), ("requests", "Requests:\n")] {
        let amounts = entries(resources, key);
        if !amounts.is_empty() {
            page.write(2, label);
        }
        for (name, amount) in amounts {
            page.write(3, &format!("{name}:\t{}\n", canonical(amount)));
        }
    }
}

/// A quantity in canonical form; `0` for what is none.
pub(super) fn canonical(amount: &Value) -> String {
    Quantity::from_json(amount).map_or_else(|_| "0".to_owned(), |amount| amount.to_string())
}
