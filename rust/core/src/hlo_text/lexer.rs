//! A cursor over the bytes of a text: white space, names, numbers, strings, balanced brackets.

use super::error::{HloError, Result};

/// A piece of the kept text, as byte offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The piece from `start` to `end`; a text is shorter than 4 GiB, which the parser checks first.
    pub(super) fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// The piece of `text`.
    pub fn of(self, text: &str) -> &str {
        &text[self.start as usize..self.end as usize]
    }
}

const WORD: u8 = 1;
const SPACE: u8 = 2;
/// Bytes that the scan of an attribute's value must handle.
const STOP: u8 = 4;

/// The classes of each byte.
static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let b = i as u8;
        if b.is_ascii_alphanumeric() || b == b'_' || b == b'.' || b == b'-' {
            table[i] |= WORD;
        }
        if matches!(b, b' ' | b'\t' | b'\n' | b'\r') {
            table[i] |= SPACE | STOP;
        }
        if matches!(b, b'{' | b'}' | b'(' | b')' | b'[' | b']' | b'"' | b',' | b'/') {
            table[i] |= STOP;
        }
        i += 1;
    }
    table
}

/// Whether a byte can stand in a name.
pub(super) fn is_word(byte: u8) -> bool {
    CLASS[byte as usize] & WORD != 0
}

/// A place in a text that moves forward.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at byte `at` of `text`.
    pub(super) fn new(text: &'a str, at: usize) -> Self {
        Self { text, bytes: text.as_bytes(), at }
    }

    /// The byte at the cursor; 0 at the end (a zero byte is no part of any token).
    pub(super) fn peek(&self) -> u8 {
        self.peek_at(0)
    }

    /// The byte `ahead` of the cursor; 0 beyond the end.
    pub(super) fn peek_at(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Whether the text ends here.
    pub(super) fn at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// An error at the cursor: the expectation, and what was found.
    pub(super) fn expected(&self, what: &str) -> HloError {
        HloError::new(self.at, format!("expected {what}, found {}", self.token_text()))
    }

    /// The token at the cursor as an error message shows it.
    pub(super) fn token_text(&self) -> String {
        if self.at_end() {
            return "the end of the text".into();
        }
        let rest = &self.text[self.at..];
        let word = rest.find(|c: char| !c.is_ascii() || !is_word(c as u8)).unwrap_or(rest.len());
        if word > 0 {
            let shown: String = rest[..word].chars().take(40).collect();
            return format!("'{shown}'");
        }
        match rest.chars().next() {
            Some(c) => format!("{c:?}"),
            None => "the end of the text".into(),
        }
    }

    /// Moves over white space and comments.
    pub(super) fn skip_space(&mut self) -> Result<()> {
        loop {
            while CLASS[self.peek() as usize] & SPACE != 0 {
                self.at += 1;
            }
            if self.peek() != b'/' || !self.skip_comment()? {
                return Ok(());
            }
        }
    }

    /// Moves over a comment, if one starts at this slash.
    fn skip_comment(&mut self) -> Result<bool> {
        match self.peek_at(1) {
            b'/' => {
                let rest = &self.bytes[self.at..];
                self.at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
                Ok(true)
            }
            b'*' => {
                let rest = &self.bytes[self.at + 2..];
                let end = memchr::memmem::find(rest, b"*/")
                    .ok_or_else(|| HloError::unclosed(self.at, "a comment /* that has no */"))?;
                self.at += end + 4;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Moves over `byte` if it stands here (after white space).
    pub(super) fn take(&mut self, byte: u8) -> Result<bool> {
        self.skip_space()?;
        let there = self.peek() == byte;
        self.at += usize::from(there);
        Ok(there)
    }

    /// Moves over `byte`, or says that it was expected.
    pub(super) fn require(&mut self, byte: u8) -> Result<()> {
        if self.take(byte)? {
            return Ok(());
        }
        Err(self.expected(&format!("'{}'", byte as char)))
    }

    /// Items with commas between them, up to a closing bracket; there may be none.
    pub(super) fn list<T>(&mut self, close: u8, item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        if self.take(close)? {
            return Ok(Vec::new());
        }
        self.items(close, item)
    }

    /// One item or more with commas between them, up to a closing bracket.
    pub(super) fn items<T>(
        &mut self,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.take(b',')? {
            items.push(item(self)?);
        }
        self.require(close)?;
        Ok(items)
    }

    /// Reads a piece of the text to its end.
    pub(super) fn whole<T>(text: &'a str, span: Span, read: impl Fn(&mut Self) -> Result<T>) -> Result<T> {
        let mut cursor = Self::new(&text[..span.end as usize], span.start as usize);
        let value = read(&mut cursor)?;
        cursor.skip_space()?;
        if cursor.at_end() {
            return Ok(value);
        }
        Err(cursor.expected("the end of the attribute"))
    }

    /// The word at the cursor, without moving; may be empty.
    pub(super) fn peek_word(&self) -> &'a str {
        &self.text[self.at..self.word_end()]
    }

    fn word_end(&self) -> usize {
        let rest = &self.bytes[self.at..];
        self.at + rest.iter().position(|&b| !is_word(b)).unwrap_or(rest.len())
    }

    /// Moves over the word at the cursor (after white space); `what` names it in the error.
    pub(super) fn word(&mut self, what: &str) -> Result<&'a str> {
        self.skip_space()?;
        let word = self.peek_word();
        if word.is_empty() {
            return Err(self.expected(what));
        }
        self.at += word.len();
        Ok(word)
    }

    /// Moves over this word if it stands here.
    pub(super) fn take_word(&mut self, word: &str) -> Result<bool> {
        self.skip_space()?;
        let there = self.peek_word() == word;
        self.at += if there { word.len() } else { 0 };
        Ok(there)
    }

    /// Moves over a name, with or without `%`.
    pub(super) fn name(&mut self, what: &str) -> Result<&'a str> {
        self.skip_space()?;
        let percent = self.peek() == b'%';
        self.at += usize::from(percent);
        let name = self.peek_word();
        let first = name.bytes().next().unwrap_or(b'.');
        if !(first.is_ascii_alphabetic() || first == b'_' || percent && first.is_ascii_digit()) {
            if self.at_end() || b"{}()[],=:".contains(&self.peek()) {
                return Err(self.expected(what));
            }
            return Err(self.expected(&format!("{what} (letters, digits, '_', '.' and '-', a letter first)")));
        }
        self.at += name.len();
        Ok(name)
    }

    /// The offset in the text of a piece that was cut from it.
    pub(super) fn offset_of(&self, piece: &str) -> usize {
        (piece.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
    }

    /// Moves over a decimal integer with an optional sign.
    pub(super) fn integer(&mut self, what: &str) -> Result<i64> {
        self.skip_space()?;
        let start = self.at;
        if matches!(self.peek(), b'-' | b'+') {
            self.at += 1;
        }
        let digits = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        if digits == self.at {
            self.at = start;
            return Err(self.expected(what));
        }
        let shown = &self.text[start..self.at];
        shown.parse().map_err(|_| HloError::new(start, format!("{shown} is no 64-bit integer")))
    }

    /// Moves over a string in double quotes, from its first quote.
    pub(super) fn string(&mut self) -> Result<Span> {
        let start = self.at;
        self.at += 1;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or(&[]);
            match memchr::memchr2(b'"', b'\\', rest) {
                None => return Err(HloError::unclosed(start, "a string that has no closing '\"'")),
                Some(i) if rest[i] == b'"' => {
                    self.at += i + 1;
                    return Ok(Span::new(start, self.at));
                }
                Some(i) => self.at += i + 2,
            }
        }
    }

    /// Moves over a name in single quotes.
    pub(super) fn quoted(&mut self) -> Result<&'a str> {
        self.skip_space()?;
        let rest = &self.text[self.at..];
        let inside = rest.strip_prefix('\'').and_then(|r| r.find('\'').map(|end| &r[..end]));
        let name = inside.ok_or_else(|| self.expected("a name in single quotes"))?;
        self.at += name.len() + 2;
        Ok(name)
    }

    /// Moves over a value as written, up to a comma, a closing bracket or white space that stand outside of all
    /// brackets (unless one opens next); strings and comments inside are skipped as a whole. `open` is scratch space.
    pub(super) fn value(&mut self, open: &mut Vec<(u8, usize)>) -> Result<Span> {
        self.skip_space()?;
        open.clear();
        let start = self.at;
        loop {
            while CLASS[self.peek() as usize] & STOP == 0 && !self.at_end() {
                self.at += 1;
            }
            match self.peek() {
                b'"' => {
                    self.string()?;
                }
                b @ (b'{' | b'(' | b'[') => {
                    open.push((b, self.at));
                    self.at += 1;
                }
                b @ (b'}' | b')' | b']') => {
                    if open.is_empty() {
                        break;
                    }
                    self.close(b, open)?;
                }
                b'/' if !open.is_empty() && matches!(self.peek_at(1), b'/' | b'*') => {
                    self.skip_comment()?;
                }
                0 if self.at_end() => break,
                b',' if open.is_empty() => break,
                byte if open.is_empty() && self.starts_space(byte) => {
                    if !self.bracket_follows()? {
                        break;
                    }
                }
                _ => self.at += 1,
            }
        }
        if let Some(&(bracket, at)) = open.last() {
            return Err(HloError::unclosed(at, format!("'{}' is never closed", bracket as char)));
        }
        if start == self.at {
            return Err(self.expected("a value"));
        }
        Ok(Span::new(start, self.at))
    }

    /// Whether white space or a comment starts with this byte at the cursor.
    fn starts_space(&self, byte: u8) -> bool {
        CLASS[byte as usize] & SPACE != 0 || byte == b'/' && matches!(self.peek_at(1), b'/' | b'*')
    }

    /// Moves to the next token if it is an opening bracket: no instruction starts with one, so the value goes on.
    fn bracket_follows(&mut self) -> Result<bool> {
        let mut ahead = self.clone();
        ahead.skip_space()?;
        let follows = matches!(ahead.peek(), b'{' | b'(' | b'[');
        self.at = if follows { ahead.at } else { self.at };
        Ok(follows)
    }

    fn close(&mut self, closing: u8, open: &mut Vec<(u8, usize)>) -> Result<()> {
        let wanted = match open.pop() {
            Some((b'{', _)) => b'}',
            Some((b'(', _)) => b')',
            _ => b']',
        };
        if closing != wanted {
            return Err(self.expected(&format!("'{}'", wanted as char)));
        }
        self.at += 1;
        Ok(())
    }
}

/// Integers in braces, or one without.
pub(super) fn integers(cursor: &mut Cursor) -> Result<Vec<i64>> {
    if !cursor.take(b'{')? {
        return Ok(vec![cursor.integer("an integer")?]);
    }
    cursor.list(b'}', |cursor| cursor.integer("an integer"))
}
