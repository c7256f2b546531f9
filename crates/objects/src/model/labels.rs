//! Packed labels: a fleet has tens of thousands of small maps, and reading them is most of the work of a decision.

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// Labels (or annotations) of an object, sorted by key.
///
/// All text is in one piece, so that a lookup touches little memory; a map of strings would spread its strings over the
/// heap. If a key is given twice, the last value counts. Clones share the text: a caller with many pods of one template
/// saves memory and time by giving all of them clones of the same labels.
///
/// ```
/// use daemonset::model::Labels;
///
/// let labels: Labels = [("tier", "node"), ("app", "agent"), ("app", "probe")].into_iter().collect();
/// assert_eq!(labels.get("app"), Some("probe"));
/// assert_eq!(labels.iter().map(|(key, _)| key).collect::<Vec<_>>(), ["app", "tier"]);
///
/// let changed = labels.with("tier", "edge");
/// assert_eq!((labels.get("tier"), changed.get("tier")), (Some("node"), Some("edge")));
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Labels {
    /// Key, value, key, value … without separators.
    text: Arc<str>,
    entries: Arc<[Entry]>,
}

/// The length of a key, and the end of its value in the text. Each label begins where the one before it ends. (An array,
/// because many equal labels are compared, and slices of arrays are compared as bytes.)
type Entry = [u32; 2];

/// Lengths of keys that matter, each modulo 64: other lengths may seem to be in the set, which costs time and nothing else.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeyLengths(u64);

impl KeyLengths {
    #[inline]
    fn contains(self, length: u32) -> bool {
        self.0.rotate_right(length) & 1 == 1
    }
}

impl<'k> FromIterator<&'k str> for KeyLengths {
    fn from_iter<I: IntoIterator<Item = &'k str>>(keys: I) -> Self {
        KeyLengths(keys.into_iter().fold(0, |lengths, key| lengths | 1 << (key.len() % 64)))
    }
}

impl Labels {
    /// The value of a label.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&str> {
        // Few keys have the same length, so that the text is read in very few places.
        let wanted = u32::try_from(key.len()).ok()?;
        for (index, [length, end]) in self.entries.iter().enumerate() {
            if *length == wanted {
                let begin = self.begin(index);
                let value = begin + key.len();
                // As bytes, because cutting a text also checks that no character is cut.
                if self.text.as_bytes().get(begin..value) == Some(key.as_bytes()) {
                    return self.text.get(value..*end as usize);
                }
            }
        }
        None
    }

    /// The labels whose keys have one of these lengths, by key: the length of the key, and key and value in one piece.
    #[doc(hidden)]
    #[inline]
    pub fn with_key_lengths(&self, lengths: KeyLengths) -> impl Iterator<Item = (u32, &[u8])> {
        let labels =
            self.entries.iter().enumerate().filter(move |(_, [length, _])| lengths.contains(*length));
        labels.map(|(index, [length, end])| {
            let label = self.text.as_bytes().get(self.begin(index)..*end as usize);
            (*length, label.unwrap_or_default())
        })
    }

    /// Where a label begins in the text.
    #[inline]
    fn begin(&self, index: usize) -> usize {
        let before = index.checked_sub(1).and_then(|before| self.entries.get(before));
        before.map_or(0, |[_, end]| *end as usize)
    }

    /// Whether there is such a label.
    #[inline]
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// All labels, by key.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.entries.iter().scan(0, |begin, [length, end]| {
            let label = self.text.get(*begin..*end as usize).unwrap_or_default();
            *begin = *end as usize;
            Some(label.split_at_checked(*length as usize).unwrap_or_default())
        })
    }

    /// The number of labels.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The same labels with this one set. It packs all labels again.
    #[must_use]
    pub fn with(&self, key: &str, value: &str) -> Self {
        self.iter().chain([(key, value)]).collect()
    }
}

impl<K: AsRef<str>, V: AsRef<str>> Extend<(K, V)> for Labels {
    /// Sets labels. It packs all labels again.
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, labels: I) {
        let more: Labels = labels.into_iter().collect();
        *self = self.iter().chain(more.iter()).collect();
    }
}

impl<K: AsRef<str>, V: AsRef<str>> FromIterator<(K, V)> for Labels {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(labels: I) -> Self {
        let mut labels: Vec<(K, V)> = labels.into_iter().collect();
        labels.sort_by(|(a, _), (b, _)| a.as_ref().cmp(b.as_ref()));
        let size = labels.iter().map(|(k, v)| k.as_ref().len() + v.as_ref().len()).sum();
        let mut text = String::with_capacity(size);
        let mut entries: Vec<Entry> = Vec::with_capacity(labels.len());
        // No API server returns more than four gigabytes of labels.
        let length = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
        for (index, (key, value)) in labels.iter().enumerate() {
            if labels.get(index + 1).is_some_and(|(next, _)| next.as_ref() == key.as_ref()) {
                continue;
            }
            text.push_str(key.as_ref());
            text.push_str(value.as_ref());
            entries.push([length(key.as_ref()), length(&text)]);
        }
        Labels { text: text.into(), entries: entries.into() }
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Labels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(LabelsVisitor)
    }
}

struct LabelsVisitor;

impl<'de> Visitor<'de> for LabelsVisitor {
    type Value = Labels;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of strings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Labels, A::Error> {
        let mut labels: Vec<(String, String)> = Vec::with_capacity(map.size_hint().unwrap_or(8));
        while let Some((key, value)) = map.next_entry::<String, Option<String>>()? {
            labels.push((key, value.unwrap_or_default()));
        }
        Ok(labels.into_iter().collect())
    }
}
