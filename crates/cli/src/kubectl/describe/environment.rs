//! Environment variables of a container and their sources.

use crate::kubectl::text::Page;
use daemonset_apiserver::json::{flag, list, member, text};
use daemonset_apiserver::quantity::Quantity;
use serde_json::Value;

/// v1.36 kubectl `describe.go describeContainerEnvFrom, describeContainerEnvVars`.
pub(super) fn environment(page: &mut Page, container: &Value) {
    let sources = list(container, "envFrom");
    if !sources.is_empty() {
        page.write(2, "Environment Variables from:\n");
    }
    for source in sources {
        page.write(3, &all_of(source));
    }
    let variables = list(container, "env");
    let none = if variables.is_empty() { "\t<none>" } else { "" };
    page.write(2, &format!("Environment:{none}\n"));
    for variable in variables {
        match member(variable, "valueFrom") {
            None => value(page, variable),
            Some(source) => {
                if let Some(described) = one_of(source, container) {
                    page.write(3, &format!("{}:\t{described}\n", text(variable, "name")));
                }
            }
        }
    }
}

fn value(page: &mut Page, variable: &Value) {
    for (index, line) in text(variable, "value").split('\n').enumerate() {
        let name = if index == 0 { format!("{}:", text(variable, "name")) } else { String::new() };
        page.write(3, &format!("{name}\t{line}\n"));
    }
}

/// All variables of a config map or secret.
fn all_of(source: &Value) -> String {
    let found = [("configMapRef", "ConfigMap"), ("secretRef", "Secret")]
        .into_iter()
        .find_map(|(key, kind)| member(source, key).map(|object| (object, kind)));
    let (object, kind) = found.unwrap_or((&Value::Null, ""));
    let prefix = match text(source, "prefix") {
        "" => String::new(),
        prefix => format!(" with prefix '{prefix}'"),
    };
    format!("{}\t{kind}{prefix}\tOptional: {}\n", text(object, "name"), flag(object, "optional"))
}

/// The source of one variable; `None` for a source that kubectl does not know.
fn one_of(source: &Value, container: &Value) -> Option<String> {
    if let Some(field) = member(source, "fieldRef") {
        Some(format!(" ({}:{})", text(field, "apiVersion"), text(field, "fieldPath")))
    } else if let Some(field) = member(source, "resourceFieldRef") {
        Some(format!("{} ({})", resource_field(field, container), text(field, "resource")))
    } else if let Some(key) = member(source, "secretKeyRef") {
        Some(key_of("in secret", key))
    } else {
        member(source, "configMapKeyRef").map(|key| key_of("of config map", key))
    }
}

fn key_of(whose: &str, source: &Value) -> String {
    let (key, name, optional) = (text(source, "key"), text(source, "name"), flag(source, "optional"));
    format!("<set to the key '{key}' {whose} '{name}'>\tOptional: {optional}")
}

/// The amount of a container's own resource in units of the divisor, rounded up; empty for an unknown resource (v1.36
/// kubectl `resource.go ExtractContainerResourceValue`). Without a limit a container may use all of its node.
fn resource_field(selector: &Value, container: &Value) -> String {
    let resource = text(selector, "resource");
    let value = amount(selector, container).unwrap_or_default();
    if value == "0" && ["limits.cpu", "limits.memory"].contains(&resource) {
        return "node allocatable".to_owned();
    }
    value
}

fn amount(selector: &Value, container: &Value) -> Option<String> {
    let (list, name) = text(selector, "resource").split_once('.')?;
    let known = ["cpu", "memory", "ephemeral-storage"].contains(&name) || name.starts_with("hugepages-");
    if !known || !["limits", "requests"].contains(&list) {
        return None;
    }
    let list = member(container, "resources").and_then(|resources| member(resources, list));
    let amount = quantity(list.and_then(|list| list.get(name)));
    let divisor = quantity(selector.get("divisor")).filter(|divisor| !divisor.is_zero());
    // CPU is counted in thousandths, all other resources in whole units.
    let (one, count): (i64, fn(&Quantity) -> i64) =
        if name == "cpu" { (1000, Quantity::thousandths) } else { (1, Quantity::units) };
    let amount = amount.map_or(0, |amount| count(&amount));
    let divisor = divisor.map_or(one, |divisor| count(&divisor));
    quotient(amount, divisor).map(|value| value.to_string())
}

fn quantity(value: Option<&Value>) -> Option<Quantity> {
    value.and_then(|value| Quantity::from_json(value).ok())
}

/// The quotient, rounded up; `None` for a divisor of 0.
fn quotient(amount: i64, divisor: i64) -> Option<i64> {
    let (whole, rest) = (amount.checked_div(divisor)?, amount.checked_rem(divisor)?);
    // Integer division truncates toward zero, so only a positive quotient must be raised.
    Some(if rest != 0 && (rest < 0) == (divisor < 0) { whole.saturating_add(1) } else { whole })
}
