//! Whether a new pod fits on its node, added up apart from the planner, one resource after the other.

use crate::fleet::context::Context;
use crate::kind::ViolationKind;
use daemonset::internal::NodeIx;
use daemonset::internal::quantity::amount;
use daemonset::model::{Container, PodSpec, ResourceList, Resources};
use daemonset::policy::FitPolicy;
use serde::Deserialize;
use std::collections::BTreeSet;

/// A Ready pod whose successor does not fit stays.
pub(crate) fn waits(context: &Context<'_>, node: NodeIx) -> Option<ViolationKind> {
    lacking(context, node).map(|resource| ViolationKind::DoesNotFit { resource })
}

/// The first resource, by name, of which the pod of a node's goal requests more than the node has once its own pods are gone. `None` where
/// the policy does not ask, nothing is known of the node, or the template can't be read.
fn lacking(context: &Context<'_>, node: NodeIx) -> Option<String> {
    let snapshot = context.snapshot;
    if snapshot.spec().policy.fit != FitPolicy::Hold {
        return None;
    }
    let free = snapshot.node(node).free?;
    let goal = PodSpec::deserialize(context.goal_of(node).template.get("spec")?).ok()?;
    let own: Vec<_> = context.live_pods_of(node).map(|pod| pod.object.model()).collect();
    let lacks = |resource: &&str| {
        let has_some = matches!(*resource, "cpu" | "memory" | "ephemeral-storage" | "pods");
        let left = match written(free, resource) {
            None if has_some => return false,
            left => left.unwrap_or(0),
        };
        let given_back = own.iter().map(|pod| requested(&pod.spec, resource));
        requested(&goal, resource) > given_back.fold(left, i128::saturating_add)
    };
    resources(&goal).into_iter().find(lacks).map(str::to_owned)
}

fn written(list: &ResourceList, resource: &str) -> Option<i128> {
    amount(&list.get(resource)?.0)
}

/// The resources that a pod names, and its place on the node.
fn resources(pod: &PodSpec) -> BTreeSet<&str> {
    let containers = pod.containers.iter().chain(&pod.init_containers).map(|container| &container.resources);
    let lists = containers.chain([&pod.resources]).flat_map(|own| [&own.requests, &own.limits]);
    let named = lists.chain([&pod.overhead]).flat_map(|list| list.keys()).map(String::as_str);
    named.chain(["pods"]).collect()
}

/// How much of a resource the scheduler reserves for a pod (v1.36 `component-helpers/resource PodRequests`).
fn requested(pod: &PodSpec, resource: &str) -> i128 {
    // A limit without a request is the request.
    let of = |own: &Resources| written(&own.requests, resource).or_else(|| written(&own.limits, resource));
    let of_container = |container: &Container| of(&container.resources).unwrap_or(0);
    let at_last = pod.containers.iter().map(of_container).fold(0, i128::saturating_add);
    // The sidecars that have started, and the most that runs at once before the containers do.
    let (mut sidecars, mut at_first) = (0_i128, 0);
    for container in &pod.init_containers {
        let at_once = sidecars.saturating_add(of_container(container));
        at_first = at_once.max(at_first);
        if container.restart_policy == "Always" {
            sidecars = at_once;
        }
    }
    let is_of_whole_pod = matches!(resource, "cpu" | "memory") || resource.starts_with("hugepages-");
    let whole = of(&pod.resources).filter(|_| is_of_whole_pod);
    let containers = at_last.saturating_add(sidecars).max(at_first);
    let place = if resource == "pods" { amount("1") } else { None };
    let beside = [written(&pod.overhead, resource), place].into_iter().flatten();
    beside.fold(whole.unwrap_or(containers), i128::saturating_add)
}
