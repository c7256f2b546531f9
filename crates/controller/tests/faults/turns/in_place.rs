//! Pods that are changed in their place.

use super::{ends, events, fleet, give_rights, taken};
use crate::cluster::{CONTROLLER, Cluster};
use crate::faults::{Fault, Verb};
use crate::pods::image_of;
use crate::rollouts::{NEW, POLICY};
use crate::store::{Kind, text};
use daemonset_controller::rollout::policy::ProcessRole;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::sleep;

/// The policy comes after the pods, which the cache has without their containers.
async fn in_place(nodes: usize) -> Cluster {
    let cluster = fleet(nodes, 2, "inPlace: IfPossible").await;
    // Neither turns nor powers are asked for.
    give_rights(&cluster, &[]);
    cluster
}

fn uids(cluster: &Cluster) -> BTreeSet<String> {
    cluster.pods_of_agent().iter().map(|pod| text(&pod["metadata"]["uid"]).to_owned()).collect()
}

fn restarts(cluster: &Cluster) -> Vec<u64> {
    let pods = cluster.pods_of_agent();
    pods.iter()
        .map(|pod| pod["status"]["containerStatuses"][0]["restartCount"].as_u64().unwrap_or(0))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn pods_get_the_new_image_and_stay() {
    let cluster = in_place(6).await;
    let before = uids(&cluster);
    cluster.release(NEW);
    ends(&cluster).await;
    assert_eq!((uids(&cluster), restarts(&cluster)), (before.clone(), vec![1; 6]));
    assert_eq!(
        (taken(&cluster), events(&cluster, "ChangedInPlace"), events(&cluster, "SuccessfulDelete")),
        (6, 6, 0)
    );
    // Once more, and back.
    for image in ["agent:v3", NEW] {
        cluster.release(image);
        ends(&cluster).await;
    }
    assert_eq!((uids(&cluster), restarts(&cluster)), (before, vec![3; 6]));
    cluster.finish(100).await;
}

/// A webhook forbids the change of an image: the pods are replaced.
#[tokio::test(start_paused = true)]
async fn a_change_that_is_refused_is_a_delete() {
    let cluster = in_place(3).await;
    let before = uids(&cluster);
    cluster.fault(Verb::Patch, Kind::Pod, Fault::Forbidden, 3);
    cluster.release(NEW);
    ends(&cluster).await;
    assert_eq!(uids(&cluster).intersection(&before).count(), 0);
    assert!(cluster.pods_of_agent().iter().all(|pod| image_of(pod) == NEW));
}

#[tokio::test(start_paused = true)]
async fn changes_survive_lost_answers_and_kills() {
    for fault in [Fault::Error, Fault::ErrorAfterwards, Fault::BrokenAfterwards, Fault::Conflict] {
        let mut cluster = in_place(4).await;
        let before = uids(&cluster);
        cluster.fault(Verb::Patch, Kind::Pod, fault, 2);
        cluster.release(NEW);
        sleep(Duration::from_millis(300)).await;
        cluster.start(CONTROLLER, ProcessRole::Controller).await;
        ends(&cluster).await;
        assert_eq!((uids(&cluster), cluster.happened(fault)), (before, 2), "{fault:?}");
    }
}

/// Another change of the template: the pods are replaced.
#[tokio::test(start_paused = true)]
async fn a_change_of_more_than_images_is_a_delete() {
    let cluster = in_place(3).await;
    let before = uids(&cluster);
    cluster.annotate(POLICY, Some("inPlace: Never"));
    cluster.release(NEW);
    ends(&cluster).await;
    assert_eq!(uids(&cluster).intersection(&before).count(), 0);
}
