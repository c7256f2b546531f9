//! Borrowed statuses of a pod's containers, in the caller's form.

#[cfg(feature = "k8s-openapi")]
use crate::model::ContainerStatus;
use crate::model::{PodStatus, notable_containers as notable};
#[cfg(feature = "k8s-openapi")]
use k8s_openapi::api::core::v1 as core;

/// The containers and init containers of a pod, behind one pointer: a view of a pod is copied often, and few pods are in
/// trouble.
#[derive(Debug, Clone, Copy)]
pub enum ContainersView<'a> {
    /// Of the model, which keeps only those that have restarted or wait.
    Model(&'a PodStatus),
    /// Of k8s-openapi's types, which have all of them.
    #[cfg(feature = "k8s-openapi")]
    Typed(Option<&'a core::PodStatus>),
}

impl<'a> ContainersView<'a> {
    /// `status.reason` of the pod.
    #[inline]
    pub fn pod_reason(self) -> &'a str {
        match self {
            ContainersView::Model(status) => &status.reason,
            #[cfg(feature = "k8s-openapi")]
            ContainersView::Typed(status) => {
                status.and_then(|status| status.reason.as_deref()).unwrap_or_default()
            }
        }
    }

    /// Whether a container or an init container waits for a reason of this kind.
    pub fn any_waits(self, is_of_kind: impl Fn(&str) -> bool) -> bool {
        self.each().any(|(_, reason)| is_of_kind(reason))
    }

    /// The most restarts of a container or an init container.
    #[inline]
    pub fn most_restarts(self) -> u32 {
        let most = self.each().map(|(restarts, _)| restarts).max();
        u32::try_from(most.unwrap_or(0)).unwrap_or(0)
    }

    /// The first reason of this kind for which an init container or a container waits.
    pub fn first_waiting(self, is_of_kind: impl Fn(&str) -> bool) -> Option<&'a str> {
        self.each().map(|(_, reason)| reason).find(|reason| is_of_kind(reason))
    }

    /// The restarts of each init container and container, and the reason for which it waits.
    fn each(self) -> impl Iterator<Item = (i32, &'a str)> {
        let status = match self {
            ContainersView::Model(status) => Some(status),
            #[cfg(feature = "k8s-openapi")]
            ContainersView::Typed(_) => None,
        };
        let model = status.into_iter().flat_map(|status| {
            let containers = status.init_container_statuses.iter().chain(&status.container_statuses);
            containers.map(|container| (container.restart_count, container.waiting_reason.as_str()))
        });
        #[cfg(feature = "k8s-openapi")]
        let model = model.chain(self.typed().map(|own| (own.restart_count, waiting_reason(own))));
        model
    }

    /// The containers of k8s-openapi's types.
    #[cfg(feature = "k8s-openapi")]
    fn typed(self) -> impl Iterator<Item = &'a core::ContainerStatus> {
        let status = match self {
            ContainersView::Model(_) => None,
            ContainersView::Typed(status) => status,
        };
        let lists =
            status.into_iter().flat_map(|own| [&own.init_container_statuses, &own.container_statuses]);
        lists.flatten().flatten()
    }

    /// A status with the reason and the containers alone, as the model keeps them; `None` for an empty one.
    pub fn to_status(self) -> Option<PodStatus> {
        let (regular, init) = match self {
            ContainersView::Model(status) => {
                (notable(&status.container_statuses), notable(&status.init_container_statuses))
            }
            #[cfg(feature = "k8s-openapi")]
            ContainersView::Typed(status) => {
                let init = status.and_then(|status| status.init_container_statuses.as_deref());
                let regular = status.and_then(|status| status.container_statuses.as_deref());
                (notable_typed(regular), notable_typed(init))
            }
        };
        let reason = self.pod_reason();
        let is_empty = reason.is_empty() && regular.is_empty() && init.is_empty();
        (!is_empty).then(|| PodStatus {
            reason: reason.to_owned(),
            container_statuses: regular,
            init_container_statuses: init,
            ..PodStatus::default()
        })
    }
}

#[cfg(feature = "k8s-openapi")]
fn notable_typed(containers: Option<&[core::ContainerStatus]>) -> Vec<ContainerStatus> {
    let lean = containers.unwrap_or_default().iter().map(|container| ContainerStatus {
        restart_count: container.restart_count,
        waiting_reason: waiting_reason(container).to_owned(),
        ..ContainerStatus::default()
    });
    lean.filter(|container| !crate::model::is_default(container)).collect()
}

#[cfg(feature = "k8s-openapi")]
fn waiting_reason(container: &core::ContainerStatus) -> &str {
    let waiting = container.state.as_ref().and_then(|state| state.waiting.as_ref());
    waiting.and_then(|waiting| waiting.reason.as_deref()).unwrap_or_default()
}
