/** `npm run rename -- <name> <prefix>`: gives a copy of this project its own name and its own prefix of API keys. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { checksum } from '../src/auth/key-format.ts';
import { createProgram, run } from './command-line.ts';
import { LOCAL_KEY } from './local/store.ts';
import { PROJECT_ROOT } from './wrangler.ts';

/** The name of packages, workers and hosts, and what comes before the first `_` of an API key. */
export type Names = { name: string; prefix: string };

export const CURRENT: Names = {
  name: packageJson.name,
  prefix: LOCAL_KEY.slice(0, LOCAL_KEY.indexOf('_')),
};

const inWords = (name: string) => name.replaceAll('-', ' ');
const inPascalCase = (name: string) => name.split('-').map(capitalize).join('');

/** How a name is written: at the beginning of a sentence, within one, in types, and as it is. */
const SPELLINGS = [
  (name: string) => capitalize(inWords(name)),
  inWords,
  inPascalCase,
  (name: string) => name,
];

const ENVIRONMENTS = '(?:local|staging|production)';

export const program = createProgram(
  'npm run rename --',
  'Replaces the name of the project and the prefix of its API keys in every file that git tracks.',
)
  .argument('<name>', `of packages, workers and hosts, now ${CURRENT.name}`, parseName)
  .argument('<prefix>', `of API keys, now ${CURRENT.prefix}`, parsePrefix)
  .addHelpText(
    'after',
    `
A name that the code uses as a word, such as store, client or test, is refused, and so is the prefix key:
the next renaming would replace that word everywhere. Two words with a hyphen are nearly always free.`,
  )
  .action((name: string, prefix: string) => {
    const files = readTracked();
    rejectUncommitted();
    rejectUsed(files, { name, prefix });
    let changed = 0;
    for (const [path, text] of files) {
      const renamed = rename(text, CURRENT, { name, prefix });
      if (renamed === text) continue;
      writeFileSync(join(PROJECT_ROOT, path), renamed);
      changed += 1;
    }
    for (const script of ['openapi', 'format']) runScript(script);
    console.log(`${changed} files are changed. Check them: npm run check, then npm test`);
  });

if (import.meta.main) await run(program);

/** `text` with the names of `to` instead of those of `from`, and with valid checksums in the API keys. */
export function rename(text: string, from: Names, to: Names): string {
  // Some spellings of a single word are the same. The last one counts.
  const spellings = new Map(SPELLINGS.map((spell) => [spell(from.name), spell(to.name)]));
  let renamed = text;
  for (const [spelling, replacement] of spellings)
    renamed = renamed.replaceAll(wholeWord(spelling), replacement);
  renamed = renamed.replaceAll(keyPattern(from.prefix), (key, body: string, sum: string) => {
    const isValid = checksum(`${from.prefix}_${body}`) === sum;
    const unchecked = `${to.prefix}_${body}`;
    return isValid ? unchecked + checksum(unchecked) : key;
  });
  return renamed.replaceAll(wholePrefix(from.prefix), `${to.prefix}_`);
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Matches a spelling of a name, but not as a part of another word. `createAnimalStore` is two words. */
function wholeWord(spelling: string): RegExp {
  const isType = /^[A-Z]/.test(spelling);
  const before = isType ? '(?<![A-Z])' : '(?<![A-Za-z0-9])';
  return new RegExp(`${before}${spelling}(?![a-z0-9])`, 'g');
}

/** Matches an API key. Its groups are the part between the prefix and the checksum, and the checksum. */
function keyPattern(prefix: string): RegExp {
  return new RegExp(`\\b${prefix}_(${ENVIRONMENTS}_\\w{30})(\\w{6})\\b`, 'g');
}

/**
 * Matches the prefix of API keys where a word begins, also after the `\b` of a regular expression. An environment or a
 * character such as `$`, `(` or a quote must follow, so that the prefix `pet` does not match `pet_id`.
 */
function wholePrefix(prefix: string): RegExp {
  const before = '(?<=\\\\b|(?<![A-Za-z0-9_]))';
  return new RegExp(`${before}${prefix}_(?=${ENVIRONMENTS}(?![a-z])|\\W|$)`, 'g');
}

/** The text files that git tracks, by path, without those that `npm run openapi` copies. */
export function readTracked(): Map<string, string> {
  const listed = git('ls-files', '-z').split('\0').filter(Boolean);
  const paths = listed.filter((path) => !path.startsWith('public/docs/swagger-ui'));
  const files = paths.map(
    (path) => [path, readFileSync(join(PROJECT_ROOT, path), 'utf8')] as const,
  );
  return new Map(files.filter(([, text]) => !text.includes('\0')));
}

/** @throws Error if there are changes that are not committed: `git restore .` would undo them, too. */
function rejectUncommitted(): void {
  if (git('status', '--porcelain', '--untracked-files=no'))
    throw new Error('there are uncommitted changes. Commit them first, so that you can undo this');
}

/** @throws Error if the code already uses the name or the prefix: the next renaming would replace that, too. */
export function rejectUsed(files: Map<string, string>, { name, prefix }: Names): void {
  const code = [...files].filter(([path]) => !path.endsWith('.md'));
  const reject = (pattern: RegExp, fix: string) => {
    for (const [path, text] of code) {
      const [used] = text.match(pattern) ?? [];
      if (used) throw new Error(`${used} is already used in ${path}. ${fix}`);
    }
  };
  if (name !== CURRENT.name) {
    for (const spelling of [name, inPascalCase(name)])
      reject(wholeWord(spelling), `Choose a name of two words, such as my-${name}`);
  }
  if (prefix !== CURRENT.prefix) reject(wholePrefix(prefix), 'Choose another prefix');
}

/** Parses a name that is valid for npm, for workers and their environments, as a host name, and in an identifier. */
export function parseName(text: string): string {
  if (/^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$/.test(text) && text.length <= 50) return text;
  throw new InvalidArgumentError(
    'It must be up to 50 lower-case letters and digits, in words joined by hyphens that begin with a letter.',
  );
}

export function parsePrefix(text: string): string {
  if (/^[a-z][a-z0-9]{1,19}$/.test(text)) return text;
  throw new InvalidArgumentError(
    'It must be 2 to 20 lower-case letters and digits, a letter first.',
  );
}

/** @throws Error if the project is not a git repository. */
function git(...args: string[]): string {
  try {
    return execFileSync('git', args, {
      cwd: PROJECT_ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 100 * 1024 * 1024,
    });
  } catch {
    throw new Error('git is required. In a copy without history: git init, git add ., git commit');
  }
}

/** @throws Error if the script fails. */
function runScript(script: string): void {
  const npm = process.env.npm_execpath;
  if (!npm) throw new Error('npm is required. Run: npm run rename -- <name> <prefix>');
  const command = [npm, 'run', '--silent', script];
  const { status } = spawnSync(process.execPath, command, { cwd: PROJECT_ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error(`the names are replaced, but npm run ${script} failed`);
}
