//! The panel under the rows: nodes without an available pod, and the budget.

use crate::canvas::{Canvas, Px, Tag, width};
use crate::curves::{Curves, Point};
use crate::scale::{CountScale, TimeScale};
use daemonset_view::numbers::{duration, number};

/// Where it is drawn.
pub struct Panel<'a> {
    pub curves: &'a Curves,
    pub time: TimeScale,
    pub count: CountScale,
}

/// The largest number that must fit.
pub fn most(curves: &Curves) -> u32 {
    let surges = curves.surges;
    let value = |point: &Point| match surges {
        true => point.unavailable.max(point.surging).max(point.max_surge),
        false => point.unavailable.max(point.max_unavailable),
    };
    let most = value(&curves.peak(value));
    // Room for the text above the highest line.
    (most + most.div_ceil(5)).max(2)
}

impl Panel<'_> {
    /// The curves and the line that must not be crossed.
    pub fn draw(&self, canvas: &mut Canvas) {
        if self.curves.surges {
            self.area(canvas, "two", |point| point.surging);
        }
        self.area(canvas, "down", |point| point.unavailable);
        self.budget(canvas);
    }

    /// The name of the line, and the worst.
    pub fn annotate(&self, canvas: &mut Canvas) {
        self.name_budget(canvas);
        if self.curves.surges {
            self.peak(canvas, "green", "with two pods", |point| point.surging);
        }
        self.peak(canvas, "orange", "unavailable", |point| point.unavailable);
    }

    /// A filled step function. Of all that happens within half a pixel the largest value is kept.
    fn area(&self, canvas: &mut Canvas, class: &str, value: impl Fn(&Point) -> u32) {
        let Panel { curves, time, count } = self;
        if value(&curves.peak(&value)) == 0 {
            return;
        }
        let columns = (time.width() * 2.0).round() as i64;
        let column = |point: &Point| point.t * columns / time.length;
        let mut data = format!("M{},{}", Px(time.left), Px(count.y(0)));
        let mut level = 0;
        let mut step = |column: i64, next: u32| {
            if next != level {
                data.push_str(&format!("H{}V{}", Px(time.left + column as f64 / 2.0), Px(count.y(next))));
                level = next;
            }
        };
        let mut carried = (0, 0);
        for points in curves.until(time.length).chunk_by(|one, other| column(one) == column(other)) {
            let at = points.first().map_or(0, column);
            if at > carried.0 {
                step(carried.0, carried.1);
            }
            step(at, points.iter().map(&value).fold(carried.1, u32::max));
            carried = (at + 1, points.last().map_or(0, &value));
        }
        step(carried.0.min(columns), carried.1);
        data.push_str(&format!("H{}V{}Z", Px(time.right), Px(count.y(0))));
        canvas.path(class, &data);
    }

    fn budget(&self, canvas: &mut Canvas) {
        let Panel { curves, time, count } = self;
        let mut data = String::new();
        let mut level = 0;
        for point in curves.until(time.length).iter().filter(|point| curves.limit(point) > 0) {
            let next = curves.limit(point);
            let (x, y) = (Px(time.x(point.t)), Px(count.y(next)));
            match level {
                0 => data.push_str(&format!("M{x},{y}")),
                _ if next != level => data.push_str(&format!("H{x}V{y}")),
                _ => {}
            }
            level = next;
        }
        if level > 0 {
            data.push_str(&format!("H{}", Px(time.right)));
            canvas.path("budget", &data);
        }
    }

    /// At the end where the worst is not.
    fn name_budget(&self, canvas: &mut Canvas) {
        let Panel { curves, time, count } = self;
        let (name, worst) = match curves.surges {
            true => ("maxSurge", curves.peak(|point| point.surging)),
            false => ("maxUnavailable", curves.peak(|point| point.unavailable)),
        };
        let late = time.x(worst.t) > time.left + time.width() / 2.0;
        let mut limits = curves.points.iter().map(|point| curves.limit(point)).filter(|limit| *limit > 0);
        let limit = if late { limits.next() } else { limits.next_back() };
        let Some(limit) = limit else { return };
        let (class, x) = match late {
            true => ("halo strong", time.left + 6.0),
            false => ("halo strong end", time.right - 4.0),
        };
        canvas.words(class, x, count.y(limit) - 7.0, &format!("budget: {name} {}", number(limit)));
    }

    /// A dot at the worst value, with its label.
    fn peak(&self, canvas: &mut Canvas, colour: &str, what: &str, value: impl Fn(&Point) -> u32) {
        let Panel { curves, time, count } = self;
        let peak = curves.peak(&value);
        let most = value(&peak);
        if most == 0 {
            return;
        }
        let (x, y) = (time.x(peak.t), count.y(most));
        let text = format!("{} {what} at {}", number(most), duration(peak.t));
        canvas.leaf(Tag::new("circle").set("class", colour).set("cx", Px(x)).set("cy", Px(y)).set("r", 4));
        let fits = x + 10.0 + width(&text, 13.0) < time.right;
        let (class, at) = if fits { ("", x + 9.0) } else { ("end ", x - 9.0) };
        canvas.words(&format!("halo strong {class}{colour}"), at, y - 7.0, &text);
    }
}
