//! The text of an object as the API server stores and sends it. The `data` of a revision is any bytes that are JSON by their form:
//! numbers beyond every type, lone surrogates, arrays nested by the thousand. A string of the store stands for them.

use serde::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

const BEGIN: &str = "bytes:";
/// A character of private use.
pub const NO_UTF8: char = '\u{e000}';

/// The value of the store that is sent as these bytes.
pub fn bytes(json: &str) -> Value {
    Value::String(format!("{BEGIN}{json}"))
}

/// An object as it is sent. A Rust string can't hold bytes that are no UTF-8: `NO_UTF8` stands for one.
pub fn sent(object: &Value) -> Vec<u8> {
    let text = serde_json::to_string(&Sent(object)).expect("bytes that are JSON by their form");
    let parts: Vec<&[u8]> = text.split(NO_UTF8).map(str::as_bytes).collect();
    parts.join(&0xff)
}

struct Sent<'v>(&'v Value);

impl Serialize for Sent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    map.serialize_entry(name, &Sent(value))?;
                }
                map.end()
            }
            Value::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(&Sent(item))?;
                }
                list.end()
            }
            Value::String(text) => match text.strip_prefix(BEGIN) {
                Some(json) => {
                    RawValue::from_string(json.to_owned()).map_err(S::Error::custom)?.serialize(serializer)
                }
                None => serializer.serialize_str(text),
            },
            other => other.serialize(serializer),
        }
    }
}
