//! Amounts of resources, and how many a pod requests.

use crate::kubernetes::quantity_text::{QuantityText, QuantityUnit};
use crate::model::{Container, Pod, ResourceList, Resources};
use std::collections::BTreeMap;

/// Amounts by the names of resources, in billionths.
pub type Amounts<'a> = BTreeMap<&'a str, i128>;

/// Billionths in one: the least unit of a quantity (v1.36 `apimachinery/pkg/api/resource Nano`).
pub(crate) const ONE: i128 = 1_000_000_000;

/// Far beyond each quantity of the API (63 bits before the point), and so that a thousand of them can be added.
const MOST: i128 = i128::MAX >> 16;

/// The amount of a quantity in billionths, rounded up; `None` for a text that is no quantity (v1.36 `resource.ParseQuantity`).
pub fn amount(quantity: &str) -> Option<i128> {
    let text = QuantityText::split(quantity).filter(|text| text.has_digits)?;
    let ten_to = |exponent: i64| -> Option<(i128, i128)> {
        let exponent = i32::try_from(exponent).ok()?;
        let size = 10_i128.checked_pow(exponent.unsigned_abs()).unwrap_or(MOST);
        Some(if exponent < 0 { (1, size) } else { (size, 1) })
    };
    let (multiply, divide) = match text.unit()? {
        QuantityUnit::PowerOfTwo(exponent) => (1 << exponent, 1),
        QuantityUnit::PowerOfTen(exponent) | QuantityUnit::Exponent(exponent) => ten_to(exponent)?,
    };
    let mut amount: i128 = 0;
    for digit in text.digits() {
        amount = amount.saturating_mul(10).saturating_add(i128::from(digit - b'0')).min(MOST);
    }
    // As a fraction of two numbers, so that it is rounded once.
    let digits = u32::try_from(text.decimals.len()).ok()?;
    let divide = 10_i128.checked_pow(digits).and_then(|power| power.checked_mul(divide)).unwrap_or(MOST);
    let scaled = amount.checked_mul(multiply).and_then(|scaled| scaled.checked_mul(ONE));
    let magnitude =
        scaled.map_or(MOST, |scaled| scaled / divide + i128::from(scaled % divide != 0)).min(MOST);
    Some(if text.is_negative { -magnitude } else { magnitude })
}

/// An amount in billionths as people write it, rounded up to thousandths: `1500m`, `2Gi`.
pub fn text(amount: i128) -> String {
    const KIBI: i128 = 1024;
    let units = amount / ONE;
    if amount % ONE != 0 {
        let thousandth = ONE / 1000;
        return format!("{}m", amount / thousandth + i128::from(amount % thousandth > 0));
    }
    // No node has as many cores or devices.
    let binary = [("Gi", KIBI.pow(3)), ("Mi", KIBI.pow(2)), ("Ki", KIBI)];
    match binary.into_iter().find(|(_, size)| units.abs() >= KIBI.pow(2) && units % size == 0) {
        Some((suffix, size)) => format!("{}{suffix}", units / size),
        None => units.to_string(),
    }
}

/// The requests of a pod as the scheduler counts them, with one of `pods` (v1.36 `component-helpers/resource PodRequests`).
pub fn pod_requests(pod: &Pod) -> Amounts<'_> {
    let spec = &pod.spec;
    let mut total = Amounts::new();
    for container in &spec.containers {
        add(&mut total, &requests(&container.resources));
    }
    // Sidecars that have started run beside each later init container, and beside the containers.
    let mut sidecars = Amounts::new();
    let mut initial = Amounts::new();
    for container in &spec.init_containers {
        let own = requests(&container.resources);
        let mut at_once = sidecars.clone();
        add(&mut at_once, &own);
        raise(&mut initial, &at_once);
        if is_sidecar(container) {
            sidecars = at_once;
        }
    }
    add(&mut total, &sidecars);
    raise(&mut total, &initial);
    // Resources of the whole pod take the place of the containers'.
    for (resource, amount) in requests(&spec.resources) {
        if matches!(resource, "cpu" | "memory") || resource.starts_with("hugepages-") {
            total.insert(resource, amount);
        }
    }
    add(&mut total, &amounts(&spec.overhead));
    *total.entry("pods").or_default() += ONE;
    total
}

fn is_sidecar(container: &Container) -> bool {
    container.restart_policy == "Always"
}

/// A limit without a request is the request (v1.36 core `SetDefaults_Pod`).
fn requests(resources: &Resources) -> Amounts<'_> {
    let mut amounts_of = amounts(&resources.limits);
    amounts_of.extend(amounts(&resources.requests));
    amounts_of
}

/// The readable quantities.
pub fn amounts(list: &ResourceList) -> Amounts<'_> {
    let readable =
        list.iter().filter_map(|(resource, quantity)| Some((resource.as_str(), amount(&quantity.0)?)));
    readable.collect()
}

fn add<'a>(total: &mut Amounts<'a>, more: &Amounts<'a>) {
    for (resource, amount) in more {
        let sum = total.entry(*resource).or_default();
        *sum = sum.saturating_add(*amount);
    }
}

fn raise<'a>(most: &mut Amounts<'a>, other: &Amounts<'a>) {
    for (resource, amount) in other {
        let most = most.entry(*resource).or_insert(*amount);
        *most = (*most).max(*amount);
    }
}
