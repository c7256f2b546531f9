//! Who leads: one at a time, whatever goes wrong, and until when.

use crate::faults::Fault;
use crate::leases::{FAULTS, Leases};
use daemonset_controller::leader_election::{Leadership, Standby};
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

const DURATION: Duration = Duration::from_secs(15);
const DEADLINE: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_secs(2);
/// A call there and back, and a little.
const MOMENT: Duration = Duration::from_millis(50);
const MINUTE: Duration = Duration::from_secs(60);

async fn still_leads(leadership: &mut Leadership, time: Duration) {
    let lost = timeout(time, leadership.lost()).await;
    assert!(lost.is_err(), "lost: {lost:?}");
}

#[tokio::test(start_paused = true)]
async fn a_free_lease_is_taken_and_renewed() {
    let api = Leases::default();
    let lock = api.lock(0);
    let identity = lock.identity.clone();
    let begun = Instant::now();
    let mut leadership = Leadership::acquire(lock, &Standby::default()).await;
    assert!(begun.elapsed() < MOMENT);
    let first = api.spec();
    assert_eq!(first["holderIdentity"], identity);
    assert_eq!((&first["leaseDurationSeconds"], &first["leaseTransitions"]), (&json!(15), &json!(0)));
    assert_eq!(first["acquireTime"], first["renewTime"]);
    still_leads(&mut leadership, Duration::from_secs(21)).await;
    let later = api.spec();
    assert_ne!(later["renewTime"], first["renewTime"]);
    assert_eq!(later["acquireTime"], first["acquireTime"]);
    assert_eq!((&later["holderIdentity"], &later["leaseTransitions"]), (&json!(identity), &json!(0)));
    assert_eq!(api.state().stored.len(), 11, "one in two seconds");
    assert_ne!(api.lock(0).identity, identity, "another process on the same machine");
}

/// What their clock says is theirs: only that the record has changed counts, and when that was seen.
#[tokio::test(start_paused = true)]
async fn a_held_lease_is_taken_once_it_has_not_changed_for_its_duration() {
    for year in ["1970", "2026", "2100"] {
        let api = Leases::default();
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
    for fault in FAULTS {
        let api = Leases::default();
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
        let (_leadership, begun) = timeout(MINUTE, next).await.expect("it is taken").expect("no panic");
        // Where only the answers are lost, its last renewal is later than it knows.
        assert!(begun - lost >= DURATION - DEADLINE, "{fault:?}: {:?}", begun - lost);
        assert_eq!(api.spec()["leaseTransitions"], 1);
    }
}

#[tokio::test(start_paused = true)]
async fn failures_that_end_before_the_deadline_change_nothing() {
    for fault in FAULTS {
        let api = Leases::default();
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
async fn a_lease_that_another_one_holds_is_lost_at_once() {
    for holder in ["another", ""] {
        let api = Leases::default();
        let mut leadership = api.leader(0).await;
        still_leads(&mut leadership, MINUTE).await;
        api.change(|lease| lease["spec"]["holderIdentity"] = json!(holder));
        let why = timeout(RETRY + MOMENT, leadership.lost()).await.expect("it stops");
        assert_eq!(why, format!("held by {holder:?}"));
        assert_eq!(api.spec()["holderIdentity"], holder);
    }
    // Deleted, and made by another one.
    let api = Leases::default();
    let mut leadership = api.leader(0).await;
    api.put(&json!({"holderIdentity": "another", "leaseDurationSeconds": 15}));
    timeout(RETRY + MOMENT, leadership.lost()).await.expect("it stops");
}

#[tokio::test(start_paused = true)]
async fn a_change_of_something_else_is_no_loss() {
    let api = Leases::default();
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

/// Whoever waits has seen a holder, and gives it the time that it has to make the lease anew.
#[tokio::test(start_paused = true)]
async fn a_deleted_lease_is_made_anew_by_its_holder() {
    let api = Leases::default();
    let mut leadership = api.leader(0).await;
    let mut next = tokio::spawn({
        let api = api.clone();
        async move { (api.leader(1).await, Instant::now()) }
    });
    for tenths in 0..30 {
        still_leads(&mut leadership, Duration::from_secs(10) + Duration::from_millis(100 * tenths)).await;
        api.state().lease = None;
        still_leads(&mut leadership, RETRY + MOMENT).await;
        assert_eq!(api.spec()["leaseDurationSeconds"], 15, "it is there again");
    }
    assert!(timeout(MINUTE, &mut next).await.is_err());
    // A holder that can't make it anew stops first.
    api.state().faults.insert(0, Fault::Forbidden);
    api.state().lease = None;
    timeout(DEADLINE, leadership.lost()).await.expect("it stops");
    let lost = Instant::now();
    let (_leadership, begun) = timeout(MINUTE, next).await.expect("it is taken").expect("no panic");
    assert!(begun > lost + MOMENT);
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_given_back_is_taken_within_a_retry_period() {
    let api = Leases::default();
    let mut leadership = api.leader(0).await;
    let next = tokio::spawn({
        let api = api.clone();
        async move { api.leader(1).await }
    });
    still_leads(&mut leadership, MINUTE).await;
    leadership.release().await;
    let spec = api.spec();
    assert_eq!((&spec["holderIdentity"], &spec["leaseDurationSeconds"]), (&json!(""), &json!(1)));
    let _leadership = timeout(RETRY + MOMENT, next).await.expect("it is taken").expect("no panic");
    assert_eq!(api.spec()["leaseTransitions"], 1);
}

/// It is not taken from another one, and an API server that is away is not waited for longer than the others wait.
#[tokio::test(start_paused = true)]
async fn giving_back_ends_whatever_the_answers() {
    for fault in FAULTS {
        let api = Leases::default();
        let leadership = api.leader(0).await;
        api.state().faults.insert(0, fault);
        timeout(DEADLINE + MOMENT, leadership.release()).await.expect("it ends");
    }
    let api = Leases::default();
    let leadership = api.leader(0).await;
    api.change(|lease| lease["spec"]["holderIdentity"] = json!("another"));
    leadership.release().await;
    assert_eq!(api.spec()["holderIdentity"], "another");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_cant_be_had_is_waited_for() {
    for fault in FAULTS.into_iter().filter(|fault| !fault.comes_afterwards()) {
        let api = Leases::default();
        api.state().faults.insert(0, fault);
        let standby = Standby::default();
        let acquire = Leadership::acquire(api.lock(0), &standby);
        tokio::pin!(acquire);
        assert!(timeout(10 * MINUTE, &mut acquire).await.is_err());
        assert!(!standby.is_ready(), "{fault:?}");
        api.state().faults.clear();
        let _leadership = timeout(Duration::from_secs(5) + MOMENT, acquire).await.expect("it is had");
    }
    let api = Leases::default();
    api.state().has_no_namespace = true;
    let standby = Standby::default();
    let acquire = Leadership::acquire(api.lock(0), &standby);
    tokio::pin!(acquire);
    assert!(timeout(MINUTE, &mut acquire).await.is_err());
    assert!(!standby.is_ready());
    api.put(&json!({"holderIdentity": "another", "leaseDurationSeconds": 15}));
    assert!(timeout(DURATION - MOMENT, &mut acquire).await.is_err());
    assert!(standby.is_ready(), "a standby is what it should be");
    let _leadership = timeout(2 * RETRY, acquire).await.expect("it is had");
}
