//! The fields of volumes that a storage system serves (v1.37 `api/core/v1` types.go).

use super::meta::LOCAL_OBJECT_REFERENCE;
use crate::schema::table::{
    BOOL, INT32, Struct, TEXT, TEXT_LIST, TEXT_MAP, always, nullable, omit_empty, one, pointer,
};

pub(super) static GCE_PERSISTENT_DISK_VOLUME_SOURCE: Struct = Struct::new(
    "GCEPersistentDiskVolumeSource",
    &[
        always("pdName", TEXT),
        omit_empty("fsType", TEXT),
        omit_empty("partition", INT32),
        omit_empty("readOnly", BOOL),
    ],
);

pub(super) static AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE: Struct = Struct::new(
    "AWSElasticBlockStoreVolumeSource",
    &[
        always("volumeID", TEXT),
        omit_empty("fsType", TEXT),
        omit_empty("partition", INT32),
        omit_empty("readOnly", BOOL),
    ],
);

pub(super) static NFS_VOLUME_SOURCE: Struct = Struct::new(
    "NFSVolumeSource",
    &[always("server", TEXT), always("path", TEXT), omit_empty("readOnly", BOOL)],
);

pub(super) static ISCSI_VOLUME_SOURCE: Struct = Struct::new(
    "ISCSIVolumeSource",
    &[
        always("targetPortal", TEXT),
        always("iqn", TEXT),
        always("lun", INT32),
        omit_empty("iscsiInterface", TEXT),
        omit_empty("fsType", TEXT),
        omit_empty("readOnly", BOOL),
        omit_empty("portals", TEXT_LIST),
        omit_empty("chapAuthDiscovery", BOOL),
        omit_empty("chapAuthSession", BOOL),
        pointer("secretRef", one(&LOCAL_OBJECT_REFERENCE)),
        pointer("initiatorName", TEXT),
    ],
);

pub(super) static GLUSTERFS_VOLUME_SOURCE: Struct = Struct::new(
    "GlusterfsVolumeSource",
    &[always("endpoints", TEXT), always("path", TEXT), omit_empty("readOnly", BOOL)],
);

pub(super) static RBD_VOLUME_SOURCE: Struct = Struct::new(
    "RBDVolumeSource",
    &[
        always("monitors", TEXT_LIST),
        always("image", TEXT),
        omit_empty("fsType", TEXT),
        omit_empty("pool", TEXT),
        omit_empty("user", TEXT),
        omit_empty("keyring", TEXT),
        pointer("secretRef", one(&LOCAL_OBJECT_REFERENCE)),
        omit_empty("readOnly", BOOL),
    ],
);

pub(super) static FLEX_VOLUME_SOURCE: Struct = Struct::new(
    "FlexVolumeSource",
    &[
        always("driver", TEXT),
        omit_empty("fsType", TEXT),
        pointer("secretRef", one(&LOCAL_OBJECT_REFERENCE)),
        omit_empty("readOnly", BOOL),
        omit_empty("options", TEXT_MAP),
    ],
);

pub(super) static CINDER_VOLUME_SOURCE: Struct = Struct::new(
    "CinderVolumeSource",
    &[
        always("volumeID", TEXT),
        omit_empty("fsType", TEXT),
        omit_empty("readOnly", BOOL),
        pointer("secretRef", one(&LOCAL_OBJECT_REFERENCE)),
    ],
);

pub(super) static CEPH_FS_VOLUME_SOURCE: Struct = Struct::new(
    "CephFSVolumeSource",
    &[
        always("monitors", TEXT_LIST),
        omit_empty("path", TEXT),
        omit_empty("user", TEXT),
        omit_empty("secretFile", TEXT),
        pointer("secretRef", one(&LOCAL_OBJECT_REFERENCE)),
        omit_empty("readOnly", BOOL),
    ],
);

pub(super) static FLOCKER_VOLUME_SOURCE: Struct =
    Struct::new("FlockerVolumeSource", &[omit_empty("datasetName", TEXT), omit_empty("datasetUUID", TEXT)]);

pub(super) static FC_VOLUME_SOURCE: Struct = Struct::new(
    "FCVolumeSource",
    &[
        omit_empty("targetWWNs", TEXT_LIST),
        pointer("lun", INT32),
        omit_empty("fsType", TEXT),
        omit_empty("readOnly", BOOL),
        omit_empty("wwids", TEXT_LIST),
    ],
);

pub(super) static AZURE_FILE_VOLUME_SOURCE: Struct = Struct::new(
    "AzureFileVolumeSource",
    &[always("secretName", TEXT), always("shareName", TEXT), omit_empty("readOnly", BOOL)],
);

pub(super) static VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE: Struct = Struct::new(
    "VsphereVirtualDiskVolumeSource",
    &[
        always("volumePath", TEXT),
        omit_empty("fsType", TEXT),
        omit_empty("storagePolicyName", TEXT),
        omit_empty("storagePolicyID", TEXT),
    ],
);

pub(super) static QUOBYTE_VOLUME_SOURCE: Struct = Struct::new(
    "QuobyteVolumeSource",
    &[
        always("registry", TEXT),
        always("volume", TEXT),
        omit_empty("readOnly", BOOL),
        omit_empty("user", TEXT),
        omit_empty("group", TEXT),
        omit_empty("tenant", TEXT),
    ],
);

pub(super) static AZURE_DISK_VOLUME_SOURCE: Struct = Struct::new(
    "AzureDiskVolumeSource",
    &[
        always("diskName", TEXT),
        always("diskURI", TEXT),
        pointer("cachingMode", TEXT),
        pointer("fsType", TEXT),
        pointer("readOnly", BOOL),
        pointer("kind", TEXT),
    ],
);

pub(super) static PHOTON_PERSISTENT_DISK_VOLUME_SOURCE: Struct =
    Struct::new("PhotonPersistentDiskVolumeSource", &[always("pdID", TEXT), omit_empty("fsType", TEXT)]);

pub(super) static PORTWORX_VOLUME_SOURCE: Struct = Struct::new(
    "PortworxVolumeSource",
    &[always("volumeID", TEXT), omit_empty("fsType", TEXT), omit_empty("readOnly", BOOL)],
);

pub(super) static SCALE_IO_VOLUME_SOURCE: Struct = Struct::new(
    "ScaleIOVolumeSource",
    &[
        always("gateway", TEXT),
        always("system", TEXT),
        nullable("secretRef", one(&LOCAL_OBJECT_REFERENCE)),
        omit_empty("sslEnabled", BOOL),
        omit_empty("protectionDomain", TEXT),
        omit_empty("storagePool", TEXT),
        omit_empty("storageMode", TEXT),
        omit_empty("volumeName", TEXT),
        omit_empty("fsType", TEXT),
        omit_empty("readOnly", BOOL),
    ],
);

pub(super) static STORAGE_OS_VOLUME_SOURCE: Struct = Struct::new(
    "StorageOSVolumeSource",
    &[
        omit_empty("volumeName", TEXT),
        omit_empty("volumeNamespace", TEXT),
        omit_empty("fsType", TEXT),
        omit_empty("readOnly", BOOL),
        pointer("secretRef", one(&LOCAL_OBJECT_REFERENCE)),
    ],
);

pub(super) static CSI_VOLUME_SOURCE: Struct = Struct::new(
    "CSIVolumeSource",
    &[
        always("driver", TEXT),
        pointer("readOnly", BOOL),
        pointer("fsType", TEXT),
        omit_empty("volumeAttributes", TEXT_MAP),
        pointer("nodePublishSecretRef", one(&LOCAL_OBJECT_REFERENCE)),
    ],
);
