//! The parts of an image's reference.

/// Name, tag and digest as they are written, valid or not.
///
/// ```
/// use daemonset::kubernetes::ImageReference;
///
/// let image = ImageReference::split("registry.example:5000/team/agent:1.2@sha256:0f");
/// assert_eq!(image.name, "registry.example:5000/team/agent");
/// assert_eq!((image.tag, image.digest), (Some("1.2"), Some("sha256:0f")));
///
/// assert!(ImageReference::split("registry.example:5000/agent").is_latest());
/// assert!(!ImageReference::split("agent@sha256:0f").is_latest());
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ImageReference<'a> {
    /// Domain and path.
    pub name: &'a str,
    /// After the last colon behind the last slash.
    pub tag: Option<&'a str>,
    /// Behind the `@`.
    pub digest: Option<&'a str>,
}

impl<'a> ImageReference<'a> {
    /// Splits a reference into its parts.
    pub fn split(image: &'a str) -> Self {
        let (named, digest) = match image.split_once('@') {
            Some((named, digest)) => (named, Some(digest)),
            None => (image, None),
        };
        let (name, tag) = split_tag(named);
        ImageReference { name, tag, digest }
    }

    /// Whether its tag is `latest`, also by default because it has neither tag nor digest (v1.36 `pkg/util/parsers
    /// ParseImageName`).
    pub fn is_latest(&self) -> bool {
        self.tag.map_or(self.digest.is_none(), |tag| tag == "latest")
    }
}

/// A colon before the last slash belongs to a registry's port.
fn split_tag(named: &str) -> (&str, Option<&str>) {
    match named.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        Some(_) | None => (named, None),
    }
}
