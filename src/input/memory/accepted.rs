//! An action that the API server accepted, and its JSON form.

use daemonset_objects::model::Uid;
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An action that the API server accepted (or may have accepted).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight<T> {
    /// What a snapshot will show.
    pub expected: T,
    /// When the outcome was known.
    pub at: Timestamp,
    /// The resource version with it, if known: a list at this version or a later one shows the outcome.
    pub version: Option<u64>,
}

/// A created pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedPod {
    /// Its uid; not known when the answer was lost.
    pub uid: Option<Uid>,
    /// The hash of its revision.
    pub revision: String,
}

/// A deleted pod of the DaemonSet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeletedPod;

/// A patched node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatchedNode;

/// A pull pod, created or deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PullPodCall;

/// A pod that was changed in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedPod {
    /// The instant that the changed pod shows.
    pub changed_at: Timestamp,
}

/// A DaemonSet with its restored template. The version is the one before, which was a precondition: a later one shows the outcome,
/// whatever it was, since with it the patch has been done, or never will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestoredTemplate;

/// What an accepted action leads to.
pub trait Expected: Sized {
    fn from_members(members: &mut Members) -> Result<Self, &'static str>;
    fn into_members(self, members: &mut Members);

    fn deserialize_members<'de, D: Deserializer<'de>>(from: D) -> Result<Members, D::Error> {
        Members::deserialize(from)
    }

    fn serialize_members<S: Serializer>(members: &Members, to: S) -> Result<S::Ok, S::Error> {
        members.serialize(to)
    }
}

/// The JSON members of all these entries, in their order: each entry has some.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Members {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uid: Option<Uid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revision: Option<String>,
    at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changed_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<u64>,
}

impl<'de, T: Expected> Deserialize<'de> for InFlight<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut members = T::deserialize_members(from)?;
        let expected = T::from_members(&mut members).map_err(de::Error::missing_field)?;
        Ok(InFlight { expected, at: members.at, version: members.version })
    }
}

impl<T: Expected + Clone> Serialize for InFlight<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut members = Members::new(self.at, self.version);
        self.expected.clone().into_members(&mut members);
        T::serialize_members(&members, to)
    }
}

impl Members {
    fn new(at: Timestamp, version: Option<u64>) -> Self {
        Members { uid: None, revision: None, at, version, changed_at: None, before: None }
    }
}

impl Expected for CreatedPod {
    fn from_members(members: &mut Members) -> Result<Self, &'static str> {
        Ok(CreatedPod { uid: members.uid.take(), revision: members.revision.take().ok_or("revision")? })
    }

    fn into_members(self, members: &mut Members) {
        members.uid = self.uid;
        members.revision = Some(self.revision);
    }
}

impl Expected for DeletedPod {
    fn from_members(_: &mut Members) -> Result<Self, &'static str> {
        Ok(DeletedPod)
    }

    fn into_members(self, _: &mut Members) {}

    fn deserialize_members<'de, D: Deserializer<'de>>(from: D) -> Result<Members, D::Error> {
        Ok(match WrittenDelete::deserialize(from)? {
            WrittenDelete::At(at) => Members::new(at, None),
            WrittenDelete::WithVersion { at, version } => Members::new(at, Some(version)),
        })
    }

    fn serialize_members<S: Serializer>(members: &Members, to: S) -> Result<S::Ok, S::Error> {
        match members.version {
            None => members.at.serialize(to),
            Some(_) => members.serialize(to),
        }
    }
}

/// The JSON form of a delete: the instant alone where no version is known.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenDelete {
    At(Timestamp),
    WithVersion { at: Timestamp, version: u64 },
}

impl Expected for PatchedNode {
    fn from_members(_: &mut Members) -> Result<Self, &'static str> {
        Ok(PatchedNode)
    }

    fn into_members(self, _: &mut Members) {}
}

impl Expected for PullPodCall {
    fn from_members(_: &mut Members) -> Result<Self, &'static str> {
        Ok(PullPodCall)
    }

    fn into_members(self, _: &mut Members) {}
}

impl Expected for ChangedPod {
    fn from_members(members: &mut Members) -> Result<Self, &'static str> {
        members.changed_at.map(|changed_at| ChangedPod { changed_at }).ok_or("changedAt")
    }

    fn into_members(self, members: &mut Members) {
        members.changed_at = Some(self.changed_at);
    }
}

impl Expected for RestoredTemplate {
    fn from_members(members: &mut Members) -> Result<Self, &'static str> {
        members.version = members.before.take();
        Ok(RestoredTemplate)
    }

    fn into_members(self, members: &mut Members) {
        members.before = members.version.take();
    }
}

#[cfg(test)]
mod tests {
    use crate::Memory;

    #[test]
    fn a_stored_memory_is_written_as_it_was_read() {
        let at = r#""2026-01-01T12:00:00Z""#;
        let text = format!(
            r#"{{"creates":{{"a":{{"uid":"u","revision":"r","at":{at},"version":5}},"b":{{"revision":"r","at":{at}}}}},"#
        ) + &format!(r#""deletes":{{"c":{at},"d":{{"at":{at},"version":6}}}},"turns":{{"#)
            + &format!(r#""patches":{{"a":{{"at":{at},"version":7}},"b":{{"at":{at}}}}},"#)
            + &format!(r#""pulls":{{"p":{{"at":{at},"version":8}}}},"pullDeletes":{{"q":{{"at":{at}}}}},"#)
            + &format!(r#""inPlace":{{"e":{{"at":{at},"version":9,"changedAt":{at}}}}}}},"#)
            + &format!(r#""restores":{{"accepted":{{"at":{at},"before":4}}}}}}"#);
        let memory: Memory = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&memory).unwrap(), text);
    }

    #[test]
    fn an_entry_without_what_it_expects_is_refused() {
        for (entries, member) in
            [(r#"{"creates":{"a":{"at":"#, "revision"), (r#"{"turns":{"inPlace":{"a":{"at":"#, "changedAt")]
        {
            let closing = "}".repeat(entries.matches('{').count());
            let text = format!(r#"{entries}"2026-01-01T12:00:00Z"{closing}"#);
            let problem = serde_json::from_str::<Memory>(&text).unwrap_err().to_string();
            assert!(problem.starts_with(&format!("missing field `{member}`")), "{problem}");
        }
    }
}
