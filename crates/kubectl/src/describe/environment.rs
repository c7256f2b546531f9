//! Environment variables of a container, and where they come from.

use super::resource_fields::resource_field;
use crate::text::Page;
use daemonset_apiserver::fields::{flag, list, member, text};
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
                if let Some(told) = one_of(source, container) {
                    page.write(3, &format!("{}:\t{told}\n", text(variable, "name")));
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

/// Where one variable comes from; nothing is told of sources that kubectl does not know.
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
