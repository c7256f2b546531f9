//! Ratcheting: an update may keep a value of the stored template that a new template could not have.

use super::affinity::{self, PREFERRED, REQUIRED};
use super::annotations::{DELETION_COST, is_deletion_cost};
use super::containers::resources::is_divisible;
use super::labels::{self, SelectorValues};
use super::options::ValidationOptions;
use super::pod::Pod;
use super::{spread, sysctls};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::json::{at, entries, field, flag, list, member, text, texts};
use crate::quantity::Quantity;
use crate::syntax::{label_value_errors, unreserved_path_errors};
use serde_json::Value;

/// The options for an update of this stored DaemonSet (v1.36 api/pod/util.go
/// `GetValidationOptionsFromPodSpecAndMeta`).
///
/// Kubernetes tightens validation from one minor version to the next, and feature gates go on and off. An object that
/// was stored under older rules must still accept an update of another field; otherwise not even the value that is
/// now invalid could be removed. So each of these rules is dropped for an update if, and only if, the stored template
/// breaks it already: once an object obeys a rule, it can't go back.
pub(super) fn options_of_stored(stored: &Value) -> ValidationOptions {
    let spec = field(stored, "spec");
    let template = field(spec, "template");
    let pod = Pod::new(field(template, "spec"), ValidationOptions::default());
    let selector = member(spec, "selector");
    ValidationOptions {
        allow_indivisible_huge_pages: has_indivisible_huge_pages(&pod),
        allow_non_local_token_path: has_non_local_token_path(&pod),
        allow_restart_of_ending_init: restarts_ending_init(&pod),
        allow_invalid_deletion_cost: has_invalid_deletion_cost(template),
        allow_invalid_selector_values: has_invalid_affinity_selector(pod.spec)
            || selector.is_some_and(has_invalid_label_value),
        allow_invalid_node_affinity_values: has_invalid_node_affinity_value(pod.spec),
        allow_invalid_spread_selector: has_invalid_spread_selector(&pod),
        allow_invalid_spread_label_keys: has_invalid_spread_label_keys(&pod),
        allow_host_sysctls: has_host_sysctl(&pod),
        allow_comparing_tolerations: compares_tolerations(&pod),
        allow_host_users_false_on_host_network: pod.host_network() && !pod.host_users(),
        allow_host_users_false_with_devices: !pod.host_users() && has_devices(&pod),
        allow_sys_admin_without_escalation: has_sys_admin_without_escalation(&pod),
        allow_empty_image_reference: has_empty_image_reference(&pod),
    }
}

/// v1.36 api/pod/util.go `usesIndivisibleHugePagesValues`.
fn has_indivisible_huge_pages(pod: &Pod<'_>) -> bool {
    let resources: Vec<&Value> =
        pod.containers().filter_map(|container| member(container.value, "resources")).collect();
    let lists = resources.iter().flat_map(|resources| ["limits", "requests"].map(|list| (*resources, list)));
    let lists = lists.chain([(pod.spec, "overhead")]);
    lists.flat_map(|(holder, list)| entries(holder, list)).any(|(name, amount)| {
        let amount = Quantity::from_json(amount);
        name.starts_with("hugepages-") && amount.is_ok_and(|amount| !is_divisible(name, &amount))
    })
}

/// v1.36 api/pod/util.go `hasNonLocalProjectedTokenPath`.
fn has_non_local_token_path(pod: &Pod<'_>) -> bool {
    let projected = list(pod.spec, "volumes").iter().filter_map(|volume| member(volume, "projected"));
    let tokens = projected
        .flat_map(|projected| list(projected, "sources"))
        .filter_map(|source| member(source, "serviceAccountToken"));
    tokens.map(|token| text(token, "path")).any(|path| !unreserved_path_errors(path).is_empty())
}

/// v1.36 api/pod/util.go `hasRestartContainerForNonSidecarInitContainer`.
fn restarts_ending_init(pod: &Pod<'_>) -> bool {
    list(pod.spec, "initContainers")
        .iter()
        .filter(|container| text(container, "restartPolicy") != "Always")
        .flat_map(|container| list(container, "resizePolicy"))
        .any(|policy| text(policy, "restartPolicy") == "RestartContainer")
}

fn has_invalid_deletion_cost(template: &Value) -> bool {
    let annotations = template.get("metadata").and_then(|meta| meta.get("annotations"));
    let cost = annotations.and_then(|annotations| annotations.get(DELETION_COST)).and_then(Value::as_str);
    cost.is_some_and(|cost| !is_deletion_cost(cost))
}

/// v1.36 api/pod/util.go `hasInvalidTopologySpreadConstraintLabelSelector`.
fn has_invalid_spread_selector(pod: &Pod<'_>) -> bool {
    has_errors(|path, errors| {
        for constraint in list(pod.spec, "topologySpreadConstraints") {
            let selector = member(constraint, "labelSelector");
            labels::selector(selector, SelectorValues::OfLabels, path, errors);
        }
    })
}

/// v1.36 api/pod/util.go `hasInvalidTopologySpreadConstrainMatchLabelKeys`.
fn has_invalid_spread_label_keys(pod: &Pod<'_>) -> bool {
    has_errors(|path, errors| {
        for constraint in list(pod.spec, "topologySpreadConstraints") {
            spread::label_keys(constraint, path, errors);
        }
    })
}

/// v1.36 api/pod/util.go `taintTolerationComparisonOperatorsInUse`.
fn compares_tolerations(pod: &Pod<'_>) -> bool {
    let operators = list(pod.spec, "tolerations").iter().map(|toleration| text(toleration, "operator"));
    operators.into_iter().any(|operator| matches!(operator, "Lt" | "Gt"))
}

fn has_devices(pod: &Pod<'_>) -> bool {
    pod.containers().any(|container| !list(container.value, "volumeDevices").is_empty())
}

/// A container that says nothing of its privileges counts, too (v1.37 api/pod/util.go
/// `hasSysAdminAndPrivilegeEscalationFalse`).
fn has_sys_admin_without_escalation(pod: &Pod<'_>) -> bool {
    pod.containers().filter_map(|container| member(container.value, "securityContext")).any(|context| {
        let add = member(context, "capabilities").into_iter().flat_map(|all| texts(all, "add"));
        !flag(context, "allowPrivilegeEscalation") && add.into_iter().any(|name| name == "CAP_SYS_ADMIN")
    })
}

/// v1.37 api/pod/util.go `hasEmptyImageVolumeReference`.
fn has_empty_image_reference(pod: &Pod<'_>) -> bool {
    let mut images = list(pod.spec, "volumes").iter().filter_map(|volume| member(volume, "image"));
    images.any(|image| text(image, "reference").is_empty())
}

/// v1.36 api/pod/util.go `hasInvalidLabelValueInAffinitySelector`.
fn has_invalid_affinity_selector(spec: &Value) -> bool {
    let affinity = field(spec, "affinity");
    has_errors(|path, errors| {
        for affinity in ["podAffinity", "podAntiAffinity"].iter().filter_map(|field| affinity.get(field)) {
            let preferred = list(affinity, PREFERRED).iter().filter_map(|term| term.get("podAffinityTerm"));
            for term in list(affinity, REQUIRED).iter().chain(preferred) {
                affinity::selectors(term, SelectorValues::OfLabels, path, errors);
            }
        }
    })
}

/// v1.36 api/pod/util.go `hasInvalidLabelValueInRequiredNodeAffinity`.
fn has_invalid_node_affinity_value(spec: &Value) -> bool {
    let required = at(spec, &["affinity", "nodeAffinity", REQUIRED]);
    list(required, "nodeSelectorTerms").iter().any(has_invalid_label_value)
}

/// Whether an expression has a value that no label can have (v1.36 meta/v1/validation
/// `LabelSelectorHasInvalidLabelValue`, core/helper `HasInvalidLabelValueInNodeSelectorTerms`).
fn has_invalid_label_value(selector: &Value) -> bool {
    list(selector, "matchExpressions")
        .iter()
        .flat_map(|requirement| texts(requirement, "values"))
        .any(|value| !label_value_errors(value).is_empty())
}

/// v1.36 api/pod/util.go `hasHostSysctls`.
fn has_host_sysctl(pod: &Pod<'_>) -> bool {
    sysctls::in_spec(pod).iter().any(|sysctl| sysctls::host_error(text(sysctl, "name"), pod).is_some())
}

/// Whether a rule reports an error for the stored object, at any path.
fn has_errors(rule: impl FnOnce(&FieldPath<'_>, &mut ErrorList)) -> bool {
    let mut errors = ErrorList::default();
    rule(&FieldPath::new("stored"), &mut errors);
    !errors.is_empty()
}
