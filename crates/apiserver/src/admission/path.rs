//! The path to a field, formatted only when an error needs it.

use std::fmt;

/// The path from the object to one of its fields. Prints as Kubernetes writes it:
/// `spec.template.spec.containers[0].name` (v1.36 apimachinery field/path.go).
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldPath<'a> {
    parent: Option<&'a FieldPath<'a>>,
    step: Step<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Child(&'a str),
    Index(usize),
    Key(&'a str),
}

impl<'a> FieldPath<'a> {
    pub(crate) const fn new(root: &'a str) -> Self {
        FieldPath { parent: None, step: Step::Child(root) }
    }

    pub(crate) const fn child<'b>(&'b self, name: &'b str) -> FieldPath<'b> {
        FieldPath { parent: Some(self), step: Step::Child(name) }
    }

    pub(crate) const fn index(&self, position: usize) -> FieldPath<'_> {
        FieldPath { parent: Some(self), step: Step::Index(position) }
    }

    pub(crate) const fn key<'b>(&'b self, key: &'b str) -> FieldPath<'b> {
        FieldPath { parent: Some(self), step: Step::Key(key) }
    }
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut steps = vec![self];
        let mut above = self.parent;
        while let Some(path) = above {
            steps.push(path);
            above = path.parent;
        }
        for path in steps.into_iter().rev() {
            match path.step {
                // A child without a name is written as Go writes it: an index without one.
                Step::Child("") => f.write_str("[]")?,
                Step::Child(name) if path.parent.is_none() => f.write_str(name)?,
                Step::Child(name) => write!(f, ".{name}")?,
                Step::Index(position) => write!(f, "[{position}]")?,
                Step::Key(key) => write!(f, "[{key}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_as_kubernetes_writes_it() {
        let spec = FieldPath::new("spec");
        let limits = spec.child("containers").index(3).child("limits").key("example.com/a").to_string();
        assert_eq!(limits, "spec.containers[3].limits[example.com/a]");
        assert_eq!(FieldPath::new("").to_string(), "[]");
    }
}
