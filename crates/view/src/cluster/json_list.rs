//! A JSON List, read one item at a time: items are large.

use crate::cluster::objects::Objects;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

impl Objects {
    /// Reads a JSON List.
    pub fn from_json_list(json: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Members {
            items: Items,
        }
        let deserializer = &mut serde_json::Deserializer::from_slice(json);
        let read: Result<Members, _> = serde_path_to_error::deserialize(deserializer);
        read.map_err(|error| error.to_string())?.items.0
    }
}

/// One item. The API server stores the data of a revision as the bytes that it was sent: where it can't be read it is left out,
/// which is a problem of its owner alone.
fn value(json: &str) -> serde_json::Result<Value> {
    serde_json::from_str(json).or_else(|error| {
        let mut members: BTreeMap<String, &RawValue> = serde_json::from_str(json)?;
        if members.remove("data").is_none() {
            return Err(error);
        }
        let members = members.into_iter().map(|(name, json)| Ok((name, serde_json::from_str(json.get())?)));
        members.collect::<serde_json::Result<_>>().map(Value::Object)
    })
}

/// The items of a JSON List, read so.
pub(crate) fn items_of(json: &[u8]) -> Option<Vec<Value>> {
    #[derive(Deserialize)]
    struct Members<'a> {
        #[serde(borrow)]
        items: Vec<&'a RawValue>,
    }
    let Members { items } = serde_json::from_slice(json).ok()?;
    items.into_iter().map(|item| value(item.get()).ok()).collect()
}

/// A List, or the first thing that is wrong with its items. Holds one raw item at a time.
struct Items(Result<Objects, String>);

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListReader;

        impl<'de> Visitor<'de> for ListReader {
            type Value = Items;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            /// `null` is an empty list.
            fn visit_unit<E>(self) -> Result<Items, E> {
                Ok(Items(Ok(Objects::default())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Items, A::Error> {
                let mut objects = Objects::default();
                let mut read = Ok(());
                let mut place = 0;
                while let Some(item) = items.next_element::<&RawValue>()? {
                    let path = format!("items[{place}]");
                    read = read.and_then(|()| match value(item.get()) {
                        Ok(item) => objects.add_object(path, item),
                        Err(error) => Err(format!("{path}: {error}")),
                    });
                    place += 1;
                }
                // An object that can't be read comes before one that has no kind.
                Ok(Items(match (read, &objects.unreadable) {
                    (Err(_), Some(first)) => Err(first.clone()),
                    (read, _) => read.map(|()| objects),
                }))
            }
        }

        deserializer.deserialize_any(ListReader)
    }
}
