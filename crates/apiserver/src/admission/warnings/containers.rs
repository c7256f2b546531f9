//! Containers, one by one.

use super::annotations::Annotated;
use super::{bytes, each_container};
use crate::admission::path::FieldPath;
use crate::go::quoted;
use crate::json::{list, member, text};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) fn containers(
    pod: &Value,
    annotated: &Annotated<'_>,
    path: &FieldPath<'_>,
    found: &mut Vec<String>,
) {
    each_container(pod, path, |container, path| {
        annotated.container_profiles(container, found);
        bytes::container(container, path, found);
        hidden_variables(container, path, found);
    });
}

/// Variables that replace one of the same name without using its value (kubernetes#86163, #93266, #58477).
fn hidden_variables(container: &Value, path: &FieldPath<'_>, found: &mut Vec<String>) {
    let mut names = BTreeSet::new();
    for (position, variable) in list(container, "env").iter().enumerate() {
        let (name, value) = (text(variable, "name"), text(variable, "value"));
        let reference = format!("$({name})");
        let uses_it =
            member(variable, "valueFrom").is_none() && value != reference && value.contains(&reference);
        if !names.insert(name) && !uses_it {
            let (path, name) = (path.child("env"), quoted(name));
            let path = path.index(position);
            found.push(format!(
                "{path}: hides previous definition of {name}, which may be dropped when using apply"
            ));
        }
    }
}
