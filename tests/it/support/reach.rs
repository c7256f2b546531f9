//! Random inputs prove something only if they reach every case. A count of the things that were reached, and a failure that says which
//! were not, what came near, and where to look.

use daemonset::report::WaitKind;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// How often random inputs have reached each thing.
#[derive(Debug, Default)]
pub struct Reach {
    counts: BTreeMap<String, u32>,
}

/// These things, and the waits of these kinds.
pub fn with_waits(things: &[&'static str], is_wanted: impl Fn(WaitKind) -> bool) -> Vec<&'static str> {
    let kinds = WaitKind::ALL.iter().filter(|kind| is_wanted(**kind));
    let waits = kinds.map(|kind| &*format!("outcome {kind}").leak());
    things.iter().copied().chain(waits).collect()
}

impl Reach {
    /// The things of inputs that a number stands for, until each of the wanted ones is reached or `most` inputs are seen. Rare things take many
    /// inputs: the ones with a number in `known` come first, and where they no longer suffice the output tells others.
    pub fn of<I: IntoIterator<Item = (String, u32)>>(
        wanted: &[&str],
        known: &[u64],
        most: u64,
        mut things: impl FnMut(u64) -> I,
    ) -> Self {
        let mut reached = Reach::default();
        let mut missing: BTreeSet<&str> = wanted.iter().copied().collect();
        let mut useful = Vec::new();
        for number in known.iter().copied().chain(0..most) {
            if missing.is_empty() {
                break;
            }
            things(number).into_iter().for_each(|(thing, times)| reached.see_times(thing, times));
            let before = missing.len();
            missing.retain(|thing| !reached.has(thing));
            if missing.len() < before {
                useful.push(number);
            }
        }
        println!("the inputs {useful:?} reach: {reached:#?}");
        reached
    }

    pub fn see(&mut self, thing: impl Into<String>) {
        self.see_times(thing, 1);
    }

    pub fn see_times(&mut self, thing: impl Into<String>, times: u32) {
        *self.counts.entry(thing.into()).or_default() += times;
    }

    pub fn has(&self, thing: &str) -> bool {
        self.counts.contains_key(thing)
    }

    /// Asserts that each of the wanted things was reached. `inputs` names the inputs and their number, such as `4000 worlds`; `generator`
    /// is the file that makes them.
    pub fn assert_has(&self, wanted: &[&str], inputs: &str, generator: &str) {
        let mut missing = wanted.iter().filter(|thing| !self.has(thing)).peekable();
        if missing.peek().is_none() {
            return;
        }
        let mut text = format!("never reached in {inputs}:\n");
        for thing in missing {
            let _ = writeln!(text, "  {thing:<40} nearest: {}", self.nearest(thing));
        }
        panic!("{text}It is for {generator} to bring them about.");
    }

    /// Asserts that nothing was reached which the list lacks. `list` is its name and place.
    pub fn assert_has_no_more_than(&self, wanted: &[&str], list: &str) {
        let more: Vec<&str> =
            self.counts.keys().map(String::as_str).filter(|thing| !wanted.contains(thing)).collect();
        assert!(more.is_empty(), "reached, and missing in {list}:\n  {}", more.join("\n  "));
    }

    /// The three reached things that share most words with this one, each with its count.
    fn nearest(&self, thing: &str) -> String {
        let sought = words(thing);
        let shared = |other: &str| words(other).intersection(&sought).count();
        let mut near: Vec<_> = self
            .counts
            .iter()
            .map(|(other, count)| (shared(other), other, count))
            .filter(|near| near.0 > 0)
            .collect();
        // The sort is stable: things that share as many words stay in the order of their names.
        near.sort_by_key(|(shared, ..)| std::cmp::Reverse(*shared));
        let near: Vec<String> =
            near.iter().take(3).map(|(_, other, count)| format!("{other} ({count})")).collect();
        if near.is_empty() { "nothing".to_owned() } else { near.join(", ") }
    }
}

/// The words of a thing: `outcome HeldByMaxSurge` has `outcome`, `Held`, `By`, `Max` and `Surge`.
fn words(thing: &str) -> BTreeSet<String> {
    let mut words = vec![String::new()];
    for letter in thing.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() {
            words.push(String::new());
        }
        if letter.is_alphanumeric() {
            words.last_mut().unwrap().extend(letter.to_lowercase());
        }
    }
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

#[test]
#[should_panic(expected = "never reached in 2 worlds:
  outcome HeldByMaxSurge                   nearest: outcome HeldByMaxUnavailable (2), outcome UpToDate (1)
It is for world.rs to bring them about.")]
fn a_missing_thing_is_told_with_its_nearest_ones_and_its_generator() {
    let mut reach = Reach::default();
    for thing in [
        "outcome HeldByMaxUnavailable",
        "outcome UpToDate",
        "outcome HeldByMaxUnavailable",
        "evidence NoHash",
    ] {
        reach.see(thing);
    }
    reach.assert_has(&["evidence NoHash", "outcome HeldByMaxSurge"], "2 worlds", "world.rs");
}
