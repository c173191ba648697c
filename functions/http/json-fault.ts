const byteOrderMark = '\ufeff';

/** What is wrong with a text that is no JSON, and where, without a word of it. */
export function jsonFault(text: string): string {
  if (text.startsWith(byteOrderMark)) {
    return 'it begins with a byte order mark: send it without one';
  }
  const at = faultAt(text);
  if (at >= text.length)
    return `unexpected text at its end: it stops before it is complete, at position ${at}`;
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  const column = at - before.lastIndexOf('\n');
  return `unexpected text at position ${at} (line ${line}, column ${column})`;
}

/*
 * JavaScript's own parser says where in some of its messages only, and differently in every version.
 */

/** The index of the first character that no JSON could go on with; the length of a text that is cut off. */
function faultAt(text: string): number {
  const open: ('[' | '{')[] = [];
  let at = 0;
  const skipSpace = () => {
    while (at < text.length && ' \t\n\r'.includes(text[at] as string)) at++;
  };
  const took = (character: string): boolean => {
    skipSpace();
    if (text[at] !== character) return false;
    at++;
    return true;
  };

  /** After a value, to where the next one is expected. False where none is: at the end, or at a fault. */
  const next = (): boolean => {
    for (let inner = open.at(-1); inner !== undefined; inner = open.at(-1)) {
      if (took(',')) return inner === '[' || name();
      if (!took(inner === '[' ? ']' : '}')) return false;
      open.pop();
    }
    skipSpace();
    return false;
  };
  const name = (): boolean => {
    skipSpace();
    if (text[at] !== '"') return false;
    const end = token(text, at);
    at = end.at;
    return end.isWhole && took(':');
  };

  for (;;) {
    skipSpace();
    const start = text[at];
    if (start === '[' || start === '{') {
      at++;
      open.push(start);
      if (took(start === '[' ? ']' : '}')) open.pop();
      else if (start === '[' || name()) continue;
      else return at;
    } else {
      const end = token(text, at);
      at = end.at;
      if (!end.isWhole) return at;
    }
    if (!next()) return at;
  }
}

interface TokenEnd {
  /** Behind the token, or where it stops being one. */
  readonly at: number;
  readonly isWhole: boolean;
}

/** A string, a number or a word. */
function token(text: string, start: number): TokenEnd {
  const first = text[start];
  if (first === '"') return string(text, start);
  const word = ['true', 'false', 'null'].find(([letter]) => letter === first);
  if (word !== undefined) {
    let length = 0;
    while (length < word.length && text[start + length] === word[length]) length++;
    return { at: start + length, isWhole: length === word.length };
  }
  return number(text, start);
}

function string(text: string, start: number): TokenEnd {
  let at = start + 1;
  for (;;) {
    const character = text[at];
    if (character === undefined || character < ' ') return { at, isWhole: false };
    at++;
    if (character === '"') return { at, isWhole: true };
    if (character !== '\\') continue;
    const escaped = text[at];
    if (escaped === undefined || !'"\\/bfnrtu'.includes(escaped)) return { at, isWhole: false };
    at++;
    if (escaped !== 'u') continue;
    for (const end = at + 4; at < end; at++) {
      if (!/^[0-9a-fA-F]$/.test(text[at] ?? '')) return { at, isWhole: false };
    }
  }
}

function number(text: string, start: number): TokenEnd {
  let at = start;
  const digits = (): boolean => {
    const before = at;
    while (isDigit(text[at])) at++;
    return at > before;
  };
  if (text[at] === '-') at++;
  if (text[at] === '0') at++;
  else if (!digits()) return { at, isWhole: false };
  if (text[at] === '.') {
    at++;
    if (!digits()) return { at, isWhole: false };
  }
  if (text[at] === 'e' || text[at] === 'E') {
    at++;
    if (text[at] === '+' || text[at] === '-') at++;
    if (!digits()) return { at, isWhole: false };
  }
  return { at, isWhole: true };
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9';
}
