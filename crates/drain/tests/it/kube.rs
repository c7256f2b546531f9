//! An eviction as an API call.

use daemonset::kube::Verb;
use daemonset::model::ObjectRef;
use daemonset_drain::EvictPod;

#[test]
fn an_eviction_is_posted_to_the_subresource_of_its_pod_with_the_same_body() {
    let pod = ObjectRef {
        namespace: "shop".into(),
        name: "web-x".into(),
        uid: "u1".into(),
        resource_version: "7".into(),
    };
    for evict in [EvictPod::new(pod.clone(), None), EvictPod::new(pod.clone(), 30)] {
        let call = evict.api_call();
        assert_eq!((call.verb, call.name.as_deref()), (Verb::Evict, Some("web-x")));
        assert_eq!(call.body, evict.body());
        assert_eq!(call.preconditions.uid, Some(pod.uid.clone()));
        // Kubelets write pods all the time.
        assert_eq!(call.preconditions.resource_version, None);
        let request = call.to_request().unwrap();
        assert_eq!((request.method().as_str(), request.uri().path()), ("POST", evict.path().as_str()));
        assert_eq!(serde_json::from_slice::<serde_json::Value>(request.body()).unwrap(), evict.body());
    }
}

#[test]
fn a_name_that_is_no_path_is_refused() {
    for name in ["", "..", "a/b", "a?b"] {
        let pod = ObjectRef { namespace: "shop".into(), name: name.into(), ..ObjectRef::default() };
        assert!(EvictPod::new(pod, None).api_call().to_request().is_err(), "{name:?}");
    }
}
