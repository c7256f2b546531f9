//! Half a minute of random faults of all kinds, after which the rollout must end.

use crate::cluster::{Cluster, HOUR};
use crate::faults::Fault;
use crate::objects::{rolling, surging};
use crate::store::{Actor, Kind, id, text};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;
use tokio::time::sleep;

pub const ALL: [Fault; 14] = [
    Fault::Conflict,
    Fault::Forbidden,
    Fault::TooManyRequests(2),
    Fault::Unavailable,
    Fault::UnavailableAfterwards,
    Fault::Error,
    Fault::ErrorAfterwards,
    Fault::NotConnected,
    Fault::Broken,
    Fault::BrokenAfterwards,
    Fault::BrokenLongBefore,
    Fault::SilentAfterwards,
    Fault::Silent,
    Fault::Gone,
];

/// Prints the seed of a story that fails.
pub struct Seed(pub u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("with FAULTS_SEED={}", self.0);
        }
    }
}

/// The seeds of random stories: `FAULTS_SEED` alone, or `FAULTS_SEEDS` of them, or so many.
pub fn seeds(many: u64) -> Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match number("FAULTS_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("FAULTS_SEEDS").unwrap_or(many),
    }
}

#[test]
fn a_rollout_survives_random_faults() {
    let seeds = seeds(20);
    let mut happened = BTreeMap::<Fault, u32>::new();
    for seed in seeds.clone() {
        let paused = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        for (fault, times) in paused.expect("a runtime").block_on(story(seed)) {
            *happened.entry(fault).or_default() += times;
        }
    }
    println!("{happened:?}");
    let never: Vec<&Fault> = ALL.iter().filter(|fault| !happened.contains_key(fault)).collect();
    assert!(seeds.count() < 10 || never.is_empty(), "{never:?}");
}

async fn story(seed: u64) -> BTreeMap<Fault, u32> {
    let _printed_on_panic = Seed(seed);
    let mut rng = fastrand::Rng::with_seed(seed);
    let strategy = if rng.bool() { rolling(2) } else { surging(2) };
    let cluster = Cluster::steady(6, strategy).await;
    if rng.bool() {
        let waves = "waves: [{upTo: 1}, {upTo: 50%, bakeSeconds: 1}, {}]\nconditions: true";
        cluster.annotate("rollout.daemonset/policy", Some(waves));
    }
    cluster.api.state().faults.at_random(rng.fork(), &ALL);
    for kind in [Kind::DaemonSet, Kind::Pod, Kind::Node, Kind::Revision] {
        if rng.bool() {
            cluster.lag(kind, Duration::from_millis(rng.u64(..3000)));
        }
    }
    cluster.api.state().list_lag = Duration::from_millis(rng.u64(..2000));
    cluster.release("agent:v2");
    for turn in 0..30 {
        sleep(Duration::from_millis(rng.u64(500..1500))).await;
        match rng.u32(..12) {
            0 => cluster.break_watches(),
            1 => cluster.release(&format!("agent:turn-{turn}")),
            2 if rng.u32(..4) == 0 => delete_a_pod(&cluster, &mut rng),
            _ => {}
        }
    }
    let happened = {
        let mut state = cluster.api.state();
        state.faults.end();
        state.list_lag = Duration::ZERO;
        state.faults.happened.clone()
    };
    cluster.done(HOUR).await;
    // Watches that were silent, late or waiting for a retry come back.
    sleep(Duration::from_secs(400)).await;
    let times: u32 = happened.values().sum();
    let releases = cluster.daemon_set()["metadata"]["generation"].as_u64().unwrap_or(0);
    cluster.finish(80 * releases as usize + 3 * times as usize).await;
    happened
}

fn delete_a_pod(cluster: &Cluster, rng: &mut fastrand::Rng) {
    let pods = cluster.pods_of_agent();
    let Some(pod) = rng.choice(pods.iter()) else { return };
    cluster.allow_down(1);
    let store = &mut cluster.api.state().store;
    if store.invariants.max_surge > 0 {
        // Its replacement is replaced itself while it is not Ready in the cache, which maxSurge does not hold back.
        store.invariants.max_surge += 1;
    }
    store.remove(Actor::Others, &id(Kind::Pod, text(&pod["metadata"]["name"])));
}
