//! Two processes, one lease, and an hour in which everything goes wrong: never do both lead.

use crate::faults::Fault;
use crate::leases::{FAULTS, Leases};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};

#[derive(Default)]
struct Seen {
    leads: BTreeSet<usize>,
    /// Who has ended, and will know nothing.
    ended: BTreeSet<usize>,
    turns: [u32; 2],
    lost: u32,
    given_back: u32,
    died: u32,
    deleted: u32,
}

type Told = Arc<Mutex<Seen>>;

/// Leads whenever it can, and is restarted when it can't.
async fn process(api: Leases, who: usize, mut rng: fastrand::Rng, told: Told) {
    let seen = || told.lock().expect("no test goes on after a panic");
    loop {
        api.state().has_seen.remove(&who);
        seen().ended.remove(&who);
        let mut leadership = api.leader(who).await;
        {
            let mut seen = seen();
            seen.leads.insert(who);
            seen.turns[who] += 1;
            assert_eq!(seen.leads.len(), 1, "both lead");
        }
        let ends = Duration::from_secs(rng.u64(5..300));
        let is_lost = tokio::select! { _ = leadership.lost() => true, () = sleep(ends) => false };
        seen().leads.remove(&who);
        seen().ended.insert(who);
        if is_lost {
            seen().lost += 1;
        } else if rng.bool() {
            seen().given_back += 1;
            leadership.release().await;
        } else {
            seen().died += 1;
            drop(leadership);
        }
        sleep(Duration::from_millis(rng.u64(..5000))).await;
    }
}

async fn an_hour(seed: u64) -> (Seen, BTreeSet<Fault>) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let (api, told) = (Leases::default(), Told::default());
    api.state().random = Some(rng.fork());
    let mut processes = tokio::task::JoinSet::new();
    for who in 0..2 {
        processes.spawn(process(api.clone(), who, rng.fork(), told.clone()));
    }
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(3600) {
        sleep(Duration::from_millis(rng.u64(..20_000))).await;
        if let Some(ended) = processes.try_join_next() {
            assert!(ended.is_ok(), "seed {seed}: {ended:?}");
        }
        match rng.u32(..4) {
            0 => {
                let (who, fault) = (rng.usize(..2), rng.choice(FAULTS.iter()).copied());
                api.state().faults.extend(fault.map(|fault| (who, fault)));
                sleep(Duration::from_millis(rng.u64(1000..40_000))).await;
                api.state().faults.clear();
            }
            // Who has not seen the lease can't know of its holder.
            1 if api.state().has_seen.len() == 2 => {
                let mut seen = told.lock().expect("no panic");
                if seen.ended.is_empty() {
                    api.state().lease = None;
                    seen.deleted += 1;
                }
            }
            2 => api.change(|lease| lease["metadata"]["labels"] = json!({"at": rng.u64(..).to_string()})),
            _ => {}
        }
    }
    processes.abort_all();
    let seen = std::mem::take(&mut *told.lock().expect("no panic"));
    let happened = std::mem::take(&mut api.state().happened);
    (seen, happened)
}

#[tokio::test(start_paused = true)]
async fn never_do_two_lead() {
    for seed in 0..10 {
        let (seen, happened) = an_hour(seed).await;
        let Seen { turns, lost, given_back, died, deleted, .. } = seen;
        println!(
            "{seed}: turns {turns:?}, lost {lost}, given back {given_back}, died {died}, deleted {deleted}"
        );
        assert!(turns[0] > 3 && turns[1] > 3, "each had its turns: {turns:?}");
        assert!(lost > 0 && given_back > 0 && died > 0 && deleted > 5);
        assert_eq!(happened.len(), FAULTS.len());
    }
}
