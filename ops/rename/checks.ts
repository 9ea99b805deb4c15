/** Refuses names that cannot be used. */
import { DatabaseSync } from 'node:sqlite';
import { Script } from 'node:vm';
import { InvalidArgumentError } from 'commander';
import { SINGULARS } from './resource.ts';
import { type Replacements, replace } from './text.ts';

/** Comments, also of SQL, and quoted strings. */
const COMMENTS_AND_STRINGS = /\/\*[\s\S]*?\*\/|(?:\/\/|--) .*|'[^'\n]*'|"[^"\n]*"/g;

/** Valid for npm, for workers and their environments, as a host name, and in an identifier. */
export const parseName = parserOf(
  /^(?=.{1,30}$)[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$/,
  'It must be up to 30 lower-case letters and digits, in words joined by hyphens that begin with a letter.',
);

/** The ids of keys have the prefix `key`. */
export const parsePrefix = parserOf(
  /^(?!key$)[a-z][a-z0-9]{1,19}$/,
  'It must be 2 to 20 lower-case letters and digits, a letter first, and not key.',
);

const parseLetters = parserOf(/^[a-z]{2,20}$/, 'It must be 2 to 20 lower-case letters.');

function parserOf(pattern: RegExp, message: string) {
  return (text: string): string => {
    if (pattern.test(text)) return text;
    throw new InvalidArgumentError(message);
  };
}

/** Parses a word that can be an identifier and the name of a table. */
export function parseWord(text: string): string {
  const word = parseLetters(text);
  try {
    new Script(`'use strict'; let ${word};`);
    new DatabaseSync(':memory:').exec(`CREATE TABLE ${word} (id)`);
  } catch {
    throw new InvalidArgumentError('It is a reserved word of TypeScript or SQL.');
  }
  return word;
}

/** @throws Error if the name, an identifier or a path would become one that is used, or two of them would become the same. */
export function rejectUsed(
  files: Map<string, string>,
  name: string,
  replacements: Replacements,
): void {
  const code = [...files].filter(([path]) => /\.(ts|sql)$/.test(path)).join(' ');
  // Those with spaces are prose.
  const tokens = code.replaceAll(COMMENTS_AND_STRINGS, (part) => (part.includes(' ') ? '' : part));
  const identifiers = new Set(tokens.match(/[A-Za-z_$][\w$]*/g)).add(name);
  const origins = new Map<string, string>();
  for (const identifier of identifiers) {
    const replaced = replace(identifier, replacements);
    if (replaced === identifier) continue;
    if (identifiers.has(replaced))
      throw new Error(`${identifier} would become ${replaced}, which is used. Choose another word`);
    const origin = origins.get(replaced);
    if (origin && inOneWord(origin) !== inOneWord(identifier))
      throw new Error(`${origin} and ${identifier} would become ${replaced}. Choose another word`);
    origins.set(replaced, identifier);
  }
}

/** An identifier with the first of the two words for the main resource, which become the same. */
function inOneWord(identifier: string): string {
  const [first = '', second = ''] = SINGULARS;
  return identifier.toLowerCase().replaceAll(second, first);
}
