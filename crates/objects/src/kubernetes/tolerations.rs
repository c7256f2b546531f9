//! Tolerations: those of every daemon pod, and the taints that a toleration covers.

use crate::model::Toleration;
use crate::view::{TaintView, TolerationView, TolerationsView};
use crate::words::well_known::{TAINT_NOT_READY, TAINT_UNREACHABLE};

/// The tolerations of every daemon pod (v1.36 `util.AddOrUpdateDaemonPodTolerations`).
pub fn daemon_toleration_list(host_network: bool) -> impl Iterator<Item = Toleration> {
    const ALWAYS: [(&str, &str); 6] = [
        (TAINT_NOT_READY, "NoExecute"),
        (TAINT_UNREACHABLE, "NoExecute"),
        ("node.kubernetes.io/disk-pressure", "NoSchedule"),
        ("node.kubernetes.io/memory-pressure", "NoSchedule"),
        ("node.kubernetes.io/pid-pressure", "NoSchedule"),
        ("node.kubernetes.io/unschedulable", "NoSchedule"),
    ];
    const WITH_HOST_NETWORK: (&str, &str) = ("node.kubernetes.io/network-unavailable", "NoSchedule");
    let all = ALWAYS.into_iter().chain(host_network.then_some(WITH_HOST_NETWORK));
    all.map(|(key, effect)| Toleration {
        key: key.to_owned(),
        operator: "Exists".to_owned(),
        value: String::new(),
        effect: effect.to_owned(),
    })
}

/// Whether one of the tolerations covers the taint.
#[inline]
pub fn tolerated<'t>(taint: impl Into<TaintView<'t>>, tolerations: &[Toleration]) -> bool {
    let taint = taint.into();
    tolerations.iter().any(|toleration| tolerates(toleration.into(), taint))
}

/// Whether one of a pod's own tolerations covers the taint.
#[inline]
pub fn tolerated_by_pod(taint: TaintView<'_>, own: TolerationsView<'_>) -> bool {
    own.iter().any(|toleration| tolerates(toleration, taint))
}

/// v1.36 `core/v1 Toleration.ToleratesTaint`; an empty key matches every key, an empty effect every effect.
#[inline]
fn tolerates(toleration: TolerationView<'_>, taint: TaintView<'_>) -> bool {
    if !toleration.effect.is_empty() && toleration.effect != taint.effect {
        return false;
    }
    if !toleration.key.is_empty() && toleration.key != taint.key {
        return false;
    }
    match toleration.operator {
        "" | "Equal" => toleration.value == taint.value,
        "Exists" => true,
        _ => false,
    }
}
