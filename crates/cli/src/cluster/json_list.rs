//! A JSON List, read one item at a time: items are large.

use crate::cluster::objects::Objects;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt;

impl Objects {
    /// Reads a JSON List.
    pub(super) fn from_json_list(json: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Members {
            items: Items,
        }
        let deserializer = &mut serde_json::Deserializer::from_slice(json);
        let read: Result<Members, _> = serde_path_to_error::deserialize(deserializer);
        read.map_err(|error| error.to_string())?.items.0
    }
}

/// A List, or the first thing that is wrong with its items. Holds one raw item at a time.
struct Items(Result<Objects, String>);

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
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
                while let Some(item) = items.next_element::<Value>()? {
                    read = read.and_then(|()| objects.add_object(format!("items[{place}]"), item));
                    place += 1;
                }
                // An object that can't be read comes before one that has no kind.
                Ok(Items(match (read, &objects.unreadable) {
                    (Err(_), Some(first)) => Err(first.clone()),
                    (read, _) => read.map(|()| objects),
                }))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}
