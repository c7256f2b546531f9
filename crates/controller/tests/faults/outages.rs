//! Stories in which the API server is away for a while: the log says so once, and the controller goes on soon afterwards.

use crate::cluster::{Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::log::Log;
use crate::objects::rolling;
use crate::pods::image_of;
use crate::store::{Actor, Kind, id, text};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

const MINUTE: Duration = Duration::from_secs(60);

fn goes_down(cluster: &Cluster) {
    cluster.api.state().is_down = true;
    cluster.break_watches();
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_logged_once_with_the_address_and_so_is_its_end() {
    let cluster = Cluster::steady(4, rolling(1)).await;
    let log = Log::capture();
    cluster.release("agent:v2");
    sleep(Duration::from_millis(500)).await;
    goes_down(&cluster);
    sleep(5 * MINUTE).await;
    let lines = log.lines("unreachable");
    let [outage] = lines.as_slice() else { panic!("{lines:#?}") };
    assert!(
        outage.contains("WARN") && outage.contains("https://10.0.0.1") && outage.contains("since=\"2026-")
    );
    assert!(outage.contains("connection refused") && !outage.contains("ServiceError"), "{outage}");
    assert_eq!(log.lines("WARN").len(), 1, "{:#?}", log.lines("WARN"));
    cluster.api.state().is_down = false;
    cluster.done(HOUR).await;
    assert_eq!(log.lines("the API server is reachable again").len(), 1);
    assert_eq!(log.lines("the watch works again").len(), 4, "{:#?}", log.lines(""));
    assert_eq!(log.lines("ERROR"), Vec::<String>::new());
}

/// The first 403s after an interruption may be the start of the API server. The end of a failure is seen although no object
/// changes.
#[tokio::test(start_paused = true)]
async fn a_watch_that_fails_and_works_again_has_one_line_each() {
    let cluster = Cluster::steady(2, rolling(1)).await;
    let log = Log::capture();
    cluster.fault(Verb::Watch, Kind::Pod, Fault::Forbidden, 60);
    cluster.break_watches();
    cluster.all_faults_happened(HOUR).await;
    sleep(MINUTE).await;
    let failed = log.lines("the watch failed");
    let [line] = failed.as_slice() else { panic!("{failed:#?}") };
    assert!(line.contains("WARN") && line.contains("objects=\"pods\""), "{line}");
    assert!(line.contains("exceeded quota") && !line.contains("Status {"), "{line}");
    let again = log.lines("the watch works again");
    assert!(again.len() == 1 && again[0].contains("objects=\"pods\""), "{again:#?}");
}

/// A connection ends now and then, and its successor works.
#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_and_starts_again_is_not_in_the_log() {
    let cluster = Cluster::steady(2, rolling(1)).await;
    let log = Log::capture();
    cluster.break_watches();
    sleep(MINUTE).await;
    assert_eq!(log.lines("watch"), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_rejected_create_is_one_line_that_names_the_node() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    let log = Log::capture();
    cluster.api.state().rejected_names.insert("n01".to_owned());
    cluster.allow_down(1);
    let pods = cluster.pods_of_agent();
    let pod = pods.iter().find(|pod| crate::pods::node_of(pod) == "n01").expect("a pod");
    cluster.api.state().store.remove(Actor::Others, &id(Kind::Pod, text(&pod["metadata"]["name"])));
    let creates = |verb, kind| verb == Verb::Create && kind == Kind::Pod;
    sleep(MINUTE).await;
    let lines = log.lines("the policy denied the request");
    let [line] = lines.as_slice() else { panic!("one line for all attempts: {lines:#?}") };
    assert!(line.contains("WARN") && line.contains("create a pod on n01: the policy"), "{line}");
    assert!(cluster.count(creates) > 5, "{}", cluster.count(creates));
}

#[tokio::test(start_paused = true)]
async fn a_message_of_several_pages_is_one_short_line() {
    let cluster = Cluster::steady(1, rolling(1)).await;
    let log = Log::capture();
    let long = format!("n00{}: the reason", " and so on".repeat(170));
    cluster.api.state().rejected_names.insert("n00".to_owned());
    cluster.api.state().rejection_suffix = long;
    cluster.allow_down(1);
    let pod = cluster.pods_of_agent().remove(0);
    cluster.api.state().store.remove(Actor::Others, &id(Kind::Pod, text(&pod["metadata"]["name"])));
    sleep(MINUTE).await;
    let lines = log.lines("the policy denied the request");
    assert!(!lines.is_empty());
    for line in lines {
        assert!(line.chars().count() < 800, "{line}");
        assert!(line.contains("more characters") && line.contains(": the reason"), "{line}");
    }
}

/// An API server responds before it has read its RBAC rules. Its first 403s must not lengthen a back-off that is long already.
#[tokio::test(start_paused = true)]
async fn the_rights_that_an_api_server_still_reads_cost_no_back_off() {
    let cluster = Cluster::steady(4, rolling(4)).await;
    let log = Log::capture();
    cluster.release("agent:v2");
    sleep(Duration::from_millis(100)).await;
    goes_down(&cluster);
    // A started API server knows no earlier versions: each watch must list again.
    cluster.compact();
    sleep(5 * MINUTE).await;
    {
        let mut state = cluster.api.state();
        (state.is_down, state.knows_no_rights) = (false, true);
    }
    // The first attempt may be one back-off away.
    while log.lines("reachable again").is_empty() {
        sleep(Duration::from_millis(10)).await;
    }
    sleep(Duration::from_secs(3)).await;
    cluster.api.state().knows_no_rights = false;
    let start = Instant::now();
    while log.lines("the watch works again").is_empty() {
        sleep(Duration::from_millis(10)).await;
    }
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    cluster.done(HOUR).await;
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(log.lines("WARN").len(), 1, "only the outage: {:#?}", log.lines("WARN"));
}

/// The same for the calls of a plan.
#[tokio::test(start_paused = true)]
async fn a_plan_that_a_starting_api_server_forbids_is_repeated_soon() {
    let cluster = Cluster::steady(4, rolling(4)).await;
    cluster.allow_down(4);
    for pod in cluster.pods_of_agent() {
        cluster.api.state().store.remove(Actor::Others, &id(Kind::Pod, text(&pod["metadata"]["name"])));
    }
    // The watches work; the calls of the plan find no server for a minute. The last of these attempts has the longest back-off.
    cluster.fault(Verb::Create, Kind::Pod, Fault::NotConnected, 17);
    while cluster.happened(Fault::NotConnected) < 17 {
        sleep(Duration::from_millis(10)).await;
    }
    let last_attempt = Instant::now();
    cluster.fault(Verb::Create, Kind::Pod, Fault::Forbidden, 5);
    cluster.all_faults_happened(HOUR).await;
    let start = Instant::now();
    while cluster.pods_of_agent().iter().filter(|pod| image_of(pod) == "agent:v1").count() < 4 {
        sleep(Duration::from_millis(10)).await;
    }
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert!(last_attempt.elapsed() < Duration::from_secs(15), "{:?}", last_attempt.elapsed());
}

/// For the leader, which then gives its lease up.
#[tokio::test(start_paused = true)]
async fn a_watch_that_fails_for_long_is_reported_and_no_other() {
    let cluster = Cluster::steady(2, rolling(1)).await;
    let watches = cluster.connection.watches.clone();
    assert!(timeout(HOUR, watches.failed_for(MINUTE)).await.is_err(), "nothing fails");
    cluster.fault(Verb::Watch, Kind::Pod, Fault::Forbidden, 42);
    cluster.break_watches();
    assert!(timeout(HOUR, watches.failed_for(2 * MINUTE)).await.is_err(), "it works again");
    assert_eq!(cluster.happened(Fault::Forbidden), 42);
    cluster.fault(Verb::List, Kind::Node, Fault::Forbidden, 100_000);
    cluster.compact();
    cluster.break_watches();
    let start = Instant::now();
    let reason = timeout(HOUR, watches.failed_for(MINUTE)).await.expect("it fails for ever");
    assert!((MINUTE..2 * MINUTE).contains(&start.elapsed()), "{:?}", start.elapsed());
    assert!(reason.starts_with("no watch of nodes for 6") && reason.contains("exceeded quota"), "{reason}");
}
