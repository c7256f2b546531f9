//! The labels of nodes, as far as the waves of a rollout read them: an audit asks for that, and no decision.

use super::facts::Slot;
use daemonset::kubernetes::Selector;
use daemonset::policy::Wave;
use daemonset::{InvalidSnapshot, NodeView};

/// For each node, which waves match its labels: found from its object, apart from the waves that a decision has found.
#[derive(Debug, Clone, Default)]
pub(super) struct WaveLabels {
    /// By slot a bit for each wave, in as many words as they need.
    bits: Vec<u64>,
}

/// The selectors of waves.
pub(super) struct WaveSelectors<'p>(Vec<WaveSelector<'p>>);

enum WaveSelector<'p> {
    All,
    /// As that of an earlier wave.
    SameAs(usize),
    Labels(Result<Selector<'p>, InvalidSnapshot>),
}

impl<'p> WaveSelectors<'p> {
    pub(super) fn new(waves: &'p [Wave]) -> Self {
        let selector = |(index, wave): (usize, &'p Wave)| {
            let Some(nodes) = &wave.nodes else { return WaveSelector::All };
            let same = waves.iter().take(index).position(|other| other.nodes.as_ref() == Some(nodes));
            let labels = || WaveSelector::Labels(Selector::new(nodes, "policy.rollout"));
            same.map_or_else(labels, WaveSelector::SameAs)
        };
        WaveSelectors(waves.iter().enumerate().map(selector).collect())
    }

    /// How many words the bits of a node take.
    fn words(&self) -> usize {
        self.0.len().div_ceil(64)
    }
}

impl WaveLabels {
    /// Returns whether the node is matched by other waves than before.
    pub(super) fn put(&mut self, slot: Slot, node: &NodeView<'_>, selectors: &WaveSelectors<'_>) -> bool {
        let (words, first) = (selectors.words(), selectors.words() * slot as usize);
        if self.bits.len() < first + words {
            self.bits.resize(first + words, 0);
        }
        let Some(bits) = self.bits.get_mut(first..first + words) else { return false };
        let mut is_changed = false;
        for (wave, selector) in selectors.0.iter().enumerate() {
            let matches = match selector {
                WaveSelector::All => true,
                WaveSelector::SameAs(earlier) => has(bits, *earlier),
                // The check of the policy refuses an error.
                WaveSelector::Labels(selector) => {
                    selector.as_ref().is_ok_and(|selector| selector.matches(node.labels))
                }
            };
            is_changed |= matches != has(bits, wave);
            if let Some(word) = bits.get_mut(wave / 64) {
                *word = *word & !(1 << (wave % 64)) | u64::from(matches) << (wave % 64);
            }
        }
        is_changed
    }

    /// For each of so many waves, whether it matches the node in this slot.
    pub(super) fn of(&self, slot: Slot, waves: usize) -> impl Iterator<Item = bool> {
        let words = waves.div_ceil(64);
        let bits = self.bits.get(words * slot as usize..).unwrap_or_default();
        (0..waves).map(|wave| has(bits, wave))
    }
}

fn has(bits: &[u64], wave: usize) -> bool {
    bits.get(wave / 64).is_some_and(|word| word >> (wave % 64) & 1 == 1)
}
