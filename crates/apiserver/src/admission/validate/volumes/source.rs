//! The source of a volume: exactly one, each kind with its own rules.

use super::{claim, cloud, csi, files, host, iscsi, network, projected};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::Pod;
use crate::json::member;
use serde_json::Value;

/// The rules of a source.
enum Rules {
    Plain(fn(&Value, &FieldPath<'_>, &mut ErrorList)),
    /// Rules that depend on the validation options.
    WithOptions(fn(&Value, &Pod<'_>, &FieldPath<'_>, &mut ErrorList)),
}

/// A kind of source.
struct Source {
    field: &'static str,
    /// The name of the field in the message about a second source; upstream misspells some.
    refused_as: &'static str,
    /// The name of the field in the other messages.
    reported_as: &'static str,
    rules: Rules,
}

const fn source(field: &'static str, rules: fn(&Value, &FieldPath<'_>, &mut ErrorList)) -> Source {
    Source { field, refused_as: field, reported_as: field, rules: Rules::Plain(rules) }
}

const fn with_options(
    field: &'static str,
    rules: fn(&Value, &Pod<'_>, &FieldPath<'_>, &mut ErrorList),
) -> Source {
    Source { field, refused_as: field, reported_as: field, rules: Rules::WithOptions(rules) }
}

/// The sources, in the API server's order: the first one that is set counts (v1.36 core/validation
/// `validateVolumeSource`).
const SOURCES: [Source; 30] = [
    source("emptyDir", host::empty_dir),
    source("hostPath", host::host_path),
    source("gitRepo", host::git_repo),
    Source { reported_as: "persistentDisk", ..source("gcePersistentDisk", cloud::gce) },
    source("awsElasticBlockStore", cloud::aws),
    source("secret", files::secret),
    source("nfs", network::nfs),
    source("iscsi", iscsi::iscsi),
    source("glusterfs", network::glusterfs),
    source("flocker", network::flocker),
    source("persistentVolumeClaim", claim::reference),
    source("rbd", network::rbd),
    source("cinder", cloud::cinder),
    Source { refused_as: "cephFS", ..source("cephfs", network::cephfs) },
    source("quobyte", network::quobyte),
    Source { refused_as: "downwarAPI", ..source("downwardAPI", files::downward_api) },
    source("fc", network::fibre_channel),
    source("flexVolume", csi::flex_volume),
    source("configMap", files::config_map),
    source("azureFile", cloud::azure_file),
    source("vsphereVolume", cloud::vsphere),
    source("photonPersistentDisk", cloud::photon),
    source("portworxVolume", cloud::portworx),
    source("azureDisk", cloud::azure_disk),
    source("storageos", network::storage_os),
    with_options("projected", projected::projected),
    source("scaleIO", network::scale_io),
    source("csi", csi::csi),
    source("ephemeral", claim::ephemeral),
    with_options("image", host::image),
];

pub(super) fn volume_source(volume: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let mut sources = 0;
    for source in &SOURCES {
        let Some(value) = member(volume, source.field) else { continue };
        sources += 1;
        match source.rules {
            _ if sources > 1 => {
                errors.forbidden(&path.child(source.refused_as), "may not specify more than 1 volume type");
            }
            Rules::Plain(rules) => rules(value, &path.child(source.reported_as), errors),
            Rules::WithOptions(rules) => rules(value, pod, &path.child(source.reported_as), errors),
        }
        if source.field == "iscsi" {
            iscsi::name_and_portal(volume, value, &path.child("name"), errors);
        }
    }
    if sources == 0 {
        errors.required(path, "must specify a volume type");
    }
}
