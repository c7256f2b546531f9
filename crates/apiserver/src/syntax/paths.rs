//! Why the API server does not take a path: its own words, none for a good one.

/// No part of a path goes up (v1.36 `validatePathNoBacksteps`).
pub fn backstep_fault(path: &str) -> Option<&'static str> {
    path.split('/').any(|part| part == "..").then_some("must not contain '..'")
}

/// A path below something: relative, and it does not leave it (v1.36 `validateLocalDescendingPath`).
pub fn descending_path_faults(path: &str) -> Vec<&'static str> {
    let absolute = path.starts_with('/').then_some("must be a relative path");
    absolute.into_iter().chain(backstep_fault(path)).collect()
}

/// A file of a volume that the kubelet writes: names with two dots at the start are its own (v1.36
/// `ValidateLocalNonReservedPath`).
pub fn unreserved_path_faults(path: &str) -> Vec<&'static str> {
    let mut faults = descending_path_faults(path);
    if path.starts_with("..") && !path.starts_with("../") {
        faults.push("must not start with '..'");
    }
    faults
}
