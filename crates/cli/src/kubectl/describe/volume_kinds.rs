//! The kinds of volumes and the fields that kubectl prints of each, in kubectl's order.

use Show::{Flag, Joined, List, Map, Number, NumberOrNone, Secret, Size, Text, TextOr};

/// A kind of volume.
pub(super) struct Kind {
    /// The field of the volume.
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) rows: &'static [Row],
}

/// One line: its label, the field that it prints, and the format.
pub(super) struct Row(pub(super) &'static str, pub(super) &'static str, pub(super) Show);

/// The format of a field.
pub(super) enum Show {
    Text,
    /// A string, or this one if the field is absent.
    TextOr(&'static str),
    Number,
    NumberOrNone,
    Flag,
    /// `[a b]`.
    List,
    /// `a, b`.
    Joined,
    /// `map[a:1 b:2]`.
    Map,
    /// A reference to a secret, as Go prints it.
    Secret,
    /// A quantity above 0.
    Size,
}

/// v1.36 kubectl `describe.go describeVolumes` and the functions that it calls.
pub(super) const KINDS: &[Kind] = &[
    Kind {
        key: "hostPath",
        title: "HostPath (bare host directory volume)",
        rows: &[Row("Path:", "path", Text), Row("HostPathType:", "type", TextOr("<none>"))],
    },
    Kind {
        key: "emptyDir",
        title: "EmptyDir (a temporary directory that shares a pod's lifetime)",
        rows: &[Row("Medium:", "medium", Text), Row("SizeLimit:", "sizeLimit", Size)],
    },
    Kind {
        key: "gcePersistentDisk",
        title: "GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine)",
        rows: &[
            Row("PDName:", "pdName", Text),
            Row("FSType:", "fsType", Text),
            Row("Partition:", "partition", Number),
            Row("ReadOnly:", "readOnly", Flag),
        ],
    },
    Kind {
        key: "awsElasticBlockStore",
        title: "AWSElasticBlockStore (a Persistent Disk resource in AWS)",
        rows: &[
            Row("VolumeID:", "volumeID", Text),
            Row("FSType:", "fsType", Text),
            Row("Partition:", "partition", Number),
            Row("ReadOnly:", "readOnly", Flag),
        ],
    },
    Kind {
        key: "gitRepo",
        title: "GitRepo (a volume that is pulled from git when the pod is created)",
        rows: &[Row("Repository:", "repository", Text), Row("Revision:", "revision", Text)],
    },
    Kind {
        key: "secret",
        title: "Secret (a volume populated by a Secret)",
        rows: &[Row("SecretName:", "secretName", Text), Row("Optional:", "optional", Flag)],
    },
    Kind {
        key: "configMap",
        title: "ConfigMap (a volume populated by a ConfigMap)",
        rows: &[Row("Name:", "name", Text), Row("Optional:", "optional", Flag)],
    },
    Kind {
        key: "nfs",
        title: "NFS (an NFS mount that lasts the lifetime of a pod)",
        rows: &[
            Row("Server:", "server", Text),
            Row("Path:", "path", Text),
            Row("ReadOnly:", "readOnly", Flag),
        ],
    },
    Kind {
        key: "iscsi",
        title: "ISCSI (an ISCSI Disk resource that is attached to a kubelet's host machine and then exposed to the pod)",
        rows: &[
            Row("TargetPortal:", "targetPortal", Text),
            Row("IQN:", "iqn", Text),
            Row("Lun:", "lun", Number),
            Row("ISCSIInterface", "iscsiInterface", Text),
            Row("FSType:", "fsType", Text),
            Row("ReadOnly:", "readOnly", Flag),
            Row("Portals:", "portals", List),
            Row("DiscoveryCHAPAuth:", "chapAuthDiscovery", Flag),
            Row("SessionCHAPAuth:", "chapAuthSession", Flag),
            Row("SecretRef:", "secretRef", Secret),
            Row("InitiatorName:", "initiatorName", TextOr("<none>")),
        ],
    },
    Kind {
        key: "glusterfs",
        title: "Glusterfs (a Glusterfs mount on the host that shares a pod's lifetime)",
        rows: &[
            Row("EndpointsName:", "endpoints", Text),
            Row("Path:", "path", Text),
            Row("ReadOnly:", "readOnly", Flag),
        ],
    },
    Kind {
        key: "persistentVolumeClaim",
        title: "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
        rows: &[Row("ClaimName:", "claimName", Text), Row("ReadOnly:", "readOnly", Flag)],
    },
    Kind {
        key: "ephemeral",
        title: "EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)",
        rows: &[],
    },
    Kind {
        key: "rbd",
        title: "RBD (a Rados Block Device mount on the host that shares a pod's lifetime)",
        rows: &[
            Row("CephMonitors:", "monitors", List),
            Row("RBDImage:", "image", Text),
            Row("FSType:", "fsType", Text),
            Row("RBDPool:", "pool", Text),
            Row("RadosUser:", "user", Text),
            Row("Keyring:", "keyring", Text),
            Row("SecretRef:", "secretRef", Secret),
            Row("ReadOnly:", "readOnly", Flag),
        ],
    },
    Kind {
        key: "quobyte",
        title: "Quobyte (a Quobyte mount on the host that shares a pod's lifetime)",
        rows: &[
            Row("Registry:", "registry", Text),
            Row("Volume:", "volume", Text),
            Row("ReadOnly:", "readOnly", Flag),
        ],
    },
    Kind {
        key: "downwardAPI",
        title: "DownwardAPI (a volume populated by information about the pod)",
        rows: &[],
    },
    Kind {
        key: "azureDisk",
        title: "AzureDisk (an Azure Data Disk mount on the host and bind mount to the pod)",
        rows: &[
            Row("DiskName:", "diskName", Text),
            Row("DiskURI:", "diskURI", Text),
            Row("Kind: ", "kind", TextOr("Shared")),
            Row("FSType:", "fsType", TextOr("ext4")),
            Row("CachingMode:", "cachingMode", TextOr("ReadWrite")),
            Row("ReadOnly:", "readOnly", Flag),
        ],
    },
    Kind {
        key: "vsphereVolume",
        title: "vSphereVolume (a Persistent Disk resource in vSphere)",
        rows: &[
            Row("VolumePath:", "volumePath", Text),
            Row("FSType:", "fsType", Text),
            Row("StoragePolicyName:", "storagePolicyName", Text),
        ],
    },
    Kind {
        key: "cinder",
        title: "Cinder (a Persistent Disk resource in OpenStack)",
        rows: &[
            Row("VolumeID:", "volumeID", Text),
            Row("FSType:", "fsType", Text),
            Row("ReadOnly:", "readOnly", Flag),
            Row("SecretRef:", "secretRef", Secret),
        ],
    },
    Kind {
        key: "photonPersistentDisk",
        title: "PhotonPersistentDisk (a Persistent Disk resource in photon platform)",
        rows: &[Row("PdID:", "pdID", Text), Row("FSType:", "fsType", Text)],
    },
    Kind {
        key: "portworxVolume",
        title: "PortworxVolume (a Portworx Volume resource)",
        rows: &[Row("VolumeID:", "volumeID", Text)],
    },
    Kind {
        key: "scaleIO",
        title: "ScaleIO (a persistent volume backed by a block device in ScaleIO)",
        rows: &[
            Row("Gateway:", "gateway", Text),
            Row("System:", "system", Text),
            Row("Protection Domain:", "protectionDomain", Text),
            Row("Storage Pool:", "storagePool", Text),
            Row("Storage Mode:", "storageMode", Text),
            Row("VolumeName:", "volumeName", Text),
            Row("FSType:", "fsType", Text),
            Row("ReadOnly:", "readOnly", Flag),
        ],
    },
    Kind {
        key: "cephfs",
        title: "CephFS (a CephFS mount on the host that shares a pod's lifetime)",
        rows: &[
            Row("Monitors:", "monitors", List),
            Row("Path:", "path", Text),
            Row("User:", "user", Text),
            Row("SecretFile:", "secretFile", Text),
            Row("SecretRef:", "secretRef", Secret),
            Row("ReadOnly:", "readOnly", Flag),
        ],
    },
    Kind {
        key: "storageos",
        title: "StorageOS (a StorageOS Persistent Disk resource)",
        rows: &[
            Row("VolumeName:", "volumeName", Text),
            Row("VolumeNamespace:", "volumeNamespace", Text),
            Row("FSType:", "fsType", Text),
            Row("ReadOnly:", "readOnly", Flag),
        ],
    },
    Kind {
        key: "fc",
        title: "FC (a Fibre Channel disk)",
        rows: &[
            Row("TargetWWNs:", "targetWWNs", Joined),
            Row("LUN:", "lun", NumberOrNone),
            Row("FSType:", "fsType", Text),
            Row("ReadOnly:", "readOnly", Flag),
        ],
    },
    Kind {
        key: "azureFile",
        title: "AzureFile (an Azure File Service mount on the host and bind mount to the pod)",
        rows: &[
            Row("SecretName:", "secretName", Text),
            Row("ShareName:", "shareName", Text),
            Row("ReadOnly:", "readOnly", Flag),
        ],
    },
    Kind {
        key: "flexVolume",
        title: "FlexVolume (a generic volume resource that is provisioned/attached using an exec based plugin)",
        rows: &[
            Row("Driver:", "driver", Text),
            Row("FSType:", "fsType", Text),
            Row("SecretRef:", "secretRef", Secret),
            Row("ReadOnly:", "readOnly", Flag),
            Row("Options:", "options", Map),
        ],
    },
    Kind {
        key: "flocker",
        title: "Flocker (a Flocker volume mounted by the Flocker agent)",
        rows: &[Row("DatasetName:", "datasetName", Text), Row("DatasetUUID:", "datasetUUID", Text)],
    },
    Kind {
        key: "projected",
        title: "Projected (a volume that contains injected data from multiple sources)",
        rows: &[],
    },
    Kind {
        key: "csi",
        title: "CSI (a Container Storage Interface (CSI) volume source)",
        rows: &[
            Row("Driver:", "driver", Text),
            Row("FSType:", "fsType", Text),
            Row("ReadOnly:", "readOnly", Flag),
        ],
    },
    Kind {
        key: "image",
        title: "Image (a container image or OCI artifact)",
        rows: &[Row("Reference:", "reference", Text), Row("PullPolicy:", "pullPolicy", Text)],
    },
];
