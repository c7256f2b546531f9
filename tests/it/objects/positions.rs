//! Positions and lists.

use daemonset::internal::{IndexVec, Neutral, NodeIx, PodIx, Position};
use daemonset::{NodeView, PodView, RevisionView};

#[test]
fn an_optional_position_takes_four_bytes() {
    assert_eq!(size_of::<Option<NodeIx>>(), 4);
    assert_eq!(format!("{:?}", NodeIx::new(7)), "NodeIx(7)");
}

#[test]
fn a_list_is_looked_up_by_its_own_positions() {
    let mut list: IndexVec<PodIx, u32> = [10, 20].into_iter().collect();
    let third = list.push(30);
    list.change(third, |element| *element += 1);
    assert_eq!(*list.at(third), 31);
    assert_eq!(list.after(third), None);
    let from_second: Vec<_> = list.range(PodIx::new(1), list.end()).collect();
    assert_eq!(from_second, [(PodIx::new(1), &20), (PodIx::new(2), &31)]);
}

#[test]
fn neutral_objects_have_no_name() {
    assert_eq!(NodeView::neutral().name, "");
    let PodView { namespace, name, uid, resource_version, .. } = PodView::neutral();
    assert_eq!([namespace, name, uid, resource_version], [&""; 4]);
    let RevisionView { namespace, name, uid, resource_version, .. } = RevisionView::neutral();
    assert_eq!([namespace, name, uid, resource_version], [&""; 4]);
}

#[test]
#[should_panic(expected = "position 1 of 1 elements")]
fn a_position_beyond_the_list_is_a_mistake() {
    let list: IndexVec<PodIx, u32> = IndexVec::repeat(0, 1);
    list.at(list.end());
}
