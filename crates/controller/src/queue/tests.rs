//! Stories about rests, delays and failures, on a paused clock.

use super::*;

const REST: Duration = Duration::from_millis(50);

#[tokio::test(start_paused = true)]
async fn many_changes_of_a_key_lead_to_one_piece_of_work() {
    let queue = Queue::new(REST);
    for _ in 0..100 {
        queue.add("a");
    }
    assert_eq!((queue.len(), queue.next().await), (1, Some("a")));
    assert!(queue.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_key_is_given_to_one_worker_at_a_time_and_then_rests() {
    let queue = Queue::new(REST);
    queue.add("a");
    assert_eq!(queue.next().await, Some("a"));
    queue.add("a");
    queue.add("b");
    assert_eq!(queue.next().await, Some("b"), "another worker has a");
    let start = Instant::now();
    queue.done(&"a");
    assert_eq!(queue.next().await, Some("a"), "a change during the work is kept");
    assert_eq!(start.elapsed().as_millis(), REST.as_millis());
}

/// A worker finds that the object of its key is gone.
#[tokio::test(start_paused = true)]
async fn nothing_is_left_of_a_key_that_is_forgotten_during_its_work() {
    let queue = Queue::new(REST);
    queue.add("a");
    assert_eq!(queue.next().await, Some("a"));
    queue.forget(&"a");
    queue.done(&"a");
    assert_eq!(left(&queue), [0; 5]);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_left_of_a_key_that_is_forgotten_after_its_work() {
    let queue = Queue::new(REST);
    queue.add("a");
    assert_eq!(queue.next().await, Some("a"));
    queue.retry("a");
    queue.done(&"a");
    assert_eq!(left(&queue), [1, 0, 0, 1, 1], "it is due, rests and has failed");
    queue.forget(&"a");
    assert_eq!(left(&queue), [0; 5]);
}

/// How many keys each part of the queue has.
fn left(queue: &Queue<&str>) -> [usize; 5] {
    let state = queue.state();
    [
        state.due.len(),
        state.running.len(),
        state.forgotten.len(),
        state.resting_until.len(),
        state.failures.len(),
    ]
}

#[tokio::test(start_paused = true)]
async fn steady_events_do_not_postpone_the_work() {
    let queue = Queue::new(REST);
    queue.add("a");
    assert_eq!(queue.next().await, Some("a"));
    queue.done(&"a");
    let start = Instant::now();
    for _ in 0..10 {
        queue.add("a");
        tokio::time::advance(REST / 10).await;
    }
    queue.add("a");
    assert_eq!(queue.next().await, Some("a"));
    assert!(start.elapsed() <= REST + Duration::from_millis(1), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn of_two_keys_the_one_that_has_waited_longer_comes_first() {
    for names in [["a", "b"], ["b", "a"]] {
        let queue = Queue::new(REST);
        queue.add_after(names[1], Duration::from_secs(2));
        queue.add_after(names[0], Duration::from_secs(1));
        tokio::time::advance(Duration::from_secs(3)).await;
        assert_eq!([queue.next().await, queue.next().await], names.map(Some));
    }
}

#[tokio::test(start_paused = true)]
async fn the_earliest_due_time_counts_and_failures_double_the_delay() {
    let queue = Queue::new(Duration::ZERO);
    let start = Instant::now();
    queue.add_after("a", Duration::from_secs(60));
    queue.add_after("a", Duration::from_secs(5));
    queue.add_after("a", Duration::MAX);
    assert_eq!(queue.next().await, Some("a"));
    assert_eq!(start.elapsed().as_secs(), 5);
    let mut delays = Vec::new();
    for _ in 0..5 {
        queue.done(&"a");
        let start = Instant::now();
        queue.retry("a");
        queue.next().await;
        delays.push(start.elapsed().as_millis());
    }
    assert_eq!(delays, [5, 10, 20, 40, 80]);
    queue.done(&"a");
    queue.succeeded(&"a");
    queue.retry("a");
    let start = Instant::now();
    queue.next().await;
    assert_eq!(start.elapsed().as_millis(), 5);
}

#[tokio::test(start_paused = true)]
async fn failures_between_attempts_do_not_postpone_the_next_attempt() {
    let queue = Queue::new(Duration::ZERO);
    queue.retry("a");
    for _ in 0..20 {
        queue.add("a");
        assert_eq!(queue.next().await, Some("a"));
        queue.retry("a");
        queue.done(&"a");
    }
    let start = Instant::now();
    assert_eq!(queue.next().await, Some("a"));
    assert_eq!(start.elapsed().as_millis(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_held_key_is_due_only_after_its_delay() {
    let queue = Queue::new(REST);
    queue.add("a");
    let start = Instant::now();
    assert_eq!(queue.next().await, Some("a"));
    queue.add("a");
    queue.hold("a", Duration::from_secs(30));
    queue.add("a");
    queue.done(&"a");
    queue.add_after("a", Duration::from_secs(5));
    queue.retry("a");
    assert_eq!(queue.next().await, Some("a"));
    assert_eq!(start.elapsed().as_secs(), 30);
    queue.done(&"a");
    queue.add("a");
    assert_eq!(queue.next().await, Some("a"), "after that the rest is as usual");
    assert_eq!(start.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn closing_the_queue_ends_a_waiting_worker() {
    let queue: std::sync::Arc<Queue<&str>> = std::sync::Arc::new(Queue::new(REST));
    let waiting = tokio::spawn({
        let queue = queue.clone();
        async move { queue.next().await }
    });
    tokio::task::yield_now().await;
    queue.close();
    assert_eq!(waiting.await.unwrap(), None);
}
