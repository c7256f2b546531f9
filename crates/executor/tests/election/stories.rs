//! Stories about leader election: one process leads at a time, and it stops at its deadline despite all faults.

use crate::fault::Fault;
use crate::machine::Machine;
use crate::server::{LeaseServer, NAME, election};
use daemonset_executor::lease::{Election, Leadership, LeaseConfig};
use futures::FutureExt;
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

const DURATION: Duration = Duration::from_secs(15);
const DEADLINE: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_secs(2);
/// A call and its response, with a margin.
const MOMENT: Duration = Duration::from_millis(50);
const MINUTE: Duration = Duration::from_secs(60);

async fn still_leads(leadership: &mut Leadership, time: Duration) {
    let lost = timeout(time, leadership.lost()).await;
    assert!(lost.is_err(), "lost: {lost:?}");
}

#[tokio::test(start_paused = true)]
async fn a_free_lease_is_taken_and_renewed() {
    let api = LeaseServer::default();
    let config = LeaseConfig::new("kube-system", NAME);
    let identity = config.holder().to_owned();
    let start = Instant::now();
    let mut leadership = Election::new(config).acquire(api.client(0)).await.expect("no panic");
    assert!(start.elapsed() < MOMENT);
    let first = api.spec();
    assert_eq!(first["holderIdentity"], identity);
    assert_eq!((&first["leaseDurationSeconds"], &first["leaseTransitions"]), (&json!(15), &json!(0)));
    assert_eq!(first["acquireTime"], first["renewTime"]);
    still_leads(&mut leadership, Duration::from_secs(21)).await;
    let later = api.spec();
    assert_ne!(later["renewTime"], first["renewTime"]);
    assert_eq!(later["acquireTime"], first["acquireTime"]);
    assert_eq!((&later["holderIdentity"], &later["leaseTransitions"]), (&json!(identity), &json!(0)));
    assert_eq!(api.state().stored.len(), 11, "a write every two seconds");
    assert_ne!(
        LeaseConfig::new("kube-system", NAME).holder(),
        identity,
        "another process on the same machine has another identity"
    );
}

/// On the real clock, since a paused one stands still while a thread is busy.
#[tokio::test]
async fn a_process_that_computes_for_long_renews_its_lease() {
    let api = LeaseServer::default();
    let client = {
        let api = api.clone();
        move || Ok::<_, std::io::Error>(api.client(0))
    };
    let election = Election::new(LeaseConfig::new("kube-system", NAME).seconds(3));
    let mut leadership = election.acquire_on_thread(client).await.expect("a thread");
    let (lease_duration, start) = (leadership.durations().lease_duration(), std::time::Instant::now());
    // No other task of this runtime runs meanwhile.
    while start.elapsed() < lease_duration {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(leadership.lost().now_or_never().is_none());
    assert!(api.state().stored.len() > 3);
    leadership.release().await.expect("it answers");
    assert_eq!(api.spec()["holderIdentity"], "");
}

/// As of a variable without a value. A lease that nobody holds has that identity: with it each process would be the holder.
#[tokio::test(start_paused = true)]
async fn processes_without_an_identity_do_not_lead_together() {
    let api = LeaseServer::default();
    let lead = |number| {
        let election = Election::new(LeaseConfig::new("kube-system", NAME).identity(""));
        election.acquire(api.client(number))
    };
    let mut leadership = lead(0).await.expect("no panic");
    assert!(timeout(MINUTE, lead(1)).await.is_err(), "it stands by");
    still_leads(&mut leadership, MINUTE).await;
}

/// The timestamps in the record don't matter: only its changes count, from the moment at which they are seen.
#[tokio::test(start_paused = true)]
async fn a_held_lease_is_taken_once_it_has_not_changed_for_its_duration() {
    for year in ["1970", "2026", "2100"] {
        let api = LeaseServer::default();
        let renewed = |times: u32| {
            let time = format!("{year}-01-01T00:00:{times:02}.000000Z");
            json!({"holderIdentity": "another", "leaseDurationSeconds": 20, "leaseTransitions": 4,
                "acquireTime": time, "renewTime": time})
        };
        api.put(&renewed(0));
        let waiting = tokio::spawn({
            let api = api.clone();
            async move { api.leader(0).await }
        });
        for times in 1..30 {
            sleep(RETRY).await;
            api.put(&renewed(times));
        }
        let last = Instant::now();
        let _leadership = waiting.await.expect("no panic");
        let waited = last.elapsed();
        assert!(waited >= Duration::from_secs(20) && waited <= Duration::from_secs(20) + 2 * RETRY + MOMENT);
        let spec = api.spec();
        assert_eq!((&spec["leaseTransitions"], &spec["leaseDurationSeconds"]), (&json!(5), &json!(15)));
        assert_eq!(spec["acquireTime"], spec["renewTime"]);
    }
}

/// The others count from when they saw the last renewal, the holder from when it began to send it.
#[tokio::test(start_paused = true)]
async fn a_holder_that_is_cut_off_stops_before_another_one_begins() {
    for fault in Fault::ALL {
        let api = LeaseServer::default();
        let mut leadership = api.leader(0).await;
        let next = tokio::spawn({
            let api = api.clone();
            async move { (api.leader(1).await, Instant::now()) }
        });
        still_leads(&mut leadership, Duration::from_millis(10_500)).await;
        let last = api.last_stored();
        api.state().faults.insert(0, fault);
        let why = timeout(MINUTE, leadership.lost()).await.expect("it stops");
        let lost = Instant::now();
        let stopped = lost - last;
        assert!(stopped <= DEADLINE && stopped > DEADLINE - MOMENT, "{fault:?}: after {stopped:?}, {why}");
        drop(leadership);
        let (_leadership, acquired_at) = timeout(MINUTE, next).await.expect("it is taken").expect("no panic");
        // If only the responses are lost, its last renewal is later than it knows.
        assert!(acquired_at - lost >= DURATION - DEADLINE, "{fault:?}: {:?}", acquired_at - lost);
        assert_eq!(api.spec()["leaseTransitions"], 1);
    }
}

#[tokio::test(start_paused = true)]
async fn faults_that_end_before_the_deadline_change_nothing() {
    for fault in Fault::ALL {
        let api = LeaseServer::default();
        let mut leadership = api.leader(0).await;
        let mut next = tokio::spawn({
            let api = api.clone();
            async move { api.leader(1).await }
        });
        for tenths in 0..50 {
            still_leads(&mut leadership, Duration::from_secs(20) + Duration::from_millis(100 * tenths)).await;
            api.state().faults.insert(0, fault);
            still_leads(&mut leadership, Duration::from_millis(4900)).await;
            api.state().faults.clear();
        }
        assert!(timeout(MINUTE, &mut next).await.is_err(), "{fault:?}");
        assert_eq!(api.spec()["leaseTransitions"], 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_with_another_holder_is_lost_at_once() {
    for holder in ["another", ""] {
        let api = LeaseServer::default();
        let mut leadership = api.leader(0).await;
        still_leads(&mut leadership, MINUTE).await;
        api.change(|lease| lease["spec"]["holderIdentity"] = json!(holder));
        let why = timeout(RETRY + MOMENT, leadership.lost()).await.expect("it stops");
        assert_eq!(why.to_string(), format!("held by {holder:?}"));
        assert_eq!(api.spec()["holderIdentity"], holder);
    }
    // Deleted, and created by another process.
    let api = LeaseServer::default();
    let mut leadership = api.leader(0).await;
    api.put(&json!({"holderIdentity": "another", "leaseDurationSeconds": 15}));
    timeout(RETRY + MOMENT, leadership.lost()).await.expect("it stops");
}

#[tokio::test(start_paused = true)]
async fn a_change_of_another_field_is_no_loss() {
    let api = LeaseServer::default();
    let mut leadership = api.leader(0).await;
    for count in 0..20 {
        still_leads(&mut leadership, Duration::from_secs(5)).await;
        api.change(|lease| lease["metadata"]["labels"] = json!({"count": count.to_string()}));
    }
    still_leads(&mut leadership, MINUTE).await;
    assert_eq!(
        api.state().lease.as_ref().map(|lease| lease["metadata"]["labels"]["count"] == "19"),
        Some(true)
    );
}

/// A waiting process has seen the holder, and gives it the lease duration to create the lease again.
#[tokio::test(start_paused = true)]
async fn the_holder_creates_a_deleted_lease_again() {
    let api = LeaseServer::default();
    let mut leadership = api.leader(0).await;
    let mut next = tokio::spawn({
        let api = api.clone();
        async move { (api.leader(1).await, Instant::now()) }
    });
    for tenths in 0..30 {
        still_leads(&mut leadership, Duration::from_secs(10) + Duration::from_millis(100 * tenths)).await;
        api.state().lease = None;
        still_leads(&mut leadership, RETRY + MOMENT).await;
        assert_eq!(api.spec()["leaseDurationSeconds"], 15, "it exists again");
    }
    assert!(timeout(MINUTE, &mut next).await.is_err());
    // A holder that can't create it again stops before another process leads.
    api.state().faults.insert(0, Fault::Forbidden);
    api.state().lease = None;
    timeout(DEADLINE, leadership.lost()).await.expect("it stops");
    let lost = Instant::now();
    let (_leadership, acquired_at) = timeout(MINUTE, next).await.expect("it is taken").expect("no panic");
    assert!(acquired_at > lost + MOMENT);
}

#[tokio::test(start_paused = true)]
async fn a_released_lease_is_taken_within_a_retry_period() {
    let api = LeaseServer::default();
    let mut leadership = api.leader(0).await;
    let next = tokio::spawn({
        let api = api.clone();
        async move { api.leader(1).await }
    });
    still_leads(&mut leadership, MINUTE).await;
    leadership.release().await.expect("it answers");
    let spec = api.spec();
    assert_eq!((&spec["holderIdentity"], &spec["leaseDurationSeconds"]), (&json!(""), &json!(1)));
    assert_eq!(spec["leaseTransitions"], 0, "a release is no change of the leader");
    let name = api.state().lease.as_ref().map(|lease| lease["metadata"]["name"].clone());
    assert_eq!(name, Some(json!(NAME)), "it was created under this name");
    assert!(spec["acquireTime"].is_string() && spec["renewTime"] == spec["acquireTime"], "{spec}");
    let _leadership = timeout(RETRY + MOMENT, next).await.expect("it is taken").expect("no panic");
    assert_eq!(api.spec()["leaseTransitions"], 1);
}

/// A release leaves another holder's lease alone, and gives up before the lease would expire anyway.
#[tokio::test(start_paused = true)]
async fn a_release_ends_whatever_the_responses_are() {
    for fault in Fault::ALL {
        let api = LeaseServer::default();
        let leadership = api.leader(0).await;
        api.state().faults.insert(0, fault);
        let released = timeout(DEADLINE + MOMENT, leadership.release()).await.expect("it ends");
        assert!(released.is_err(), "{fault:?}");
    }
    let api = LeaseServer::default();
    let leadership = api.leader(0).await;
    api.change(|lease| lease["spec"]["holderIdentity"] = json!("another"));
    leadership.release().await.expect("there is nothing to do");
    assert_eq!(api.spec()["holderIdentity"], "another");
}

#[tokio::test(start_paused = true)]
async fn a_process_waits_for_a_lease_that_it_cannot_acquire() {
    for fault in Fault::ALL.into_iter().filter(|fault| !fault.comes_afterwards()) {
        let api = LeaseServer::default();
        api.state().faults.insert(0, fault);
        let election = election(&Machine::default());
        let standby = election.standby();
        let acquire = election.acquire(api.client(0));
        tokio::pin!(acquire);
        assert!(timeout(10 * MINUTE, &mut acquire).await.is_err());
        assert!(!standby.is_ready(), "{fault:?}");
        api.state().faults.clear();
        let _leadership = timeout(Duration::from_secs(5) + MOMENT, acquire).await.expect("it is acquired");
    }
    let api = LeaseServer::default();
    api.state().has_no_namespace = true;
    let election = election(&Machine::default());
    let standby = election.standby();
    let acquire = election.acquire(api.client(0));
    tokio::pin!(acquire);
    assert!(timeout(MINUTE, &mut acquire).await.is_err());
    assert!(!standby.is_ready());
    api.put(&json!({"holderIdentity": "another", "leaseDurationSeconds": 15}));
    assert!(timeout(DURATION - MOMENT, &mut acquire).await.is_err());
    assert!(standby.is_ready(), "it stands by");
    let _leadership = timeout(2 * RETRY, acquire).await.expect("it is acquired");
}
