//! Aligned columns, as Go's `text/tabwriter` prints them for kubectl.

/// Spaces between two columns.
const PADDING: usize = 2;

/// Aligns text whose cells end with a tab or a vertical tab. A column is a block of consecutive lines that have it; a
/// line with one cell ends every block, and so does a form feed, which also ends the line. The text after the last
/// tab of a line belongs to no column.
pub(crate) fn columns(text: &str) -> String {
    let mut out = String::new();
    for block in blocks(text) {
        align(&block, &mut Vec::new(), &mut out);
    }
    out.pop();
    out
}

type Line<'a> = Vec<&'a str>;

/// Lines that can share columns.
fn blocks(text: &str) -> Vec<Vec<Line<'_>>> {
    let mut blocks = vec![Vec::new()];
    for line in text.split_inclusive(['\n', '\u{c}']).chain(text.ends_with(['\n', '\u{c}']).then_some("")) {
        let cells: Line<'_> = line.trim_end_matches(['\n', '\u{c}']).split(['\t', '\u{b}']).collect();
        let ends_block = cells.len() == 1 || line.ends_with('\u{c}');
        if let Some(block) = blocks.last_mut() {
            block.push(cells);
        }
        if ends_block {
            blocks.push(Vec::new());
        }
    }
    blocks
}

/// Writes lines whose leading columns have these widths.
///
/// Consecutive lines that all have the next column share its width. Columns further right are aligned within such a block
/// only, so the block is aligned recursively, with one more width.
fn align(lines: &[Line<'_>], widths: &mut Vec<usize>, out: &mut String) {
    let column = widths.len();
    let has_column = |line: &Line<'_>| column + 1 < line.len();
    let mut rest = lines;
    while let Some(first) = rest.first() {
        let alike = rest.iter().take_while(|line| has_column(line) == has_column(first)).count();
        let (block, others) = rest.split_at(alike);
        rest = others;
        if has_column(first) {
            widths.push(width(block, column));
            align(block, widths, out);
            widths.pop();
        } else {
            block.iter().for_each(|line| write_line(line, widths, out));
        }
    }
}

fn width(block: &[Line<'_>], column: usize) -> usize {
    let cells = block.iter().filter_map(|line| line.get(column));
    cells.map(|cell| cell.chars().count()).max().unwrap_or(0) + PADDING
}

fn write_line(line: &Line<'_>, widths: &[usize], out: &mut String) {
    for (index, cell) in line.iter().enumerate() {
        out.push_str(cell);
        if let Some(width) = widths.get(index) {
            out.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.chars().count())));
        }
    }
    out.push('\n');
}
