//! Turns, rests and waits.

use super::*;

const REST: Duration = Duration::from_millis(50);

#[tokio::test(start_paused = true)]
async fn many_changes_of_one_key_are_one_turn() {
    let queue = Queue::new(REST);
    for _ in 0..100 {
        queue.add("a");
    }
    assert_eq!((queue.len(), queue.next().await), (1, Some("a")));
    assert!(queue.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_key_is_worked_on_by_one_at_a_time_and_rests_then() {
    let queue = Queue::new(REST);
    queue.add("a");
    assert_eq!(queue.next().await, Some("a"));
    queue.add("a");
    queue.add("b");
    assert_eq!(queue.next().await, Some("b"), "a is being worked on");
    let start = Instant::now();
    queue.done(&"a");
    assert_eq!(queue.next().await, Some("a"), "what came meanwhile is not lost");
    assert_eq!(start.elapsed().as_millis(), REST.as_millis());
}

#[tokio::test(start_paused = true)]
async fn steady_events_do_not_put_a_turn_off() {
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
async fn the_earliest_time_counts_and_failures_double_the_wait() {
    let queue = Queue::new(Duration::ZERO);
    let start = Instant::now();
    queue.add_after("a", Duration::from_secs(60));
    queue.add_after("a", Duration::from_secs(5));
    queue.add_after("a", Duration::MAX);
    assert_eq!(queue.next().await, Some("a"));
    assert_eq!(start.elapsed().as_secs(), 5);
    let mut waits = Vec::new();
    for _ in 0..5 {
        queue.done(&"a");
        let start = Instant::now();
        queue.retry("a");
        queue.next().await;
        waits.push(start.elapsed().as_millis());
    }
    assert_eq!(waits, [5, 10, 20, 40, 80]);
    queue.done(&"a");
    queue.succeeded(&"a");
    queue.retry("a");
    let start = Instant::now();
    queue.next().await;
    assert_eq!(start.elapsed().as_millis(), 5);
}

#[tokio::test(start_paused = true)]
async fn events_do_not_put_the_next_attempt_off() {
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
async fn a_key_that_is_held_comes_to_nobody_before() {
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
    assert_eq!(queue.next().await, Some("a"), "it rests as usual then");
    assert_eq!(start.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn a_closed_queue_ends_whoever_waits() {
    let queue: std::sync::Arc<Queue<&str>> = std::sync::Arc::new(Queue::new(REST));
    let waiting = tokio::spawn({
        let queue = queue.clone();
        async move { queue.next().await }
    });
    tokio::task::yield_now().await;
    queue.close();
    assert_eq!(waiting.await.unwrap(), None);
}
