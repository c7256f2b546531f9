//! Checks the input of a snapshot, field by field.

use crate::input::lookup::Lookup;
use crate::input::memory::Memory;
use crate::input::spec::Spec;
use crate::input::template::Template;
use crate::input::{DaemonTolerations, Policy};
use crate::position::{Neutral, NodeIx, PodIx, Position, RevisionIx, at, enumerate};
use daemonset_objects::internal::{Problems, lookup_hash};
use daemonset_objects::kubernetes::Selector;
use daemonset_objects::kubernetes::names::{is_dns_label, is_dns_subdomain, is_label_key};
use daemonset_objects::kubernetes::well_known::{TEMPLATE_GENERATION_ANNOTATION, TEMPLATE_GENERATION_LABEL};
use daemonset_objects::model::{DaemonSet, Owner, Toleration};
use daemonset_objects::{NodeView, PodView, Problem, RevisionView};
use serde_json::Value;
use std::hash::Hash;

pub(crate) fn metadata(ds: &DaemonSet, problems: &mut Problems) {
    owner(&ds.owner, problems);
    problems.require(&ds.metadata.name, "metadata.name");
    problems.require(&ds.metadata.namespace, "metadata.namespace");
    problems.require(ds.metadata.uid.as_str(), "metadata.uid");
    let not_negative = "must be greater than or equal to 0";
    if ds.spec.min_ready_seconds < 0 {
        problems.add(Problem::invalid("spec.minReadySeconds", ds.spec.min_ready_seconds, not_negative));
    }
    if let Some(limit @ ..0) = ds.spec.revision_history_limit {
        problems.add(Problem::invalid("spec.revisionHistoryLimit", limit, not_negative));
    }
}

/// A memory is of one DaemonSet. Another one may have taken its name: its nodes would wait for pods that nobody creates.
pub(crate) fn memory(memory: Option<&Memory>, ds: &DaemonSet, problems: &mut Problems) {
    let of = memory.and_then(|memory| memory.uid.as_ref());
    if let Some(other) = of.filter(|of| **of != ds.metadata.uid) {
        let must = format!(
            "must be the DaemonSet's, {:?}: reset the driver for another one",
            ds.metadata.uid.as_str()
        );
        problems.add(Problem::invalid("memory.uid", other.as_str(), &must));
    }
}

/// The kind must be that of the driver. Only the caller knows the kind of an object that it builds itself: said in two places, it is not
/// forgotten in silence.
pub(crate) fn kind(found: &Owner, driver: &Owner, problems: &mut Problems) {
    let named = |owner: &Owner| format!("{} {}", owner.api_version, owner.kind);
    if (&found.api_version, &found.kind) != (&driver.api_version, &driver.kind) {
        let remedy = if driver.is_daemon_set() {
            "with_kind makes a driver of another one"
        } else {
            "the object's apiVersion and kind name it, or DaemonSet::owner"
        };
        let must = format!("must be the driver's, {}: {remedy}", named(driver));
        problems.add(Problem::invalid("kind", named(found), &must));
    } else if found.plural != driver.plural {
        let must = format!("must be the driver's, {}", driver.plural);
        problems.add(Problem::invalid("plural", &found.plural, &must));
    }
}

/// The kind must be one that can exist: the garbage collector deletes each pod whose owner does not.
fn owner(owner: &Owner, problems: &mut Problems) {
    let Owner { api_version, kind, plural, .. } = owner;
    problems.require(api_version, "apiVersion");
    problems.require(kind, "kind");
    let (group, version) = match api_version.split_once('/') {
        Some((group, version)) => (is_dns_subdomain(group), version),
        None => (true, api_version.as_str()),
    };
    let valid = group && is_dns_label(version);
    if !(api_version.is_empty() || valid) {
        problems.add(Problem::invalid("apiVersion", api_version, "must be group and version, as apps/v1"));
    }
    if !kind.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        problems.add(Problem::invalid("kind", kind, "must consist of letters and digits"));
    }
    if !kind.is_empty() && !is_dns_label(plural) {
        problems.add(Problem::invalid("plural", plural, "must be a DNS label, as daemonsets"));
    }
}

/// The selector; its requirements that can't be used are problems.
pub fn selector<'a>(ds: &'a DaemonSet, problems: &mut Problems) -> Selector<'a> {
    match &ds.spec.selector {
        Some(selector) => Selector::compile(selector, "spec.selector", problems),
        None => {
            problems.add(Problem::required("spec.selector"));
            Selector::default()
        }
    }
}

/// The parsed template; its labels must match the selector.
pub fn template(raw: &Value, selector: &Selector<'_>, problems: &mut Problems) -> Template {
    let before = problems.len();
    let template = Template::parse(raw, problems);
    // Stored revisions have this member beside those of the template: no revision would ever equal a template with it.
    if let Some(directive) = raw.get("$patch").filter(|directive| !directive.is_null()) {
        let must = "must be absent: it belongs to the patch that a revision holds";
        problems.add(Problem::invalid("spec.template.$patch", format_args!("{directive}"), must));
    }
    let readable = problems.len() == before && !selector.is_empty();
    if readable && !selector.matches(&template.metadata.labels) {
        let path = "spec.template.metadata.labels";
        let must = "must match spec.selector, or each created pod would be released at once";
        problems.add(Problem::invalid(path, &template.metadata.labels, must));
    }
    template
}

/// A selector must not require labels that change with each template: new pods would not match, would be released, and
/// others would be created in their place, again and again.
pub(crate) fn changing_labels(ds: &DaemonSet, policy: &Policy, problems: &mut Problems) {
    let Some(selector) = &ds.spec.selector else { return };
    let changes = |key: &str| key == policy.unique_label_key || key == TEMPLATE_GENERATION_LABEL;
    let must = "must not be asked for: its value changes with each template";
    for (key, _) in selector.match_labels.iter().filter(|(key, _)| changes(key)) {
        problems.add(Problem::invalid(format!("spec.selector.matchLabels.{key}"), key, must));
    }
    for (index, requirement) in selector.match_expressions.iter().enumerate() {
        if changes(&requirement.key) {
            let path = format!("spec.selector.matchExpressions[{index}].key");
            problems.add(Problem::invalid(path, &requirement.key, must));
        }
    }
}

pub(crate) fn policy(policy: &Policy, problems: &mut Problems) {
    let (key, path) = (&policy.unique_label_key, "policy.uniqueLabelKey");
    if key == TEMPLATE_GENERATION_LABEL {
        let must = "must not be the label of the template generation, which would overwrite the hash";
        problems.add(Problem::invalid(path, key, must));
    } else if !key.is_empty() && !is_label_key(key) {
        let must = "must be a label key, or the API server would refuse whatever carries it";
        problems.add(Problem::invalid(path, key, must));
    }
    problems.require(key, path);
    if policy.burst == 0 {
        problems.add(Problem::invalid("policy.burst", 0, "must be at least 1"));
    }
    priority_class(policy, problems);
    if let DaemonTolerations::Given(list) = &policy.daemon_tolerations {
        for (index, toleration) in list.iter().enumerate() {
            given_toleration(toleration, &format!("policy.daemonTolerations.Given[{index}]"), problems);
        }
    }
}

/// The API server would refuse each pod that gets the class (v1.36 `core/validation ValidatePriorityClassName`), and the update would take
/// pods that do not come back. An empty name is none.
pub(crate) fn priority_class(policy: &Policy, problems: &mut Problems) {
    let class = policy.priority_class_name.as_deref().unwrap_or_default();
    if !class.is_empty() && !is_dns_subdomain(class) {
        problems.add(Problem::invalid("policy.priorityClassName", class, "must be a DNS subdomain"));
    }
}

/// The API server would refuse each pod with such a toleration (v1.36 `core/validation ValidateTolerations`).
fn given_toleration(toleration: &Toleration, path: &str, problems: &mut Problems) {
    let Toleration { key, operator, value, effect } = toleration;
    let mut invalid = |field: &str, found: &str, must: &str| {
        problems.add(Problem::invalid(format!("{path}.{field}"), found, must));
    };
    if !key.is_empty() && !is_label_key(key) {
        invalid("key", key, "must be a label key");
    }
    match operator.as_str() {
        "Exists" if !value.is_empty() => invalid("value", value, "must be empty with operator Exists"),
        "" | "Equal" if key.is_empty() => {
            invalid("operator", operator, "must be Exists where the key is empty")
        }
        "" | "Equal" | "Exists" => {}
        _ => invalid("operator", operator, "must be Equal or Exists"),
    }
    if !["", "NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&effect.as_str()) {
        invalid("effect", effect, "must be NoSchedule, PreferNoSchedule or NoExecute");
    }
}

/// The template generation, in the form of a pod's label. One that does not parse never matches and is never written
/// (v1.36 `util.GetTemplateGeneration`).
pub fn template_generation(ds: &DaemonSet) -> Option<String> {
    let generation = match ds.metadata.annotations.get(TEMPLATE_GENERATION_ANNOTATION) {
        Some(text) => text.parse().ok(),
        None => ds.spec.template_generation,
    };
    generation.map(|number: i64| number.to_string())
}

/// Returns the positions of the nodes, by their names.
pub(crate) fn nodes<'a>(nodes: &[NodeView<'a>], problems: &mut Problems) -> Lookup<&'a str, NodeIx> {
    let mut names = Unique::new("nodes", "metadata.name", nodes, |node| node.name);
    for (position, node) in enumerate(nodes) {
        names.see(position, node, node.name, problems);
    }
    names.seen
}

pub(crate) fn pods(pods: &[PodView<'_>], problems: &mut Problems) {
    identities::<PodIx, _>("pods", pods, |pod| (pod.namespace, pod.name, pod.uid), problems);
}

pub(crate) fn revisions(revisions: &[RevisionView<'_>], problems: &mut Problems) {
    identities::<RevisionIx, _>("revisions", revisions, |own| (own.namespace, own.name, own.uid), problems);
}

/// Each object of a list has a namespace, a name and a uid, and no other one has the same.
fn identities<'l, I: Position, T: Neutral>(
    list: &'static str,
    objects: &'l [T],
    identity: impl Fn(&'l T) -> (&'l str, &'l str, &'l str),
    problems: &mut Problems,
) {
    let named = |object| {
        let (namespace, name, _) = identity(object);
        (namespace, name)
    };
    let mut names = Unique::new(list, "metadata.name", objects, named);
    let mut uids = Unique::new(list, "metadata.uid", objects, |object| identity(object).2);
    for (position, object) in enumerate::<I, _>(objects) {
        let (namespace, name, uid) = identity(object);
        if namespace.is_empty() {
            problems.add(Problem::required(format!("{list}[{}].metadata.namespace", position.index())));
        }
        names.see(position, object, name, problems);
        uids.see(position, object, uid, problems);
    }
}

/// `unreadable-revision`: one that the DaemonSet owns, or would adopt, must be readable. Without its data, it may be the current
/// one or not: to create another one in its place would give its pods a new hash, and so restart the whole fleet. The path has its
/// name, so that the problem reads the same whatever the order of the list.
pub(crate) fn readable_data(spec: &Spec<'_>, revisions: &[RevisionView<'_>], problems: &mut Problems) {
    for revision in revisions.iter().filter(|revision| !spec.can_read(revision)) {
        let path = format!("revisions[{}].data", revision.name);
        let must = "must be JSON that can be read: nothing is done until this revision is deleted";
        problems.add(Problem::invalid(path, format_args!("null"), must));
    }
}

/// Finds missing and repeated values in a field of a list.
struct Unique<'l, T, K, I, F> {
    list: &'static str,
    field: &'static str,
    elements: &'l [T],
    /// Equal for two elements only by mistake.
    key: F,
    seen: Lookup<K, I>,
}

impl<'l, T: Neutral, I: Position, K: Hash + Ord + Copy, F: Fn(&'l T) -> K> Unique<'l, T, K, I, F> {
    fn new(list: &'static str, field: &'static str, elements: &'l [T], key: F) -> Self {
        Unique { list, field, elements, key, seen: Lookup::with_capacity(elements.len()) }
    }

    #[inline]
    fn see(&mut self, position: I, element: &'l T, value: &str, problems: &mut Problems) {
        let Unique { list, field, elements, key, seen } = self;
        let path = |position: I| format!("{list}[{}].{field}", position.index());
        if value.is_empty() {
            problems.add(Problem::required(path(position)));
            return;
        }
        let own = key(element);
        let has_same_key = |other| key(at(elements, other)) == own;
        if let Some(first) = seen.insert(lookup_hash(&own), own, position, has_same_key) {
            let first = format!("{list}[{}]", first.index());
            problems.add(Problem::duplicate(path(position), value, first));
        }
    }
}
