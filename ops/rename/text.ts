/** Replaces names in a text or a path: words, also within identifiers, and the prefix of API keys. */
import { checksum } from '../../src/auth/key-format.ts';

/** Texts to find, each with its replacement. */
export type Replacements = Map<string, string>;

/** Where a word begins: `pet` also after an escape such as `\n`, and `Pet` also after a small letter. */
const START = '(?<![A-Z])(?<!(?<!\\\\)[a-z0-9](?=[a-z]))';

/** Where it ends. A capital letter begins another word, but not after a word of capital letters. */
const END = '(?![a-z0-9]|(?<=[A-Z])[A-Z])';

/** The random part of an API key, and hashes. They can contain any word. */
const RANDOM = '(?<=_(?:local|staging|production)_)\\w{36}|sha\\d+-\\S+';

/** An article, and what can follow it before its word: a space or a line break, also of a comment, and a quote. */
const ARTICLE = '(\\b[Aa])n?((?: |\\n[ */-]*)[`"]?)';

/** By its sound: an inquiry, but a user. */
const TAKES_AN = /^(?!us|uni|eu)[aeiou]/i;

/** An API key. Its group is what the last six characters are the checksum of. */
const KEY = /\b([a-z0-9]+_(?:local|staging|production)_\w{30})\w{6}\b/g;

/** How a name is written: at the beginning of a sentence, within one, in types, in constants, and as it is. */
const SPELLINGS = [
  (name: string) => capitalize(inWords(name)),
  inWords,
  (name: string) => name.split('-').map(capitalize).join(''),
  (name: string) => name.toUpperCase(),
  (name: string) => name,
];

/** Some spellings of a single word are the same. The last one counts. */
export function addName(replacements: Replacements, from: string, to: string): void {
  for (const spell of SPELLINGS) replacements.set(spell(from), spell(to));
}

/** Not `pet_` before any other word, such as that in `pet_id`: see END. */
export function addPrefix(replacements: Replacements, from: string, to: string): void {
  for (const next of ['', 'local', 'staging', 'production'])
    replacements.set(`${from}_${next}`, `${to}_${next}`);
}

/** `text` with the replacements, with the articles that belong to them, and with the checksums of its API keys. */
export function replace(text: string, replacements: Replacements): string {
  const names = [...replacements.keys()].join('|');
  const pattern = new RegExp(`${RANDOM}|(?:${ARTICLE})?${START}(${names})${END}`, 'g');
  const replaced = text.replaceAll(pattern, (found, article: string, gap: string, name: string) => {
    const replacement = replacements.get(name) ?? found;
    if (!article) return replacement;
    return article + (TAKES_AN.test(replacement) ? 'n' : '') + gap + replacement;
  });
  return replaced.replaceAll(KEY, (_, unchecked: string) => unchecked + checksum(unchecked));
}

function inWords(name: string): string {
  return name.replaceAll('-', ' ');
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
