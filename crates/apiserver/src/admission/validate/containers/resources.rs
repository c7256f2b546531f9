//! Resource requirements of a container or a pod: names, amounts, and requests within their limits.

use super::resource_names::{self, Names, is_huge_pages, is_integer_resource, may_overcommit};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::Pod;
use crate::admission::validate::values;
use crate::json::{entries, list, text};
use crate::quantity::Quantity;
use serde_json::Value;
use std::collections::BTreeSet;

/// `requirements` has `limits`, `requests` and `claims`. Go iterates over a map in random order; here the order is by
/// name (v1.36 core/validation `validateResourceRequirements`).
pub(in crate::admission::validate) fn resource_requirements(
    requirements: &Value,
    names: Names,
    pod: &Pod<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    for (name, amount) in amounts(requirements, "limits") {
        let path = path.child("limits");
        let path = path.key(name);
        resource_names::resource_name(name, names, &path, errors);
        quantity_value(name, &amount, &path, errors);
        whole_pages(name, &amount, pod, &path, errors);
    }
    for (name, amount) in amounts(requirements, "requests") {
        let at = path.child("requests");
        let at = at.key(name);
        resource_names::resource_name(name, names, &at, errors);
        quantity_value(name, &amount, &at, errors);
        request_within_limit(name, &amount, requirements, path, errors);
        whole_pages(name, &amount, pod, &at, errors);
    }
    pages_come_with_memory(requirements, path, errors);
    claims(requirements, pod, &path.child("claims"), errors);
}

fn amounts<'a>(requirements: &'a Value, list: &str) -> impl Iterator<Item = (&'a str, Quantity)> {
    entries(requirements, list).filter_map(|(name, amount)| Some((name, Quantity::from_json(amount).ok()?)))
}

/// v1.36 core/validation `ValidateResourceQuantityValue`.
pub(in crate::admission::validate) fn quantity_value(
    name: &str,
    amount: &Quantity,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    if amount.is_negative() {
        errors.invalid(path, amount.to_string().as_str(), "must be greater than or equal to 0");
    }
    if is_integer_resource(name) && !amount.is_integer() {
        errors.invalid(path, amount.to_string().as_str(), "must be an integer");
    }
}

/// v1.36 core/validation `validateResourceQuantityHugePageValue`.
fn whole_pages(name: &str, amount: &Quantity, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if is_huge_pages(name) && !pod.options.allow_indivisible_huge_pages && !is_divisible(name, amount) {
        let detail = format!("{amount} is not positive integer multiple of {name}");
        errors.invalid(path, amount.to_string().as_str(), detail);
    }
}

/// An amount beyond 64 bits counts as 0 (v1.36 core/helper `IsHugePageResourceValueDivisible`).
pub(in crate::admission::validate) fn is_divisible(name: &str, amount: &Quantity) -> bool {
    let size = name.strip_prefix("hugepages-").and_then(|size| Quantity::parse(size).ok());
    let size = size.filter(Quantity::is_integer).and_then(|size| size.to_whole()).filter(|size| *size > 0);
    let amount = amount.to_whole().and_then(|amount| i64::try_from(amount).ok()).unwrap_or_default();
    size.is_some_and(|size| i128::from(amount) % size == 0)
}

/// Errors about a request name the list of requests, not the entry.
fn request_within_limit(
    name: &str,
    request: &Quantity,
    requirements: &Value,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let limit = amounts(requirements, "limits").find(|(limited, _)| *limited == name);
    let (at, printed) = (path.child("requests"), request.to_string());
    match limit {
        None if may_overcommit(name) => {}
        None => errors.required(&path.child("limits"), "Limit must be set for non overcommitable resources"),
        Some((_, limit)) if *request != limit && !may_overcommit(name) => {
            errors.invalid(&at, printed.as_str(), format!("must be equal to {name} limit of {limit}"));
        }
        Some((_, limit)) if *request > limit => {
            let detail = format!("must be less than or equal to {name} limit of {limit}");
            errors.invalid(&at, printed.as_str(), detail);
        }
        Some(_) => {}
    }
}

fn pages_come_with_memory(requirements: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let names: Vec<&str> = ["limits", "requests"]
        .into_iter()
        .flat_map(|list| entries(requirements, list))
        .map(|(name, _)| name)
        .collect();
    let memory = names.iter().any(|name| ["cpu", "memory"].contains(name));
    if !memory && names.iter().any(|name| is_huge_pages(name)) {
        errors.forbidden(path, "HugePages require cpu or memory");
    }
}

/// v1.36 core/validation `validateResourceClaimNames`.
fn claims(requirements: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let mut named = BTreeSet::new();
    for (position, claim) in list(requirements, "claims").iter().enumerate() {
        let (name, path) = (text(claim, "name"), path.index(position));
        if name.is_empty() {
            errors.required(&path, "");
            continue;
        }
        claimed_once(name, text(claim, "request"), &mut named, &path, errors);
        if !pod.claims.contains(name) {
            let names: Vec<&str> = pod.claims.iter().copied().collect();
            let known = match names.as_slice() {
                [] => " which is empty".to_owned(),
                names => format!(": {}", names.join(", ")),
            };
            let detail = format!("must be one of the names in pod.spec.resourceClaims{known}");
            errors.not_found(&path, name, &detail);
        }
    }
}

/// Each claim occurs once: as a whole, or once for each of its requests.
fn claimed_once(
    name: &str,
    request: &str,
    named: &mut BTreeSet<String>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    if named.contains(name) {
        return errors.duplicate(path, name);
    }
    if !request.is_empty() {
        values::dns_label(request, &path.child("request"), errors);
    }
    let key = if request.is_empty() { name.to_owned() } else { format!("{name}/{request}") };
    let overlaps =
        |key: &&String| request.is_empty() && key.split_once('/').is_some_and(|(of, _)| of == name);
    if named.contains(&key) {
        errors.duplicate(path, key.as_str());
    } else {
        for _ in named.iter().filter(overlaps) {
            errors.duplicate(path, name);
        }
    }
    named.insert(key);
}
