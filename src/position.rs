//! Positions in the lists that a decision goes through, one type for each list.
//!
//! Nodes, pods of the snapshot, pods of the fleet, revisions of the snapshot and revisions of the history are all found
//! by position. With bare numbers, a position of one list used on another list compiles, finds nothing and drops a
//! delete in silence. With these types it does not compile.
//!
//! A position beyond the end of its list can only come from a [bug](crate::bug) of this crate. Tests and debug builds stop
//! at it. A release build goes on with a [neutral](Neutral) element to the end of the decision, which then gives no action.

use crate::bug;
use daemonset_objects::{NodeView, PodView, RevisionView};
use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU32;

/// A position in one kind of list.
pub trait Position: Copy {
    /// The position of the element with `index` elements before it. No list has two billion elements.
    fn new(index: usize) -> Self;

    /// How many elements are before it.
    fn index(self) -> usize;
}

const HIGHEST_BIT: NonZeroU32 = match NonZeroU32::new(1 << 31) {
    Some(bit) => bit,
    None => NonZeroU32::MAX,
};

macro_rules! position {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        // The index with the highest bit set: an `Option` of it, of which there are several for each pod, takes four
        // bytes, and setting or clearing a bit is all that a conversion costs.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(unreachable_pub, reason = "not each of them is for other crates")]
        pub struct $type(NonZeroU32);

        impl $type {
            /// Beyond the end of every list.
            #[allow(dead_code, reason = "few neutral elements have a position")]
            pub(crate) const BEYOND: Self = $type(NonZeroU32::MAX);
        }

        impl Position for $type {
            #[inline]
            fn new(index: usize) -> Self {
                $type(HIGHEST_BIT | index as u32)
            }

            #[inline]
            fn index(self) -> usize {
                (self.0.get() & !HIGHEST_BIT.get()) as usize
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($type), self.index())
            }
        }
    };
}

position!(
    /// A node, in the snapshot and in the fleet: both have the same nodes in the same order.
    NodeIx
);
position!(
    /// A pod in the snapshot, of any owner.
    PodIx
);
position!(
    /// A different value of the hash label among the snapshot's pods.
    HashIx
);
position!(
    /// A revision in the snapshot, of any owner.
    RevisionIx
);
position!(
    /// A pod in the fleet: one of the DaemonSet's, beside the others of its node.
    FleetIx
);
position!(
    /// A revision in the history: one of the DaemonSet's, or the one that the plan creates.
    HistoryIx
);

/// The elements of a list, each with its position.
pub fn enumerate<'l, I: Position, T>(
    list: &'l [T],
) -> impl ExactSizeIterator<Item = (I, &'l T)> + Clone + use<'l, I, T> {
    list.iter().enumerate().map(|(index, element)| (I::new(index), element))
}

/// The element at a position of this list.
#[inline]
pub(crate) fn at<I: Position, T: Neutral>(list: &[T], position: I) -> &T {
    let found = list.get(position.index());
    debug_assert!(found.is_some(), "position {} of {} elements", position.index(), list.len());
    bug::expected(found).unwrap_or_else(T::neutral)
}

/// Changes the element at a position of this list; `None` where there is none, so that nothing was changed.
#[inline]
pub fn change<I: Position, T, R>(list: &mut [T], position: I, change: impl FnOnce(&mut T) -> R) -> Option<R> {
    let length = list.len();
    let found = list.get_mut(position.index());
    debug_assert!(found.is_some(), "position {} of {length} elements", position.index());
    bug::expected(found).map(change)
}

/// A list whose elements are found by one type of position.
#[derive(Debug, Clone)]
pub struct IndexVec<I, T> {
    elements: Vec<T>,
    positions: PhantomData<fn(I)>,
}

impl<I: Position, T> IndexVec<I, T> {
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.elements.iter()
    }

    /// The elements, each with its position.
    pub fn enumerated(&self) -> impl ExactSizeIterator<Item = (I, &T)> + Clone {
        enumerate(&self.elements)
    }

    pub fn positions(&self) -> impl ExactSizeIterator<Item = I> + use<I, T> {
        (0..self.elements.len()).map(I::new)
    }

    /// The elements from one position up to another, each with its position.
    #[inline]
    pub fn range(&self, from: I, to: I) -> impl Iterator<Item = (I, &T)> + Clone {
        let range = from.index()..to.index();
        let elements = self.elements.get(range.clone());
        debug_assert!(elements.is_some(), "positions {range:?} of {} elements", self.elements.len());
        range.map(I::new).zip(bug::expected(elements).unwrap_or_default())
    }

    /// The element after this position; `None` after the last one.
    #[inline]
    pub fn after(&self, position: I) -> Option<&T> {
        self.elements.get(position.index() + 1)
    }

    /// The position after the last element: the place that [`push`](Self::push) fills.
    pub fn end(&self) -> I {
        I::new(self.elements.len())
    }

    /// Appends an element and gives its position.
    pub fn push(&mut self, element: T) -> I {
        let position = self.end();
        self.elements.push(element);
        position
    }

    /// Changes the element at a position, as [`change`].
    #[inline]
    pub fn change<R>(&mut self, position: I, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        self::change(&mut self.elements, position, change)
    }

    #[inline]
    pub fn set(&mut self, position: I, element: T) {
        self.change(position, |place| *place = element);
    }
}

impl<I: Position, T: Neutral> IndexVec<I, T> {
    /// The element at a position.
    #[inline]
    pub fn at(&self, position: I) -> &T {
        at(&self.elements, position)
    }
}

impl<I: Position, T: Clone> IndexVec<I, T> {
    /// `length` copies of an element.
    pub fn repeat(element: T, length: usize) -> Self {
        vec![element; length].into()
    }
}

impl<I, T> From<Vec<T>> for IndexVec<I, T> {
    fn from(elements: Vec<T>) -> Self {
        IndexVec { elements, positions: PhantomData }
    }
}

impl<I, T> From<IndexVec<I, T>> for Vec<T> {
    fn from(list: IndexVec<I, T>) -> Self {
        list.elements
    }
}

impl<I, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<E: IntoIterator<Item = T>>(elements: E) -> Self {
        elements.into_iter().collect::<Vec<_>>().into()
    }
}

/// Has an element for positions without one, with which no decision does harm.
pub trait Neutral {
    fn neutral<'n>() -> &'n Self
    where
        Self: 'n;
}

/// Implements [`Neutral`] by a constant.
#[doc(hidden)]
#[macro_export]
macro_rules! neutral {
    ($type:ty, $neutral:expr) => {
        impl $crate::internal::Neutral for $type {
            fn neutral<'n>() -> &'n Self
            where
                Self: 'n,
            {
                const { &$neutral }
            }
        }
    };
}
pub(crate) use crate::neutral;

neutral!(bool, false);
neutral!(u32, 0);
neutral!(u64, 0);
neutral!(&str, "");

/// Implements [`Neutral`] by a view of an object without a name.
macro_rules! neutral_view {
    ($view:ident) => {
        #[doc(hidden)]
        impl Neutral for $view<'_> {
            fn neutral<'n>() -> &'n Self
            where
                Self: 'n,
            {
                $view::blank()
            }
        }
    };
}

neutral_view!(NodeView);
neutral_view!(PodView);
neutral_view!(RevisionView);
