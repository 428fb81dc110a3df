//! Tables of comma-separated values, as profilers write them: a line with the names of columns, quotes where a value has commas.

/// A table.
#[derive(Debug)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// A line of it.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    table: &'a Table,
    cells: &'a [String],
}

impl Table {
    /// Of a text; lines in front of the one that has a column of this name are what the profiler says to people.
    pub fn parse(text: &str, column: &str) -> Result<Table, String> {
        let mut lines = text.lines().map(cells);
        let is_it = |cells: &Vec<String>| cells.iter().any(|cell| cell.eq_ignore_ascii_case(column));
        let columns = lines.find(is_it).ok_or_else(|| format!("no line names a column {column:?}"))?;
        let rows: Vec<Vec<String>> = lines.filter(|cells| cells.len() > 1).collect();
        match rows.iter().find(|row| row.len() != columns.len()) {
            Some(row) => {
                Err(format!("a line has {} values, and there are {} columns", row.len(), columns.len()))
            }
            None => Ok(Table { columns, rows }),
        }
    }

    /// Its lines.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        self.rows.iter().map(|cells| Line { table: self, cells })
    }

    /// The names of its columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }
}

impl<'a> Line<'a> {
    /// The value in a column, whatever the case of its name; none where there is no such column, or nothing in it.
    pub fn get(&self, column: &str) -> Option<&'a str> {
        let at = self.table.columns.iter().position(|name| name.eq_ignore_ascii_case(column))?;
        self.cells.get(at).map(String::as_str).filter(|cell| !cell.is_empty())
    }

    /// The same where it has to be there.
    pub fn needed(&self, column: &str) -> Result<&'a str, String> {
        self.get(column).ok_or_else(|| format!("a line has nothing in a column {column:?}"))
    }

    /// A number, which may have commas between thousands.
    pub fn number(&self, column: &str) -> Option<f64> {
        number(self.get(column)?)
    }

    /// The same where it has to be there.
    pub fn needed_number(&self, column: &str) -> Result<f64, String> {
        let text = self.needed(column)?;
        number(text).ok_or_else(|| format!("{text:?} in the column {column:?} is not a number"))
    }

    /// Three numbers in columns that end with `X`, `Y` and `Z`.
    pub fn triple(&self, column: &str) -> Option<[u64; 3]> {
        let of = |axis: &str| Some(self.number(&format!("{column}{axis}"))? as u64);
        Some([of("X")?, of("Y")?, of("Z")?])
    }
}

/// A number as people write it.
pub fn number(text: &str) -> Option<f64> {
    text.replace(',', "").parse().ok()
}

/// Values of a line; within quotes, two of them stand for one.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    cells.push(cell);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_commas_and_quotes() {
        let table =
            Table::parse("==PROF== hello, you\n\"Name\",n\n\"f(int, \"\"x\"\")\",\"1,234.5\"\n", "name")
                .unwrap();
        let line = table.lines().next().unwrap();
        assert_eq!(line.get("NAME"), Some("f(int, \"x\")"));
        assert_eq!(line.number("n"), Some(1234.5));
        assert_eq!(line.get("other"), None);
        assert_eq!(
            line.needed_number("name").unwrap_err(),
            "\"f(int, \\\"x\\\")\" in the column \"name\" is not a number"
        );
    }

    #[test]
    fn what_is_no_table_is_told() {
        assert_eq!(Table::parse("nothing", "name").unwrap_err(), "no line names a column \"name\"");
        let said = Table::parse("name,n\na,1,2\n", "name").unwrap_err();
        assert_eq!(said, "a line has 3 values, and there are 2 columns");
    }
}
