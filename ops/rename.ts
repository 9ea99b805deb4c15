/**
 * `npm run rename -- <service> <prefix> <singular> <plural>`: gives a copy of this project a name, a prefix of API keys and a
 * main resource of its own.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { checksum } from '../src/auth/key-format.ts';
import { createProgram, run } from './command/command-line.ts';
import { PROJECT_ROOT } from './command/project-root.ts';

/** Where a word begins: `pet` also after an escape such as `\n`, and `Pet` also after a small letter. */
const START = '(?<![A-Z])(?<!(?<!\\\\)[a-z0-9](?=[a-z]))';
/** Where it ends. A capital letter begins another word, but not after a word of capital letters. */
const END = '(?![a-z0-9]|(?<=[A-Z])[A-Z])';
/** Hashes, and the random part of an API key. They can contain any word. */
const RANDOM = '(?<=_(?:local|staging|production)_)\\w{36}|sha\\d+-\\S+';
/** An API key. Its group is what the last six characters are the checksum of. */
const KEY = /\b([a-z0-9]+_(?:local|staging|production)_\w{30})\w{6}\b/g;

export const program = createProgram(
  'npm run rename --',
  'Replaces names and words in every file that git tracks, once, before the first deployment.',
)
  .argument('<service>', 'name of packages, workers and hosts, such as library-desk')
  .argument('<prefix>', 'beginning of API keys, such as desk')
  .argument('<singular>', 'word of the main resource, such as inquiry')
  .argument('<plural>', 'its plural, such as inquiries')
  .action(rename);

if (import.meta.main) {
  process.chdir(PROJECT_ROOT);
  await run(program);
}

function rename(service: string, prefix: string, singular: string, plural: string) {
  const words = [service, prefix, singular, plural];
  const invalid = words.find((word) => !/^[a-z][a-z0-9-]*$/.test(word));
  if (invalid) throw new Error(`${invalid} must be lower-case letters, digits and hyphens`);
  if (git('status', '--porcelain')) throw new Error('commit first, so that you can undo this');
  const files = git('ls-files', ':!public/docs/swagger-ui*').split('\n').filter(Boolean);
  rejectUsed(files, words);
  const replacements = new Map([
    ...spellingsOf('animal-store', service),
    ...['pet', 'animal'].flatMap((word) => spellingsOf(word, singular)),
    ...['pets', 'animals'].flatMap((word) => spellingsOf(word, plural)),
    // Not before any other word: `animal_id` is a column.
    ...['_', '_local', '_staging', '_production'].map((end) => [`animal${end}`, prefix + end]),
  ] as [string, string][]);
  const undo = 'git reset --hard && git clean -fd';
  console.log(`To undo this, also after a failure or an interrupt: ${undo}`);
  for (const path of files) {
    const text = replace(readFileSync(path, 'utf8'), replacements);
    const newPath = replace(path, replacements);
    // Unlike a move, this also removes the folders that become empty.
    if (newPath !== path) git('rm', '--quiet', path);
    mkdirSync(dirname(newPath), { recursive: true });
    writeFileSync(newPath, text);
  }
  for (const script of ['openapi', 'format']) npm(script);
  git('add', '--all');
  console.log('Everything is staged. Next: git commit, npm run reset, npm run check, npm test');
}

/** A word that is used could not be told from the new one. */
function rejectUsed(files: string[], words: string[]) {
  // Their text names such words as examples.
  const searched = files.filter((path) => !/^(CONTRIBUTING\.md|ops\/rename\.ts)$/.test(path));
  for (const word of words) {
    const names = new Map(spellingsOf(word, '\0'));
    const isUsed = (path: string) => replace(readFileSync(path, 'utf8'), names).includes('\0');
    const users = searched.filter(isUsed).join(', ');
    if (users) throw new Error(`the word ${word} is used, choose another: ${users}`);
  }
}

/** How a name is written: as it is, in a sentence, at its beginning, in types and in constants. */
function spellingsOf(from: string, to: string): [string, string][] {
  const inWords = (name: string) => name.replaceAll('-', ' ');
  const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
  const inType = (name: string) => name.split('-').map(capitalize).join('');
  const inSentence = (name: string) => capitalize(inWords(name));
  const inConstant = (name: string) => name.toUpperCase();
  // Some spellings of a single word are the same. The last one counts.
  const spellings = [inSentence, inWords, inType, inConstant, String];
  return spellings.map((spell) => [spell(from), spell(to)]);
}

/** `text` with the replacements, and with the checksums of its API keys. */
function replace(text: string, replacements: Map<string, string>): string {
  const names = [...replacements.keys()].join('|');
  const pattern = new RegExp(`${RANDOM}|${START}(?:${names})${END}`, 'g');
  return text
    .replaceAll(pattern, (found) => replacements.get(found) ?? found)
    .replaceAll(KEY, (_, unchecked: string) => unchecked + checksum(unchecked));
}

function npm(script: string) {
  const command = [process.env.npm_execpath ?? '', 'run', '--silent', script];
  execFileSync(process.execPath, command, { stdio: 'inherit' });
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' });
}
