//! The parts of a template that decide whether its pod can start on a node at once: images that are pulled, and requests.

use daemonset_objects::kubernetes::ImageReference;
use daemonset_objects::model::{Container, ContainerImage, Pod};
use serde::Deserialize;
use serde_json::{Value, json};

/// The images of a template and its pod.
#[derive(Debug, Clone)]
pub(crate) struct PodWants {
    /// The distinct images, init containers first; those that are never pulled are left out.
    pub images: Vec<Image>,
    /// Its pod, for its requests; `None` for a template whose containers can't be read.
    pub pod: Option<Pod>,
}

/// An image with its first pull policy.
#[derive(Debug, Clone)]
pub struct Image {
    pub reference: String,
    pub pull_policy: String,
}

/// The containers of a pod template.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Containers {
    init_containers: Option<Vec<Container>>,
    containers: Option<Vec<Container>>,
}

impl PodWants {
    pub(crate) fn of_template(template: &Value) -> Self {
        let spec = template.get("spec").unwrap_or(&Value::Null);
        PodWants { images: images(template), pod: Pod::deserialize(&json!({"spec": spec})).ok() }
    }
}

/// The distinct images of a template that are pulled, init containers first.
pub fn images(template: &Value) -> Vec<Image> {
    let containers =
        template.get("spec").and_then(|spec| Containers::deserialize(spec).ok()).unwrap_or_default();
    let lists = [containers.init_containers, containers.containers];
    let mut list: Vec<Image> = Vec::new();
    for Container { image, image_pull_policy, .. } in lists.into_iter().flatten().flatten() {
        let is_known = list.iter().any(|known| known.reference == image);
        if !is_known && !image.is_empty() {
            list.push(Image { reference: image, pull_policy: image_pull_policy });
        }
    }
    list.retain(|image| image.pull_policy != "Never");
    list
}

impl Image {
    /// Whether a node with these images has it, so that each start finds it there.
    pub(crate) fn is_on(&self, on_node: &[ContainerImage]) -> bool {
        let is_named = on_node.iter().any(|on_node| on_node.names.contains(&self.reference));
        is_named && !self.is_pulled_again()
    }

    /// Whether each start of a container asks the registry (v1.36 core `SetDefaults_Container`). A digest names one content.
    pub fn is_pulled_again(&self) -> bool {
        let reference = ImageReference::split(&self.reference);
        let always = match self.pull_policy.as_str() {
            "" => reference.is_latest(),
            policy => policy == "Always",
        };
        always && reference.digest.is_none()
    }
}
