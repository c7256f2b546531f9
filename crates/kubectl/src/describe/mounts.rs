//! Where a container sees volumes: mounts and devices, by path.

use crate::text::Page;
use daemonset_apiserver::fields::{flag, list, text};
use daemonset_apiserver::go::quoted;
use serde_json::Value;

/// v1.36 kubectl `describe.go describeContainerVolumes`.
pub(super) fn mounts(page: &mut Page, container: &Value) {
    let mounts = by_path(container, "volumeMounts", "mountPath");
    let none = if mounts.is_empty() { "\t<none>" } else { "" };
    page.write(2, &format!("Mounts:{none}\n"));
    for mount in mounts {
        let (path, name) = (text(mount, "mountPath"), text(mount, "name"));
        page.write(3, &format!("{path} from {name} ({})\n", flags(mount)));
    }
    let devices = by_path(container, "volumeDevices", "devicePath");
    if !devices.is_empty() {
        // kubectl asks the mounts, not the devices, whether there are none.
        page.write(2, &format!("Devices:{none}\n"));
    }
    for device in devices {
        page.write(3, &format!("{} from {}\n", text(device, "devicePath"), text(device, "name")));
    }
}

fn by_path<'a>(container: &'a Value, key: &str, path: &str) -> Vec<&'a Value> {
    let mut items: Vec<_> = list(container, key).iter().collect();
    items.sort_by_key(|item| text(item, path));
    items
}

fn flags(mount: &Value) -> String {
    let access = if flag(mount, "readOnly") { "ro" } else { "rw" };
    match text(mount, "subPath") {
        "" => access.to_owned(),
        path => format!("{access},path={}", quoted(path)),
    }
}
