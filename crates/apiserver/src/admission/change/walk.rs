//! Walking two templates side by side, by the fields of the API.

use crate::schema::{Field, Kind, POD_TEMPLATE_SPEC, PatchStrategy, Struct, field_equal, semantic_equal};
use daemonset_objects::kubernetes::canonical_json;
use serde_json::{Map, Value};
use std::fmt;

static NULL: Value = Value::Null;

/// A segment of the path to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathSegment {
    /// A field: `.image`.
    Field(&'static str),
    /// A member of a map, or the item of a list with this key: `[web]`.
    Key(String),
    /// An item of a list without keys: `[0]`.
    Index(usize),
}

/// A value that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The path to the value, starting at the DaemonSet.
    pub path: Vec<PathSegment>,
    /// The stored value; `None` if the field is absent.
    pub old: Option<Value>,
    /// The new value; `None` if the field is removed.
    pub new: Option<Value>,
}

impl fmt::Display for Difference {
    /// `spec.template.spec.containers[web].image: "web:v1" -> "web:v2"`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.path.iter().enumerate() {
            match segment {
                PathSegment::Field(name) if index == 0 => f.write_str(name)?,
                PathSegment::Field(name) => write!(f, ".{name}")?,
                PathSegment::Key(key) => write!(f, "[{key}]")?,
                PathSegment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        let text = |value: &Option<Value>| value.as_ref().map_or("absent".to_owned(), Value::to_string);
        write!(f, ": {} -> {}", text(&self.old), text(&self.new))
    }
}

/// The fields in which two templates differ in meaning.
pub(super) fn differences(old: &Value, new: &Value) -> Vec<Difference> {
    let mut walk = Walk { path: top(), found: Vec::new(), same: semantic_equal };
    walk.structs(&POD_TEMPLATE_SPEC, old, new);
    walk.found
}

/// The fields that the manifest spells differently from the stored template although the applied template means the
/// same.
pub(super) fn equivalent_spellings(stored: &Value, manifest: &Value, applied: &Value) -> Vec<Difference> {
    let by_spelling = |_: Kind, a: &Value, b: &Value| canonical_json::equal(a, b);
    let mut walk = Walk { path: top(), found: Vec::new(), same: by_spelling };
    walk.structs(&POD_TEMPLATE_SPEC, stored, manifest);
    let real = differences(stored, applied);
    let is_real = |found: &Difference| {
        real.iter().any(|real| real.path.starts_with(&found.path) || found.path.starts_with(&real.path))
    };
    walk.found.retain(|found| !is_real(found));
    walk.found
}

fn top() -> Vec<PathSegment> {
    vec![PathSegment::Field("spec"), PathSegment::Field("template")]
}

struct Walk {
    path: Vec<PathSegment>,
    found: Vec<Difference>,
    /// Whether two values of this kind count as equal.
    same: fn(Kind, &Value, &Value) -> bool,
}

impl Walk {
    fn structs(&mut self, of: &'static Struct, old: &Value, new: &Value) {
        for field in of.fields() {
            let [a, b] = [old, new].map(|object| object.get(field.name).unwrap_or(&NULL));
            self.at(PathSegment::Field(field.name), |walk| walk.field(field, [a, b], [old, new]));
        }
    }

    fn field(&mut self, field: &Field, [old, new]: [&Value; 2], within: [&Value; 2]) {
        let [old_struct, new_struct] = within;
        if (self.same)(field.kind, old, new) && (old == new || field_equal(field, old_struct, new_struct)) {
            return;
        }
        match (field.kind, old, new) {
            (Kind::Struct(of), Value::Object(_), Value::Object(_)) => self.structs(of, old, new),
            (Kind::Map(_), Value::Object(old), Value::Object(new)) => self.maps(field.kind, old, new),
            (Kind::Structs(of), Value::Array(old), Value::Array(new)) => match merge_key(field) {
                Some(key) => self.keyed(of, key, [old, new]),
                None => self.indexed(of, old, new),
            },
            (Kind::One(_) | Kind::Map(_) | Kind::List(_) | Kind::Struct(_) | Kind::Structs(_), _, _) => {
                self.differs(old, new);
            }
        }
    }

    fn maps(&mut self, kind: Kind, old: &Map<String, Value>, new: &Map<String, Value>) {
        let keys = old.keys().chain(new.keys().filter(|key| !old.contains_key(*key)));
        for key in keys {
            let [a, b] = [old, new].map(|map| map.get(key).unwrap_or(&NULL));
            let alone = |value: &Value| Value::Object(Map::from_iter([(key.clone(), value.clone())]));
            if a.is_null() != b.is_null() || !(self.same)(kind, &alone(a), &alone(b)) {
                self.at(PathSegment::Key(key.clone()), |walk| walk.differs(a, b));
            }
        }
    }

    /// Compares lists item by item, paired by their keys. If an item lacks a key, or two items share one, the items
    /// are paired by index.
    fn keyed(&mut self, of: &'static Struct, key: &str, [old, new]: [&Vec<Value>; 2]) {
        let (Some(old_keys), Some(new_keys)) = (distinct_keys(old, key), distinct_keys(new, key)) else {
            return self.indexed(of, old, new);
        };
        let before = self.found.len();
        for (name, a) in old_keys.iter().zip(old) {
            let b = new_keys.iter().position(|other| other == name).and_then(|index| new.get(index));
            self.at(PathSegment::Key(name.clone()), |walk| walk.item(of, a, b.unwrap_or(&NULL)));
        }
        for (name, b) in new_keys.iter().zip(new).filter(|(name, _)| !old_keys.contains(name)) {
            self.at(PathSegment::Key(name.clone()), |walk| walk.item(of, &NULL, b));
        }
        if self.found.len() == before && old_keys != new_keys {
            self.differs(&Value::from(old_keys), &Value::from(new_keys));
        }
    }

    fn indexed(&mut self, of: &'static Struct, old: &[Value], new: &[Value]) {
        for index in 0..old.len().max(new.len()) {
            let [a, b] = [old, new].map(|list| list.get(index).unwrap_or(&NULL));
            self.at(PathSegment::Index(index), |walk| walk.item(of, a, b));
        }
    }

    fn item(&mut self, of: &'static Struct, old: &Value, new: &Value) {
        match (old, new) {
            (Value::Object(_), Value::Object(_)) => self.structs(of, old, new),
            (_, _) => self.differs(old, new),
        }
    }

    fn differs(&mut self, old: &Value, new: &Value) {
        let [old, new] = [old, new].map(|value| Some(value).filter(|value| !value.is_null()).cloned());
        self.found.push(Difference { path: self.path.clone(), old, new });
    }

    fn at(&mut self, segment: PathSegment, walk: impl FnOnce(&mut Self)) {
        self.path.push(segment);
        walk(self);
        self.path.pop();
    }
}

fn merge_key(field: &Field) -> Option<&'static str> {
    match field.patch {
        PatchStrategy::MergeBy(key) | PatchStrategy::MergeByRetainingKeys(key) => Some(key),
        PatchStrategy::Default | PatchStrategy::MergeSet => None,
    }
}

/// The items' keys as texts; `None` unless every item has a key of its own.
fn distinct_keys(items: &[Value], key: &str) -> Option<Vec<String>> {
    let mut keys = Vec::new();
    for item in items {
        let text = match item.get(key)? {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
        };
        if keys.contains(&text) {
            return None;
        }
        keys.push(text);
    }
    Some(keys)
}
