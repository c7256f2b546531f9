//! The fields of volumes that Kubernetes itself fills (v1.37 `api/core/v1` types.go).

use super::claim::{EPHEMERAL_VOLUME_SOURCE, PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE};
use super::environment::{OBJECT_FIELD_SELECTOR, RESOURCE_FIELD_SELECTOR};
use super::meta::LABEL_SELECTOR;
use super::storage::{
    AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE, AZURE_DISK_VOLUME_SOURCE, AZURE_FILE_VOLUME_SOURCE,
    CEPH_FS_VOLUME_SOURCE, CINDER_VOLUME_SOURCE, CSI_VOLUME_SOURCE, FC_VOLUME_SOURCE, FLEX_VOLUME_SOURCE,
    FLOCKER_VOLUME_SOURCE, GCE_PERSISTENT_DISK_VOLUME_SOURCE, GLUSTERFS_VOLUME_SOURCE, ISCSI_VOLUME_SOURCE,
    NFS_VOLUME_SOURCE, PHOTON_PERSISTENT_DISK_VOLUME_SOURCE, PORTWORX_VOLUME_SOURCE, QUOBYTE_VOLUME_SOURCE,
    RBD_VOLUME_SOURCE, SCALE_IO_VOLUME_SOURCE, STORAGE_OS_VOLUME_SOURCE, VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE,
};
use crate::schema::table::{
    BOOL, INT32, INT64, QUANTITY, Struct, TEXT, TEXT_MAP, always, many, omit_empty, one, pointer,
};

pub(super) static VOLUME: Struct = Struct::new(
    "Volume",
    &[
        always("name", TEXT),
        pointer("hostPath", one(&HOST_PATH_VOLUME_SOURCE)),
        pointer("emptyDir", one(&EMPTY_DIR_VOLUME_SOURCE)),
        pointer("gcePersistentDisk", one(&GCE_PERSISTENT_DISK_VOLUME_SOURCE)),
        pointer("awsElasticBlockStore", one(&AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE)),
        pointer("gitRepo", one(&GIT_REPO_VOLUME_SOURCE)),
        pointer("secret", one(&SECRET_VOLUME_SOURCE)),
        pointer("nfs", one(&NFS_VOLUME_SOURCE)),
        pointer("iscsi", one(&ISCSI_VOLUME_SOURCE)),
        pointer("glusterfs", one(&GLUSTERFS_VOLUME_SOURCE)),
        pointer("persistentVolumeClaim", one(&PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE)),
        pointer("rbd", one(&RBD_VOLUME_SOURCE)),
        pointer("flexVolume", one(&FLEX_VOLUME_SOURCE)),
        pointer("cinder", one(&CINDER_VOLUME_SOURCE)),
        pointer("cephfs", one(&CEPH_FS_VOLUME_SOURCE)),
        pointer("flocker", one(&FLOCKER_VOLUME_SOURCE)),
        pointer("downwardAPI", one(&DOWNWARD_API_VOLUME_SOURCE)),
        pointer("fc", one(&FC_VOLUME_SOURCE)),
        pointer("azureFile", one(&AZURE_FILE_VOLUME_SOURCE)),
        pointer("configMap", one(&CONFIG_MAP_VOLUME_SOURCE)),
        pointer("vsphereVolume", one(&VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE)),
        pointer("quobyte", one(&QUOBYTE_VOLUME_SOURCE)),
        pointer("azureDisk", one(&AZURE_DISK_VOLUME_SOURCE)),
        pointer("photonPersistentDisk", one(&PHOTON_PERSISTENT_DISK_VOLUME_SOURCE)),
        pointer("projected", one(&PROJECTED_VOLUME_SOURCE)),
        pointer("portworxVolume", one(&PORTWORX_VOLUME_SOURCE)),
        pointer("scaleIO", one(&SCALE_IO_VOLUME_SOURCE)),
        pointer("storageos", one(&STORAGE_OS_VOLUME_SOURCE)),
        pointer("csi", one(&CSI_VOLUME_SOURCE)),
        pointer("ephemeral", one(&EPHEMERAL_VOLUME_SOURCE)),
        pointer("image", one(&IMAGE_VOLUME_SOURCE)),
    ],
);

pub(super) static HOST_PATH_VOLUME_SOURCE: Struct =
    Struct::new("HostPathVolumeSource", &[always("path", TEXT), pointer("type", TEXT)]);

pub(super) static EMPTY_DIR_VOLUME_SOURCE: Struct = Struct::new(
    "EmptyDirVolumeSource",
    &[omit_empty("medium", TEXT), pointer("sizeLimit", QUANTITY), pointer("mode", INT32)],
);

pub(super) static SECRET_VOLUME_SOURCE: Struct = Struct::new(
    "SecretVolumeSource",
    &[
        omit_empty("secretName", TEXT),
        omit_empty("items", many(&KEY_TO_PATH)),
        pointer("defaultMode", INT32),
        pointer("optional", BOOL),
        pointer("defaultUser", INT64),
    ],
);

pub(super) static CONFIG_MAP_VOLUME_SOURCE: Struct = Struct::new(
    "ConfigMapVolumeSource",
    &[
        omit_empty("name", TEXT),
        omit_empty("items", many(&KEY_TO_PATH)),
        pointer("defaultMode", INT32),
        pointer("optional", BOOL),
        pointer("defaultUser", INT64),
    ],
);

pub(super) static KEY_TO_PATH: Struct = Struct::new(
    "KeyToPath",
    &[always("key", TEXT), always("path", TEXT), pointer("mode", INT32), pointer("user", INT64)],
);

pub(super) static DOWNWARD_API_VOLUME_SOURCE: Struct = Struct::new(
    "DownwardAPIVolumeSource",
    &[
        omit_empty("items", many(&DOWNWARD_API_VOLUME_FILE)),
        pointer("defaultMode", INT32),
        pointer("defaultUser", INT64),
    ],
);

pub(super) static DOWNWARD_API_VOLUME_FILE: Struct = Struct::new(
    "DownwardAPIVolumeFile",
    &[
        always("path", TEXT),
        pointer("fieldRef", one(&OBJECT_FIELD_SELECTOR)),
        pointer("resourceFieldRef", one(&RESOURCE_FIELD_SELECTOR)),
        pointer("mode", INT32),
        pointer("user", INT64),
    ],
);

pub(super) static PROJECTED_VOLUME_SOURCE: Struct = Struct::new(
    "ProjectedVolumeSource",
    &[
        always("sources", many(&VOLUME_PROJECTION)),
        pointer("defaultMode", INT32),
        pointer("defaultUser", INT64),
    ],
);

pub(super) static VOLUME_PROJECTION: Struct = Struct::new(
    "VolumeProjection",
    &[
        pointer("secret", one(&SECRET_PROJECTION)),
        pointer("downwardAPI", one(&DOWNWARD_API_PROJECTION)),
        pointer("configMap", one(&CONFIG_MAP_PROJECTION)),
        pointer("serviceAccountToken", one(&SERVICE_ACCOUNT_TOKEN_PROJECTION)),
        pointer("clusterTrustBundle", one(&CLUSTER_TRUST_BUNDLE_PROJECTION)),
        pointer("podCertificate", one(&POD_CERTIFICATE_PROJECTION)),
    ],
);

pub(super) static SECRET_PROJECTION: Struct = Struct::new(
    "SecretProjection",
    &[omit_empty("name", TEXT), omit_empty("items", many(&KEY_TO_PATH)), pointer("optional", BOOL)],
);

pub(super) static CONFIG_MAP_PROJECTION: Struct = Struct::new(
    "ConfigMapProjection",
    &[omit_empty("name", TEXT), omit_empty("items", many(&KEY_TO_PATH)), pointer("optional", BOOL)],
);

pub(super) static DOWNWARD_API_PROJECTION: Struct =
    Struct::new("DownwardAPIProjection", &[omit_empty("items", many(&DOWNWARD_API_VOLUME_FILE))]);

pub(super) static SERVICE_ACCOUNT_TOKEN_PROJECTION: Struct = Struct::new(
    "ServiceAccountTokenProjection",
    &[
        omit_empty("audience", TEXT),
        pointer("expirationSeconds", INT64),
        always("path", TEXT),
        pointer("user", INT64),
    ],
);

pub(super) static CLUSTER_TRUST_BUNDLE_PROJECTION: Struct = Struct::new(
    "ClusterTrustBundleProjection",
    &[
        pointer("name", TEXT),
        pointer("signerName", TEXT),
        pointer("labelSelector", one(&LABEL_SELECTOR)),
        pointer("optional", BOOL),
        always("path", TEXT),
        pointer("user", INT64),
    ],
);

pub(super) static POD_CERTIFICATE_PROJECTION: Struct = Struct::new(
    "PodCertificateProjection",
    &[
        omit_empty("signerName", TEXT),
        omit_empty("keyType", TEXT),
        pointer("maxExpirationSeconds", INT32),
        omit_empty("credentialBundlePath", TEXT),
        omit_empty("keyPath", TEXT),
        omit_empty("certificateChainPath", TEXT),
        omit_empty("userAnnotations", TEXT_MAP),
        pointer("user", INT64),
    ],
);

pub(super) static GIT_REPO_VOLUME_SOURCE: Struct = Struct::new(
    "GitRepoVolumeSource",
    &[always("repository", TEXT), omit_empty("revision", TEXT), omit_empty("directory", TEXT)],
);

pub(super) static IMAGE_VOLUME_SOURCE: Struct =
    Struct::new("ImageVolumeSource", &[omit_empty("reference", TEXT), omit_empty("pullPolicy", TEXT)]);
