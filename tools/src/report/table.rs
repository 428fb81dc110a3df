//! Tables of text.

/// How a column is written.
#[derive(Clone, Copy, PartialEq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Rows below each other, the first with the names of columns; no blanks at the ends of lines.
pub fn table(columns: &[Align], rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(columns).zip(&widths).map(|((cell, align), width)| match align {
            Align::Left => format!("{cell:<width$}"),
            Align::Right => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [["kernel", "us", ""], ["a", "12.5", "x"], ["béta", "3", ""]];
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
        let text = table(&[Align::Left, Align::Right, Align::Left], &rows);
        assert_eq!(text, "kernel    us\na       12.5  x\nbéta       3");
    }
}
