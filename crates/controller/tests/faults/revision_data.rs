//! The data of revisions as the API server stores it: the bytes that it was sent. A patch, whatever it changes, writes them again as
//! Go does, and is refused if they become others. Each answer was seen on Kubernetes v1.37.1.

use crate::store::text;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::BTreeMap;

/// How the API server applies a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchPath {
    /// It decodes the data into values, and encodes these.
    StrategicMerge,
    /// It takes white space out of the data, and escapes `<`, `>`, `&`, U+2028 and U+2029.
    Merge,
}

/// The bytes of each revision's data, by uid. Those of a revision that is not here are Go's, as Kubernetes' controller writes them.
#[derive(Default)]
pub struct RevisionData(BTreeMap<String, String>);

impl RevisionData {
    /// Keeps the data of a revision that was sent as this body.
    pub fn keep(&mut self, revision: &Value, body: &str) {
        self.0.insert(text(&revision["metadata"]["uid"]).to_owned(), data_of(body).to_owned());
    }

    /// Whether a patch, applied in this way, writes other bytes than the stored ones.
    pub fn is_changed_by(&self, revision: &Value, path: PatchPath) -> bool {
        let stored = self.0.get(text(&revision["metadata"]["uid"]));
        stored.is_some_and(|stored| match path {
            PatchPath::StrategicMerge => *stored != as_go(&revision["data"]),
            PatchPath::Merge => *stored != escaped(&compact(stored)),
        })
    }

    /// Whether this body has the stored data, byte by byte.
    pub fn is(&self, revision: &Value, body: &str) -> bool {
        match self.0.get(text(&revision["metadata"]["uid"])) {
            Some(stored) => *stored == data_of(body),
            None => data_of(body) == as_go(&revision["data"]),
        }
    }
}

/// The bytes of the member `data`, which is the first with this name in every body.
fn data_of(body: &str) -> &str {
    let (_, data) = body.split_once("\"data\":").expect("a revision has data");
    let mut values = serde_json::Deserializer::from_str(data).into_iter::<IgnoredAny>();
    values.next().expect("a value").expect("JSON");
    data[..values.byte_offset()].trim_start()
}

/// As Go writes values without floats: the templates of the stories have none.
fn as_go(data: &Value) -> String {
    let mut data = data.clone();
    data.sort_all_objects();
    escaped(&data.to_string())
}

/// These characters are only in strings.
fn escaped(json: &str) -> String {
    let escape = |char: char| match char {
        '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => format!("\\u{:04x}", u32::from(char)),
        char => char.to_string(),
    };
    json.chars().map(escape).collect()
}

/// Without the white space outside of strings.
fn compact(json: &str) -> String {
    let (mut in_string, mut is_escaped) = (false, false);
    let mut keep = |char: char| {
        let is_quote = char == '"' && !is_escaped;
        is_escaped = in_string && char == '\\' && !is_escaped;
        in_string ^= is_quote;
        in_string || !char.is_whitespace()
    };
    json.chars().filter(|char| keep(*char)).collect()
}

/// The answers of Kubernetes v1.37.1 to a strategic merge patch and to a merge patch of a revision with these data: whether the data
/// count as changed.
#[test]
fn patches_change_data_as_in_kubernetes() {
    for (data, strategic, merge) in [
        (r#"{"spec":{"a":1}}"#, false, false),
        (r#"{"spec": {"a":1}}"#, true, true),
        (r#"{"spec":{"a":"2>&1"}}"#, true, true),
        (r#"{"spec":{"a":"2\u003e\u00261"}}"#, false, false),
        (r#"{"z":1,"a":2}"#, true, false),
        (r#"{"a":null,"b":{}}"#, false, false),
        (r#"{"a":"\u00e9"}"#, true, false),
        (r#"{"a":"\u003C"}"#, true, false),
        (r#"{"a":"\u0008"}"#, true, false),
        ("{\"a\":\"\u{7f}\"}", false, false),
        (r#"{"a":"\b\f\u0001"}"#, false, false),
    ] {
        let revision = serde_json::json!({"metadata": {"uid": "r"}, "data": serde_json::from_str::<Value>(data).expect("JSON")});
        let mut stored = RevisionData::default();
        let body = format!(r#"{{"data": {data}}}"#);
        stored.keep(&revision, &body);
        assert_eq!(stored.is_changed_by(&revision, PatchPath::StrategicMerge), strategic, "{data}");
        assert_eq!(stored.is_changed_by(&revision, PatchPath::Merge), merge, "{data}");
        assert!(stored.is(&revision, &body));
    }
}
