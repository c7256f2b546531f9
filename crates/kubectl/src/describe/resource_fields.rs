//! A container's own resources as the value of an environment variable.

use daemonset_apiserver::fields::{member, text};
use daemonset_apiserver::quantity::Quantity;
use serde_json::Value;

/// The amount in units of the divisor, rounded up; empty for what is no resource that can be asked for
/// (v1.36 kubectl `resource.go ExtractContainerResourceValue`). Without a limit a container may take what its node has.
pub(super) fn resource_field(selector: &Value, container: &Value) -> String {
    let resource = text(selector, "resource");
    let value = value(selector, container).unwrap_or_default();
    if value == "0" && ["limits.cpu", "limits.memory"].contains(&resource) {
        return "node allocatable".to_owned();
    }
    value
}

fn value(selector: &Value, container: &Value) -> Option<String> {
    let (list, name) = text(selector, "resource").split_once('.')?;
    let known = ["cpu", "memory", "ephemeral-storage"].contains(&name) || name.starts_with("hugepages-");
    if !known || !["limits", "requests"].contains(&list) {
        return None;
    }
    let list = member(container, "resources").and_then(|resources| member(resources, list));
    let amount = quantity(list.and_then(|list| list.get(name)));
    let divisor = quantity(selector.get("divisor")).filter(|divisor| !divisor.is_zero());
    // CPU is counted in thousandths, all else in whole units.
    let (one, count): (i64, fn(&Quantity) -> i64) =
        if name == "cpu" { (1000, Quantity::thousandths) } else { (1, Quantity::units) };
    let amount = amount.map_or(0, |amount| count(&amount));
    let divisor = divisor.map_or(one, |divisor| count(&divisor));
    quotient(amount, divisor).map(|value| value.to_string())
}

fn quantity(value: Option<&Value>) -> Option<Quantity> {
    value.and_then(|value| Quantity::from_json(value).ok())
}

/// Rounded up.
fn quotient(amount: i64, divisor: i64) -> Option<i64> {
    let (whole, rest) = (amount.checked_div(divisor)?, amount.checked_rem(divisor)?);
    // What is cut off was above 0 when both have one sign.
    Some(if rest != 0 && (rest < 0) == (divisor < 0) { whole.saturating_add(1) } else { whole })
}
