/**
 * `npm run rename -- <service> <prefix> <singular> <plural>`: gives a copy of this project its own name, prefix of API keys and
 * main resource.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { checksum } from '../src/auth/key-format.ts';
import { createProgram, run } from './command/command-line.ts';
import { git } from './command/git.ts';
import { PROJECT_ROOT } from './command/project-root.ts';

/** For git: all files but pictures and the copies of Swagger UI. */
const OWN_TEXTS = [':!*.png', ':!public/docs/swagger-ui*'];
/** An API key. The group is the key without its checksum, the last six characters. */
const KEY = /\b([a-z][a-z0-9-]*_(?:local|staging|production)_\w{30})\w{6}\b/g;

export const program = createProgram(
  'npm run rename --',
  'Replaces names and words in every tracked file but pictures and Swagger UI, before the first deployment.',
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
  // By default, a user's setting can hide untracked files.
  if (git('status', '--porcelain', '--untracked-files=all'))
    throw new Error('commit first, so that you can undo this');
  for (const word of [service, prefix, singular, plural]) checkWord(word);
  checkResource(singular, plural);
  const files = git('ls-files', '-z', '--', ...OWN_TEXTS)
    .split('\0')
    .filter(Boolean);
  const spacedService = service.replaceAll('-', ' ');
  // Where several match, the first one wins, so `animal-store` stands before `animal`.
  const replacements = new Map([
    ['animal-store', service],
    ['animal store', spacedService],
    ['Animal store', capitalize(spacedService)],
    ['AnimalStore', service.split('-').map(capitalize).join('')],
    ['animal_', `${prefix}_`],
    ...['pets', 'animals'].flatMap((word) => replacementsOf(word, plural)),
    ...['pet', 'animal'].flatMap((word) => replacementsOf(word, singular)),
  ]);
  console.log('To undo this, also after a failure: git reset --hard');
  for (const path of files) rewrite(path, replacements);
  for (const script of ['openapi', 'format']) {
    const command = [process.env.npm_execpath ?? '', 'run', '--silent', script];
    execFileSync(process.execPath, command, { stdio: 'inherit' });
  }
  git('add', '--update');
  console.log('Everything is staged. Next: git commit, npm run reset, npm run check, npm test');
}

/** @throws Error for a word that is invalid, or that the project uses already: its old and new uses could not be told apart. */
function checkWord(word: string) {
  if (!/^[a-z][a-z0-9-]*$/.test(word))
    throw new Error(
      `${word} must be lower-case letters, digits and hyphens, and begin with a letter`,
    );
  // Without the two files that have the words of the example.
  const searched = [...OWN_TEXTS, ':!docs/your-own.md', ':!ops/rename.ts'];
  // `git grep` exits with 1 if it finds no file. `execFileSync` would throw an error then.
  const search = ['grep', '--no-color', '-lwi', word, '--', ...searched];
  const { stdout } = spawnSync('git', search, { encoding: 'utf8' });
  if (stdout) throw new Error(`the word ${word} is used, choose another: ${stdout}`);
}

/** @throws Error if the words are equal or have a hyphen: code needs two names. */
function checkResource(singular: string, plural: string) {
  if (singular === plural || `${singular}${plural}`.includes('-'))
    throw new Error('<singular> and <plural> must be two words without hyphens');
}

/** The replacements of a word: as it is spelled in a name, in a type, and in a constant. */
function replacementsOf(from: string, to: string): [string, string][] {
  return [
    [from, to],
    [capitalize(from), capitalize(to)],
    [from.toUpperCase(), to.toUpperCase()],
  ];
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Makes the replacements in the text of a file, and in its path. */
function rewrite(path: string, replacements: Map<string, string>) {
  const text = replace(readFileSync(path, 'utf8'), replacements);
  const newPath = replace(path, replacements);
  if (newPath === path) return writeFileSync(path, text);
  // Unlike a rename of the file, this also removes a folder that becomes empty.
  git('rm', '--quiet', path);
  mkdirSync(dirname(newPath), { recursive: true });
  writeFileSync(newPath, text);
  // Staged at once, so that the undo deletes it.
  git('add', '--force', newPath);
}

/** Makes the replacements in a text, and corrects the checksums of its API keys. */
function replace(text: string, replacements: Map<string, string>): string {
  const names = [...replacements.keys()].join('|');
  // A name before a small letter or a digit is part of another word, except `animal_`, the prefix of keys. Hashes match as a whole,
  // and stay: a hash can contain any word.
  const pattern = new RegExp(`animal_|(?:${names})(?![a-z0-9])|sha512-\\S+`, 'g');
  return text
    .replaceAll(pattern, (found) => replacements.get(found) ?? found)
    .replaceAll(KEY, (_, withoutChecksum: string) => withoutChecksum + checksum(withoutChecksum));
}
