//! Volumes of every kind.

use super::described;
use serde_json::{Value, json};

/// The lines below the volume's name, without their indentation, which is asserted here.
fn volume(source: Value) -> String {
    let mut volume = json!({"name": "v"});
    volume.as_object_mut().unwrap().extend(source.as_object().unwrap().clone());
    let printed = described(json!({"containers": [], "volumes": [volume]}));
    let lines = printed.lines().skip_while(|line| *line != "   v:").skip(1);
    let lines = lines.take_while(|line| !line.starts_with("  Node-Selectors"));
    lines.map(|line| line.strip_prefix("    ").unwrap()).collect::<Vec<_>>().join("|")
}

#[test]
fn each_kind_has_its_rows() {
    for (source, rows) in [
        (
            json!({"hostPath": {"path": "/p"}}),
            "Type:→HostPath (bare host directory volume)|Path:→/p|HostPathType:→<none>",
        ),
        (
            json!({"hostPath": {"path": "/p", "type": ""}}),
            "Type:→HostPath (bare host directory volume)|Path:→/p|HostPathType:→",
        ),
        (
            json!({"emptyDir": {}}),
            "Type:→EmptyDir (a temporary directory that shares a pod's lifetime)|Medium:→|SizeLimit:→<unset>",
        ),
        (
            json!({"emptyDir": {"medium": "Memory", "sizeLimit": "1024Mi"}}),
            "Type:→EmptyDir (a temporary directory that shares a pod's lifetime)|Medium:→Memory|SizeLimit:→1Gi",
        ),
        (
            json!({"gcePersistentDisk": {"pdName": "d", "fsType": "ext4", "partition": 2, "readOnly": true}}),
            "Type:→GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine)|PDName:→d|FSType:→ext4|\
             Partition:→2|ReadOnly:→true",
        ),
        (
            json!({"awsElasticBlockStore": {"volumeID": "vol"}}),
            "Type:→AWSElasticBlockStore (a Persistent Disk resource in AWS)|VolumeID:→vol|FSType:→|Partition:→0|\
             ReadOnly:→false",
        ),
        (
            json!({"gitRepo": {"repository": "r", "revision": "main"}}),
            "Type:→GitRepo (a volume that is pulled from git when the pod is created)|Repository:→r|Revision:→main",
        ),
        (
            json!({"secret": {"secretName": "s", "optional": true}}),
            "Type:→Secret (a volume populated by a Secret)|SecretName:→s|Optional:→true",
        ),
        (
            json!({"configMap": {"name": "c"}}),
            "Type:→ConfigMap (a volume populated by a ConfigMap)|Name:→c|Optional:→false",
        ),
        (
            json!({"nfs": {"server": "s", "path": "/e"}}),
            "Type:→NFS (an NFS mount that lasts the lifetime of a pod)|Server:→s|Path:→/e|ReadOnly:→false",
        ),
        (
            json!({"iscsi": {"targetPortal": "t", "iqn": "i", "lun": 3, "iscsiInterface": "default",
                "portals": ["a", "b"], "chapAuthDiscovery": true, "secretRef": {"name": "s"}}}),
            "Type:→ISCSI (an ISCSI Disk resource that is attached to a kubelet's host machine and then exposed to the \
             pod)|TargetPortal:→t|IQN:→i|Lun:→3|ISCSIInterface→default|FSType:→|ReadOnly:→false|Portals:→[a b]|\
             DiscoveryCHAPAuth:→true|SessionCHAPAuth:→false|SecretRef:→&LocalObjectReference{Name:s,}|\
             InitiatorName:→<none>",
        ),
        (
            json!({"glusterfs": {"endpoints": "e", "path": "/p"}}),
            "Type:→Glusterfs (a Glusterfs mount on the host that shares a pod's lifetime)|EndpointsName:→e|Path:→/p|\
             ReadOnly:→false",
        ),
        (
            json!({"persistentVolumeClaim": {"claimName": "c", "readOnly": true}}),
            "Type:→PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)|ClaimName:→c|\
             ReadOnly:→true",
        ),
        (
            json!({"rbd": {"monitors": ["m"], "image": "i", "pool": "rbd", "user": "admin", "keyring": "/k"}}),
            "Type:→RBD (a Rados Block Device mount on the host that shares a pod's lifetime)|CephMonitors:→[m]|\
             RBDImage:→i|FSType:→|RBDPool:→rbd|RadosUser:→admin|Keyring:→/k|SecretRef:→nil|ReadOnly:→false",
        ),
        (
            json!({"quobyte": {"registry": "r:1", "volume": "v"}}),
            "Type:→Quobyte (a Quobyte mount on the host that shares a pod's lifetime)|Registry:→r:1|Volume:→v|\
             ReadOnly:→false",
        ),
        (
            json!({"azureDisk": {"diskName": "d", "diskURI": "u", "kind": "Managed", "fsType": "xfs",
                "cachingMode": "None", "readOnly": true}}),
            "Type:→AzureDisk (an Azure Data Disk mount on the host and bind mount to the pod)|DiskName:→d|DiskURI:→u|\
             Kind: →Managed|FSType:→xfs|CachingMode:→None|ReadOnly:→true",
        ),
        (
            json!({"vsphereVolume": {"volumePath": "p", "storagePolicyName": "gold"}}),
            "Type:→vSphereVolume (a Persistent Disk resource in vSphere)|VolumePath:→p|FSType:→|\
             StoragePolicyName:→gold",
        ),
        (
            json!({"cinder": {"volumeID": "c"}}),
            "Type:→Cinder (a Persistent Disk resource in OpenStack)|VolumeID:→c|FSType:→|ReadOnly:→false|\
             SecretRef:→nil",
        ),
        (
            json!({"photonPersistentDisk": {"pdID": "p"}}),
            "Type:→PhotonPersistentDisk (a Persistent Disk resource in photon platform)|PdID:→p|FSType:→",
        ),
        (
            json!({"portworxVolume": {"volumeID": "p"}}),
            "Type:→PortworxVolume (a Portworx Volume resource)|VolumeID:→p",
        ),
        (
            json!({"scaleIO": {"gateway": "g", "system": "s", "protectionDomain": "d", "storagePool": "p",
                "storageMode": "Thin", "volumeName": "n"}}),
            "Type:→ScaleIO (a persistent volume backed by a block device in ScaleIO)|Gateway:→g|System:→s|\
             Protection Domain:→d|Storage Pool:→p|Storage Mode:→Thin|VolumeName:→n|FSType:→|ReadOnly:→false",
        ),
        (
            json!({"cephfs": {"monitors": ["a", "b"], "path": "/", "user": "u", "secretFile": "/s"}}),
            "Type:→CephFS (a CephFS mount on the host that shares a pod's lifetime)|Monitors:→[a b]|Path:→/|User:→u|\
             SecretFile:→/s|SecretRef:→nil|ReadOnly:→false",
        ),
        (
            json!({"storageos": {"volumeName": "n", "volumeNamespace": "ns"}}),
            "Type:→StorageOS (a StorageOS Persistent Disk resource)|VolumeName:→n|VolumeNamespace:→ns|FSType:→|\
             ReadOnly:→false",
        ),
        (
            json!({"fc": {"targetWWNs": ["a", "b"], "lun": 0}}),
            "Type:→FC (a Fibre Channel disk)|TargetWWNs:→a, b|LUN:→0|FSType:→|ReadOnly:→false",
        ),
        (
            json!({"fc": {}}),
            "Type:→FC (a Fibre Channel disk)|TargetWWNs:→|LUN:→<none>|FSType:→|ReadOnly:→false",
        ),
        (
            json!({"azureFile": {"secretName": "s", "shareName": "h"}}),
            "Type:→AzureFile (an Azure File Service mount on the host and bind mount to the pod)|SecretName:→s|\
             ShareName:→h|ReadOnly:→false",
        ),
        (
            json!({"flexVolume": {"driver": "d", "options": {"b": "2", "a": "1"}}}),
            "Type:→FlexVolume (a generic volume resource that is provisioned/attached using an exec based plugin)|\
             Driver:→d|FSType:→|SecretRef:→nil|ReadOnly:→false|Options:→map[a:1 b:2]",
        ),
        (
            json!({"flocker": {"datasetName": "d"}}),
            "Type:→Flocker (a Flocker volume mounted by the Flocker agent)|DatasetName:→d|DatasetUUID:→",
        ),
        (
            json!({"csi": {"driver": "d", "readOnly": true}}),
            "Type:→CSI (a Container Storage Interface (CSI) volume source)|Driver:→d|FSType:→|ReadOnly:→true|\
             VolumeAttributes:→<none>",
        ),
        (
            json!({"image": {"reference": "r", "pullPolicy": "Always"}}),
            "Type:→Image (a container image or OCI artifact)|Reference:→r|PullPolicy:→Always",
        ),
    ] {
        assert_eq!(volume(source.clone()), rows, "{source}");
    }
}

#[test]
fn a_downward_api_volume_lists_its_files() {
    let items = json!([
        {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
        {"path": "cpu", "resourceFieldRef": {"resource": "limits.cpu"}},
    ]);
    assert_eq!(
        volume(json!({"downwardAPI": {"items": items}})),
        "Type:→DownwardAPI (a volume populated by information about the pod)|Items:|  metadata.labels -> labels|\
         \u{20} limits.cpu -> cpu"
    );
}

#[test]
fn a_projected_volume_shows_its_sources() {
    let sources = json!([
        {"secret": {"name": "s", "optional": true}},
        {"configMap": {"name": "c"}},
        {"downwardAPI": {"items": []}},
        {"serviceAccountToken": {"path": "t", "expirationSeconds": 600}},
        {"serviceAccountToken": {"path": "u"}},
        {"clusterTrustBundle": {"path": "b"}},
    ]);
    assert_eq!(
        volume(json!({"projected": {"sources": sources}})),
        "Type:→Projected (a volume that contains injected data from multiple sources)|SecretName:→s|Optional:→true|\
         ConfigMapName:→c|Optional:→false|DownwardAPI:→true|TokenExpirationSeconds:→600|\
         TokenExpirationSeconds:→3600"
    );
}

#[test]
fn attributes_are_sorted_and_cut() {
    let attributes = json!({"b": "2", "a": "1", "c": "x".repeat(200)});
    let printed = volume(json!({"csi": {"driver": "d", "volumeAttributes": attributes}}));
    let (_, printed) = printed.split_once("ReadOnly:→false|").unwrap();
    let cut = format!("c={}...", "x".repeat(138));
    assert_eq!(printed, format!("VolumeAttributes:→    a=1|    →    b=2|    →    {cut}"));
}

#[test]
fn an_ephemeral_volume_shows_its_claim() {
    let template = json!({
        "metadata": {"labels": {"b": "2", "a": "1"}, "annotations": {"note": "x"}},
        "spec": {
            "storageClassName": "fast", "volumeMode": "Block", "resources": {"requests": {"storage": "1Gi"}},
            "dataSource": {"apiGroup": "g", "kind": "VolumeSnapshot", "name": "s"},
        },
    });
    insta::assert_snapshot!(volume(json!({"ephemeral": {"volumeClaimTemplate": template}})).replace('|', "\n"), @r"
    Type:→EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)
    StorageClass:→fast
    Volume:→
    Labels:→    a=1
        →    b=2
    Annotations:→    note: x
    Capacity:→
    Access Modes:→
    VolumeMode:→Block
    DataSource:
      APIGroup:→g
      Kind:→VolumeSnapshot
      Name:→s
    ");
    let beta = json!({
        "metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}},
        "spec": {"storageClassName": "fast", "volumeName": "pv"},
    });
    let printed = volume(json!({"ephemeral": {"volumeClaimTemplate": beta}}));
    assert!(printed.contains("|StorageClass:→old|Volume:→pv|Labels:→    <none>|"), "{printed}");
    assert!(printed.ends_with("|Capacity:→0|Access Modes:→"), "{printed}");
}

#[test]
fn no_volumes_and_unknown_volumes() {
    let printed =
        described(json!({"containers": [], "volumes": [{"name": "a"}, {"name": "b", "newKind": {}}]}));
    assert!(printed.contains("  Volumes:\n   a:\n  <unknown>\n   b:\n  <unknown>\n"), "{printed}");
    assert!(described(json!({"containers": []})).contains("  Volumes:→<none>\n"));
    let null = json!({"containers": [], "volumes": [{"name": "a", "hostPath": null, "nfs": {}}]});
    assert!(described(null).contains("    Type:→NFS"), "a null is no source");
}
