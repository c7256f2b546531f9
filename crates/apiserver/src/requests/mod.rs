//! The resource requests of pods as the scheduler computes them, and their sums over the DaemonSets of a node.

#[cfg(feature = "placement")]
mod bounds;

#[cfg(feature = "placement")]
pub use bounds::{Bounds, bounds};

use crate::json::{entries, list, member, text};
use crate::quantity::{Quantity, QuantityError};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use thiserror::Error;

/// Amounts of resources by name. `pods`, the resource that each pod takes one of, is among them only in a sum.
///
/// It serializes as Kubernetes writes resource lists: an object of texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requests {
    amounts: BTreeMap<String, Quantity>,
}

/// A request that is no amount.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{path}: {error}")]
#[non_exhaustive]
pub struct UnreadableRequest {
    /// The field in the template: `spec.containers[0].resources.requests.cpu`.
    pub path: String,
    /// Why it is no amount.
    pub error: QuantityError,
}

impl Requests {
    /// The amount of a resource; `None` if nothing of it is requested.
    pub fn get(&self, resource: &str) -> Option<&Quantity> {
        self.amounts.get(resource)
    }

    /// Each resource with its amount, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Quantity)> {
        self.amounts.iter().map(|(name, amount)| (name.as_str(), amount))
    }

    /// Adds the amounts of another list.
    pub fn add(&mut self, other: &Requests) {
        for (name, amount) in &other.amounts {
            let sum = self.amounts.get(name).map_or_else(|| amount.clone(), |own| own.plus(amount));
            self.amounts.insert(name.clone(), sum);
        }
    }

    /// Raises each amount to that of another list.
    fn raise_to(&mut self, other: &Requests) {
        for (name, amount) in &other.amounts {
            if self.amounts.get(name).is_none_or(|own| own < amount) {
                self.amounts.insert(name.clone(), amount.clone());
            }
        }
    }
}

impl Serialize for Requests {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.amounts.iter().map(|(name, amount)| (name, amount.to_string())))
    }
}

/// The effective requests of a pod made from this template (v1.36 `component-helpers/resource helpers.go PodRequests`).
///
/// The sum of the containers and of the init containers with restartPolicy Always; at least the largest need of a moment
/// of initialization, which is an init container with those before it that keep running; the amounts of
/// `spec.resources` instead, where it has them; and the overhead on top. A limit without a request is one, as in a stored
/// pod (v1.36 `core/v1 defaults.go SetDefaults_Pod`). Amounts that come from elsewhere are not known here: a
/// LimitRange's defaults, the overhead of a RuntimeClass that the template does not repeat, and device claims.
///
/// ```
/// use daemonset_apiserver::requests::pod_requests;
/// use serde_json::json;
///
/// let requests = |cpu: &str| json!({"requests": {"cpu": cpu}});
/// let template = json!({"spec": {
///     "initContainers": [
///         {"name": "proxy", "restartPolicy": "Always", "resources": requests("100m")},
///         {"name": "setup", "resources": requests("1")},
///     ],
///     "containers": [{"name": "agent", "resources": requests("200m")}],
///     "overhead": {"cpu": "10m"},
/// }});
/// // While `setup` runs, the pod needs more than later.
/// assert_eq!(pod_requests(&template)?.get("cpu").unwrap().to_string(), "1110m");
/// # Ok::<(), daemonset_apiserver::requests::UnreadableRequest>(())
/// ```
///
/// # Errors
/// The first request that is no amount.
pub fn pod_requests(template: &Value) -> Result<Requests, UnreadableRequest> {
    let Some(spec) = member(template, "spec") else { return Ok(Requests::default()) };
    let mut sum = Requests::default();
    for (position, container) in list(spec, "containers").iter().enumerate() {
        sum.add(&of_container(container, &format!("spec.containers[{position}]"))?);
    }
    let (mut kept_running, mut most) = (Requests::default(), Requests::default());
    for (position, container) in list(spec, "initContainers").iter().enumerate() {
        let own = of_container(container, &format!("spec.initContainers[{position}]"))?;
        let mut now = kept_running.clone();
        now.add(&own);
        most.raise_to(&now);
        if text(container, "restartPolicy") == "Always" {
            sum.add(&own);
            kept_running = now;
        }
    }
    sum.raise_to(&most);
    if let Some(resources) = member(spec, "resources") {
        sum.replace_by_pod_level(resources)?;
    }
    sum.add(&amounts(spec, "overhead", "spec")?);
    Ok(sum)
}

impl Requests {
    /// The amounts of `spec.resources` go before the containers'. A limit without a request is one, too; of CPU and memory,
    /// which can be overcommitted, only where no container requests any (v1.36 `core/v1 defaults.go defaultPodRequests`).
    fn replace_by_pod_level(&mut self, resources: &Value) -> Result<(), UnreadableRequest> {
        for (name, amount) in amounts(resources, "limits", "spec.resources")?.amounts {
            let is_requested = matches!(name.as_str(), "cpu" | "memory") && self.amounts.contains_key(&name);
            if is_of_pod_level(&name) && !is_requested {
                self.amounts.insert(name, amount);
            }
        }
        let requests = amounts(resources, "requests", "spec.resources")?.amounts;
        self.amounts.extend(requests.into_iter().filter(|(name, _)| is_of_pod_level(name)));
        Ok(())
    }
}

/// v1.36 `component-helpers/resource helpers.go IsSupportedPodLevelResource`.
fn is_of_pod_level(resource: &str) -> bool {
    matches!(resource, "cpu" | "memory") || resource.starts_with("hugepages-")
}

/// The requests of a container, with the limits that lack a request.
fn of_container(owner: &Value, path: &str) -> Result<Requests, UnreadableRequest> {
    let Some(resources) = member(owner, "resources") else { return Ok(Requests::default()) };
    let path = format!("{path}.resources");
    let mut all = amounts(resources, "limits", &path)?;
    all.amounts.extend(amounts(resources, "requests", &path)?.amounts);
    Ok(all)
}

fn amounts(owner: &Value, field: &str, path: &str) -> Result<Requests, UnreadableRequest> {
    let mut amounts = BTreeMap::new();
    for (name, value) in entries(owner, field) {
        let unreadable = |error| UnreadableRequest { path: format!("{path}.{field}.{name}"), error };
        amounts.insert(name.to_owned(), Quantity::from_json(value).map_err(unreadable)?);
    }
    Ok(Requests { amounts })
}
