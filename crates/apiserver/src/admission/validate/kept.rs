//! What an update may keep because the stored template has it, although a new one could not.

use super::affinity;
use super::annotations::{DELETION_COST, is_deletion_cost};
use super::containers::resources::is_divisible;
use super::labels::{self, SelectorValues};
use super::pod::Pod;
use super::{spread, sysctls};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::fields::{entries, list, member, text};
use crate::quantity::Quantity;
use crate::syntax::unreserved_path_faults;
use serde_json::Value;

/// v1.36 api/pod/util.go `GetValidationOptionsFromPodSpecAndMeta`: each is false for a create, and for an update
/// when the stored template does without it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Kept {
    pub(super) indivisible_huge_pages: bool,
    pub(super) non_local_token_path: bool,
    pub(super) restart_of_ending_init: bool,
    pub(super) deletion_cost: bool,
    pub(super) values_in_selectors: bool,
    pub(super) values_in_node_affinity: bool,
    pub(super) spread_selector: bool,
    pub(super) spread_label_keys: bool,
    pub(super) sysctls_of_host: bool,
    pub(super) comparing_tolerations: bool,
    pub(super) users_on_host_network: bool,
    pub(super) users_with_devices: bool,
    pub(super) se_linux_change_policy: bool,
}

impl Kept {
    /// What this stored DaemonSet has.
    pub(super) fn of(stored: &Value) -> Self {
        let spec = stored.get("spec").unwrap_or(&Value::Null);
        let template = spec.get("template").unwrap_or(&Value::Null);
        let pod = Pod::new(template.get("spec").unwrap_or(&Value::Null), Kept::default());
        let selector = member(spec, "selector");
        Kept {
            indivisible_huge_pages: has_indivisible_huge_pages(&pod),
            non_local_token_path: has_non_local_token_path(&pod),
            restart_of_ending_init: restarts_ending_init(&pod),
            deletion_cost: has_bad_deletion_cost(template),
            values_in_selectors: affinity::has_bad_selector(pod.spec)
                || selector.is_some_and(labels::has_value_of_no_label),
            values_in_node_affinity: affinity::has_value_of_no_label(pod.spec),
            spread_selector: has_bad_spread_selector(&pod),
            spread_label_keys: has_bad_spread_label_keys(&pod),
            sysctls_of_host: sysctls::has_one_of_host(&pod),
            comparing_tolerations: compares_tolerations(&pod),
            users_on_host_network: pod.host_network() && !pod.host_users(),
            users_with_devices: !pod.host_users() && has_devices(&pod),
            se_linux_change_policy: has_se_linux_change_policy(&pod),
        }
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
    tokens.map(|token| text(token, "path")).any(|path| !unreserved_path_faults(path).is_empty())
}

/// v1.36 api/pod/util.go `hasRestartContainerForNonSidecarInitContainer`.
fn restarts_ending_init(pod: &Pod<'_>) -> bool {
    list(pod.spec, "initContainers")
        .iter()
        .filter(|container| text(container, "restartPolicy") != "Always")
        .flat_map(|container| list(container, "resizePolicy"))
        .any(|policy| text(policy, "restartPolicy") == "RestartContainer")
}

fn has_bad_deletion_cost(template: &Value) -> bool {
    let annotations = template.get("metadata").and_then(|meta| meta.get("annotations"));
    let cost = annotations.and_then(|annotations| annotations.get(DELETION_COST)).and_then(Value::as_str);
    cost.is_some_and(|cost| !is_deletion_cost(cost))
}

/// v1.36 api/pod/util.go `hasInvalidTopologySpreadConstraintLabelSelector`.
fn has_bad_spread_selector(pod: &Pod<'_>) -> bool {
    finds_fault(|path, errors| {
        for constraint in list(pod.spec, "topologySpreadConstraints") {
            let selector = member(constraint, "labelSelector");
            labels::selector(selector, SelectorValues::OfLabels, path, errors);
        }
    })
}

/// v1.36 api/pod/util.go `hasInvalidTopologySpreadConstrainMatchLabelKeys`.
fn has_bad_spread_label_keys(pod: &Pod<'_>) -> bool {
    finds_fault(|path, errors| {
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

fn has_se_linux_change_policy(pod: &Pod<'_>) -> bool {
    pod.security_context().is_some_and(|context| member(context, "seLinuxChangePolicy").is_some())
}

/// Whether a rule has something to say, wherever.
pub(super) fn finds_fault(rule: impl FnOnce(&FieldPath<'_>, &mut ErrorList)) -> bool {
    let mut errors = ErrorList::default();
    rule(&FieldPath::new("stored"), &mut errors);
    !errors.is_empty()
}
