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
    /// The ends of each key and value in the text.
    ends: Arc<[Ends]>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Ends {
    key: u32,
    value: u32,
}

impl Labels {
    /// The value of a label.
    pub fn get(&self, key: &str) -> Option<&str> {
        let mut start = 0;
        for end in self.ends.iter() {
            let (key_end, value_end) = (end.key as usize, end.value as usize);
            if key_end - start == key.len() && self.text.get(start..key_end) == Some(key) {
                return self.text.get(key_end..value_end);
            }
            start = value_end;
        }
        None
    }

    /// Whether there is such a label.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// All labels, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.ends.iter().scan(0, |start, end| {
            let (from, key_end, value_end) = (*start, end.key as usize, end.value as usize);
            *start = value_end;
            let key = self.text.get(from..key_end).unwrap_or_default();
            Some((key, self.text.get(key_end..value_end).unwrap_or_default()))
        })
    }

    /// The number of labels.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
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
        let mut ends: Vec<Ends> = Vec::with_capacity(labels.len());
        // No API server returns more than four gigabytes of labels.
        let here = |text: &String| u32::try_from(text.len()).unwrap_or(u32::MAX);
        for (index, (key, value)) in labels.iter().enumerate() {
            if labels.get(index + 1).is_some_and(|(next, _)| next.as_ref() == key.as_ref()) {
                continue;
            }
            text.push_str(key.as_ref());
            let key_end = here(&text);
            text.push_str(value.as_ref());
            ends.push(Ends { key: key_end, value: here(&text) });
        }
        Labels { text: text.into(), ends: ends.into() }
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    #[test]
    fn it_is_a_map_of_strings() {
        let json = json!({"b": "2", "a": "", "": "empty", "ab": "3", "é\u{0}": "ß"});
        let labels: Labels = serde_json::from_value(json.clone()).unwrap();
        let map: BTreeMap<String, String> = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(&labels).unwrap(), json);
        assert!(labels.iter().eq(map.iter().map(|(k, v)| (k.as_str(), v.as_str()))));
        for (key, value) in &map {
            assert_eq!(labels.get(key), Some(value.as_str()));
        }
        for absent in ["c", "aa", "b2", "2", "a b"] {
            assert_eq!(labels.get(absent), None, "{absent}");
        }
        assert_eq!((labels.len(), labels.is_empty()), (5, false));
        assert_eq!(labels, map.iter().rev().collect());
    }

    #[test]
    fn the_last_value_of_a_key_counts() {
        let labels: Labels = [("b", "1"), ("a", "1"), ("b", "2")].into_iter().collect();
        assert_eq!(format!("{labels:?}"), r#"{"a": "1", "b": "2"}"#);
        assert_eq!(labels.with("a", "9").get("a"), Some("9"));
        let mut more = labels.clone();
        more.extend([("c", "3"), ("a", "2")]);
        assert_eq!(format!("{more:?}"), r#"{"a": "2", "b": "2", "c": "3"}"#);
        let twice: Labels = serde_json::from_str(r#"{"a": "1", "a": null}"#).unwrap();
        assert_eq!(twice.get("a"), Some(""));
        assert!(serde_json::from_str::<Labels>(r#"{"a": 1}"#).is_err());
        assert!(serde_json::from_str::<Labels>(r#"["a"]"#).is_err());
    }
}
