//! Strings in quotes, as Rust writes them: `"a \"word\"\n"`.

/// The string that stands at the beginning of a text, without the quote before it, and the bytes that it takes with the quote behind it.
/// Where it is none: at which byte, and why.
pub fn quoted(text: &str) -> Result<(String, usize), (usize, &'static str)> {
    let (mut string, mut letters) = (String::new(), text.char_indices());
    while let Some((place, letter)) = letters.next() {
        match letter {
            '"' => return Ok((string, place + 1)),
            '\\' => match escaped(&mut letters) {
                Some(letter) => string.push(letter),
                None => return Err((place, r#"a backslash begins \n, \r, \t, \0, \\, \", \' or \u{..}"#)),
            },
            _ => string.push(letter),
        }
    }
    Err((text.len(), "the string has no end; write a quote"))
}

/// The letter that stands behind a backslash.
fn escaped(letters: &mut std::str::CharIndices) -> Option<char> {
    Some(match letters.next()?.1 {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        '0' => '\0',
        letter @ ('\\' | '"' | '\'') => letter,
        'u' => {
            letters.next().filter(|(_, letter)| *letter == '{')?;
            let digits: String =
                letters.map(|(_, letter)| letter).take_while(|letter| *letter != '}').collect();
            char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
        }
        _ => return None,
    })
}
