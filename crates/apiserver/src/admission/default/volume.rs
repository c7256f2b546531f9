//! Defaults of volumes.

use super::image;
use super::path::DefaultStep::{self, Each, In};
use super::row::{DefaultRow, Fill, absent, zero};
use serde_json::{Map, Value};

const VOLUME: &str = "v1.36 core/v1 defaults.go SetDefaults_Volume";
const HOST_PATH: &str = "v1.36 core/v1 defaults.go SetDefaults_HostPathVolumeSource";
const SECRET: &str = "v1.36 core/v1 defaults.go SetDefaults_SecretVolumeSource";
const CONFIG_MAP: &str = "v1.36 core/v1 defaults.go SetDefaults_ConfigMapVolumeSource";
const DOWNWARD_API: &str = "v1.36 core/v1 defaults.go SetDefaults_DownwardAPIVolumeSource";
const PROJECTED: &str = "v1.36 core/v1 defaults.go SetDefaults_ProjectedVolumeSource";
const TOKEN: &str = "v1.36 core/v1 defaults.go SetDefaults_ServiceAccountTokenProjection";
const CLAIM: &str = "v1.36 core/v1 defaults.go SetDefaults_PersistentVolumeClaimSpec";
const FIELD_REF: &str = "v1.36 core/v1 defaults.go SetDefaults_ObjectFieldSelector";
const MARKED: &str = "v1.36 core/v1 types.go +default, as in zz_generated.defaults.go";

const VOLUMES: &[DefaultStep] = &[In("spec"), Each("volumes")];
const IMAGE: &[DefaultStep] = &[In("spec"), Each("volumes"), In("image")];
const HOST_PATHS: &[DefaultStep] = &[In("spec"), Each("volumes"), In("hostPath")];
const SECRETS: &[DefaultStep] = &[In("spec"), Each("volumes"), In("secret")];
const CONFIG_MAPS: &[DefaultStep] = &[In("spec"), Each("volumes"), In("configMap")];
const DOWNWARD: &[DefaultStep] = &[In("spec"), Each("volumes"), In("downwardAPI")];
const DOWNWARD_REFS: &[DefaultStep] =
    &[In("spec"), Each("volumes"), In("downwardAPI"), Each("items"), In("fieldRef")];
pub(super) const PROJECTIONS: &[DefaultStep] = &[In("spec"), Each("volumes"), In("projected")];
const PROJECTED_REFS: &[DefaultStep] = &[
    In("spec"),
    Each("volumes"),
    In("projected"),
    Each("sources"),
    In("downwardAPI"),
    Each("items"),
    In("fieldRef"),
];
const TOKENS: &[DefaultStep] =
    &[In("spec"), Each("volumes"), In("projected"), Each("sources"), In("serviceAccountToken")];
pub(super) const CLAIM_SPECS: &[DefaultStep] =
    &[In("spec"), Each("volumes"), In("ephemeral"), In("volumeClaimTemplate"), In("spec")];
pub(super) const ISCSI: &[DefaultStep] = &[In("spec"), Each("volumes"), In("iscsi")];
const RBD: &[DefaultStep] = &[In("spec"), Each("volumes"), In("rbd")];
const AZURE_DISK: &[DefaultStep] = &[In("spec"), Each("volumes"), In("azureDisk")];
const SCALE_IO: &[DefaultStep] = &[In("spec"), Each("volumes"), In("scaleIO")];

/// A volume without a source becomes an emptyDir; the other rows complete each source.
pub(super) const ROWS: &[DefaultRow] = &[
    absent(VOLUMES, "emptyDir", Fill::From("{} without any source", empty_dir), VOLUME),
    zero(
        IMAGE,
        "pullPolicy",
        Fill::From("Always for tag latest or none, else IfNotPresent", pull_policy),
        VOLUME,
    ),
    absent(HOST_PATHS, "type", Fill::Text(""), HOST_PATH),
    absent(SECRETS, "defaultMode", Fill::Number(0o644), SECRET),
    absent(CONFIG_MAPS, "defaultMode", Fill::Number(0o644), CONFIG_MAP),
    absent(DOWNWARD, "defaultMode", Fill::Number(0o644), DOWNWARD_API),
    zero(DOWNWARD_REFS, "apiVersion", Fill::Text("v1"), FIELD_REF),
    absent(PROJECTIONS, "defaultMode", Fill::Number(0o644), PROJECTED),
    zero(PROJECTED_REFS, "apiVersion", Fill::Text("v1"), FIELD_REF),
    absent(TOKENS, "expirationSeconds", Fill::Number(3600), TOKEN),
    absent(CLAIM_SPECS, "volumeMode", Fill::Text("Filesystem"), CLAIM),
    zero(ISCSI, "iscsiInterface", Fill::Text("default"), MARKED),
    zero(RBD, "pool", Fill::Text("rbd"), MARKED),
    zero(RBD, "user", Fill::Text("admin"), MARKED),
    zero(RBD, "keyring", Fill::Text("/etc/ceph/keyring"), MARKED),
    absent(AZURE_DISK, "cachingMode", Fill::Text("ReadWrite"), MARKED),
    absent(AZURE_DISK, "fsType", Fill::Text("ext4"), MARKED),
    absent(AZURE_DISK, "readOnly", Fill::Bool(false), MARKED),
    absent(AZURE_DISK, "kind", Fill::Text("Shared"), MARKED),
    zero(SCALE_IO, "storageMode", Fill::Text("ThinProvisioned"), MARKED),
    zero(SCALE_IO, "fsType", Fill::Text("xfs"), MARKED),
];

/// An unknown member may be the source type of a newer server, so it counts as a source.
fn empty_dir(volume: &Map<String, Value>) -> Option<Value> {
    let bare = volume.iter().all(|(key, value)| key == "name" || value.is_null());
    bare.then(|| Value::Object(Map::new()))
}

fn pull_policy(source: &Map<String, Value>) -> Option<Value> {
    let reference = source.get("reference").and_then(Value::as_str).unwrap_or_default();
    Some(Value::from(image::pull_policy(reference)))
}
