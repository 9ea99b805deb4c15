import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { readTracked } from '../../ops/rename/files.ts';
import { addName, addPrefix, replace } from '../../ops/rename/text.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { checksum } from '../../src/auth/key-format.ts';
import { importWith, runInProcess } from '../support/command.ts';
import { temporaryFolder } from '../support/project.ts';

const CURRENT = { name: packageJson.name, prefix: LOCAL_KEY.slice(0, LOCAL_KEY.indexOf('_')) };

/** Joined here, so that renaming all files back does not rename this one. */
const NEW = { name: ['renamed', 'by', 'test'].join('-'), prefix: 'renamed9' };

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Replaces words: `word of the text` to `new word`. */
function replaceNames(text: string, names: Record<string, string>): string {
  const replacements = new Map<string, string>();
  for (const [from, to] of Object.entries(names)) addName(replacements, from, to);
  return replace(text, replacements);
}

function replacePrefix(text: string, from: string, to: string): string {
  const replacements = new Map<string, string>();
  addPrefix(replacements, from, to);
  return replace(text, replacements);
}

function replaceBoth(text: string, from: typeof CURRENT, to: typeof CURRENT): string {
  const renamed = replacePrefix(text, from.prefix, to.prefix);
  return replaceNames(renamed, { [from.name]: to.name });
}

test('no file has the old name or prefix afterwards, and renaming back restores it', () => {
  const name = CURRENT.name.replace('-', '[- ]?');
  const key = `\\b${CURRENT.prefix}_(local|staging|production|\\W)`;
  const old = new RegExp(`\\b${name}\\b|${name}(?=[A-Z])|${key}`, 'i');
  for (const [path, text] of readTracked()) {
    const renamed = replaceBoth(text, CURRENT, NEW);
    expect(renamed.match(old), path).toBe(null);
    expect(replaceBoth(renamed, NEW, CURRENT), path).toBe(text);
  }
});

test('names of packages, workers, hosts, types and sentences are replaced', () => {
  const text =
    'some-thing-client createSomeThing SomeThing.x api.some-thing.example Some thing, some thing; awesome-thing some-things SomeThings ASomeThing';
  expect(replaceNames(text, { 'some-thing': 'other-word' })).toBe(
    'other-word-client createOtherWord OtherWord.x api.other-word.example Other word, other word; awesome-thing some-things SomeThings ASomeThing',
  );
});

test('a name of one word is replaced once where a new name contains it', () => {
  const word = ['single', 'word'].join('');
  expect(replaceNames(`${word}-client Singleword`, { [word]: `my-${word}` })).toBe(
    `my-${word}-client MySingleword`,
  );
});

/** Made up, because a word that the tests use could not be the new word of the resource. */
const WORDS = { wug: 'blick', wugs: 'blicken', tove: 'blick', toves: 'blicken' };

test.each([
  ['wug Wugs WUG WUGS', 'blick Blicken BLICK BLICKEN'],
  ['wugId addWugs() HAS_WUGS wug_id', 'blickId addBlicken() HAS_BLICKEN blick_id'],
  ['/wugs/{wugId} 0001_create_wugs.sql', '/blicken/{blickId} 0001_create_blicken.sql'],
  ['a tove’s name, Toves.\\nwugs', 'a blick’s name, Blicken.\\nblicken'],
  ['wuggish bewug bewugs Wuggy wug9 9wug', 'wuggish bewug bewugs Wuggy wug9 9wug'],
  ['WUGGISH BEWUG', 'WUGGISH BEWUG'],
  ['sha512-0/Wug+wug/', 'sha512-0/Wug+wug/'],
])('in "%s" the words are replaced: "%s"', (text, replaced) => {
  expect(replaceNames(text, WORDS)).toBe(replaced);
});

test.each([
  ['a wug, A wug, a `Wug`', 'iblick', 'an iblick, An iblick, an `Iblick`'],
  ['an owug, An owug, an "owug"', 'blick', 'a blick, A blick, a "blick"'],
  ['of a\n   * wug, of a\n  // wug', 'iblick', 'of an\n   * iblick, of an\n  // iblick'],
  [
    'a wugId, data wug, a + wug, (a, wug)',
    'iblick',
    'an iblickId, data iblick, a + iblick, (a, iblick)',
  ],
  ['a wug', 'usblick', 'a usblick'],
  ['an owug', 'uniblick', 'a uniblick'],
  ['a wug', 'umblick', 'an umblick'],
])('in "%s", the article belongs to %s', (text, word, replaced) => {
  expect(replaceNames(text, { wug: word, owug: word })).toBe(replaced);
});

test('the random part of a key keeps what looks like a word', () => {
  const unchecked = `${CURRENT.prefix}_staging_0000000000Wug0000000000000wug000`;
  const key = unchecked + checksum(unchecked);
  expect(replaceNames(key, WORDS)).toBe(key);
});

test.each(['local', 'staging', 'production'])(
  'a key of %s gets the checksum of its new prefix',
  (environment) => {
    const key = generateKey(environment);
    const unchecked = key.slice(0, -6).replace(CURRENT.prefix, NEW.prefix);
    const replaced = replacePrefix(`"${key}"`, CURRENT.prefix, NEW.prefix);
    expect(replaced).toBe(`"${unchecked}${checksum(unchecked)}"`);
  },
);

test('a prefix is replaced where a key can follow, but not in other words', () => {
  const text = (prefix: string) =>
    `\\b${prefix}_(?:staging) "${prefix}_" ${prefix}_production_ ${prefix}_\${environment} ${prefix}_local`;
  const others = ` un${NEW.prefix}_ ${NEW.prefix}_id ${NEW.prefix}_locality`;
  expect(replacePrefix(text(NEW.prefix) + others, NEW.prefix, CURRENT.prefix)).toBe(
    text(CURRENT.prefix) + others,
  );
});

const NAME_RULE = 'It must be up to 30 lower-case letters and digits';
const PREFIX_RULE =
  'It must be 2 to 20 lower-case letters and digits, a letter first, and not key.';

test.each([
  ...['Blick-shop', '1shop', 'shop-', 'blick-2', 'b'.repeat(31)].map((name) => ({
    args: [name, 'desk'],
    message: NAME_RULE,
  })),
  ...['Blick', 'b', 'b_', 'b'.repeat(21), '9k', 'key'].map((prefix) => ({
    args: ['blick-shop', prefix],
    message: PREFIX_RULE,
  })),
  ...['Blick', 'b', 'b-x', 'blick2', 'b'.repeat(21)].map((word) => ({
    args: ['blick-shop', 'desk', word, 'blicken'],
    message: 'It must be 2 to 20 lower-case letters.',
  })),
  ...['class', 'package', 'enum', 'group', 'values'].map((word) => ({
    args: ['blick-shop', 'desk', 'blick', word],
    message: 'It is a reserved word of TypeScript or SQL.',
  })),
  { args: ['blick-shop'], message: "missing required argument 'prefix'" },
  { args: ['blick-shop', 'desk', 'blick'], message: 'a plural is required that differs' },
  { args: ['blick-shop', 'desk', 'blick', 'blick'], message: 'a plural is required that differs' },
])('the arguments $args are invalid', async ({ args, message }) => {
  const { code, stderr } = await runInProcess('rename.ts', {}, args);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

/** Writes what `npm run openapi` writes, new files, too. Then `npm run format` fails if there is a file `fails`. */
const NPM = `
const { existsSync, mkdirSync, writeFileSync } = require('node:fs');
process.chdir(__dirname);
mkdirSync('generated', { recursive: true });
writeFileSync('generated/new.txt', 'new');
writeFileSync('README.md', 'generated');
process.exit(existsSync('fails') && process.argv.at(-1) === 'format' ? 1 : 0);
`;

function contentOf(path: string): string {
  return statSync(path).isFile() ? readFileSync(path, 'base64') : 'a folder';
}

/** A committed repository with a resource, and `npm run rename` in it. */
async function createRepository(files: Record<string, string> = {}) {
  const folder = await temporaryFolder();
  const write = (path: string, text: string) => {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
  const all = {
    'npm.cjs': NPM,
    'README.md': 'The bewug.',
    'src/wugs/wugs.ts': 'const wugsOf = 1; // Blicken',
    'src/other.ts': "blickenFor(); 'a blick in a sentence'; 'taken'",
    ...files,
  };
  for (const [path, text] of Object.entries(all)) write(path, text);
  vi.stubEnv('npm_execpath', join(folder, 'npm.cjs'));
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=Test', '-c', 'user.email=test@service.test', 'commit', '-qm', 'First');
  const root = { '../../ops/command/project-root.ts': { PROJECT_ROOT: folder } };
  const mocks = {
    '../../ops/rename/files.ts': await importWith('rename/files.ts', root),
    '../../ops/rename/resource.ts': { SINGULARS: ['wug', 'tove'], PLURALS: ['wugs', 'toves'] },
  };
  return {
    write,
    git,
    rename: (line: string, others = {}) =>
      runInProcess('rename.ts', { ...mocks, ...others }, line.split(' ')),
    path: (path: string) => join(folder, path),
    read: (path: string) => readFileSync(join(folder, path), 'utf8'),
    /** The paths of all files and folders, and the contents of the files. */
    contents: () => {
      const paths = globSync('**', { cwd: folder, exclude: ['.git'] }).sort();
      return paths.map((path) => [path, contentOf(join(folder, path))]);
    },
  };
}

const NAMES = `${NEW.name} ${NEW.prefix}`;
const LINE = `${NAMES} blick blicken`;

test('the name, the prefix, the word and its paths are replaced', async () => {
  const text = `${CURRENT.name} ${LOCAL_KEY} wugs`;
  const { rename, read, contents } = await createRepository({ 'src/wugs/text.ts': text });
  const { code, stderr } = await rename(LINE);
  expect([code, stderr]).toEqual([0, '']);
  expect(read('src/blicken/blicken.ts')).toBe('const blickenOf = 1; // Blicken');
  expect(read('src/blicken/text.ts')).toMatch(
    new RegExp(`^${NEW.name} ${NEW.prefix}_local_\\w{36} blicken$`),
  );
  expect(contents().map(([path]) => path)).not.toContain('src/wugs');
});

test('what only looks like the word is listed', async () => {
  const { rename, read } = await createRepository({ 'a.ts': 'bewug wug Wuggy toves' });
  const { stdout } = await rename(LINE);
  expect(stdout).toContain('Not replaced, because these are other words: bewug, Wuggy\n');
  expect(read('a.ts')).toBe('bewug blick Wuggy blicken');
});

test('without a word, only the name and the prefix are replaced', async () => {
  const { rename, read } = await createRepository({ 'a.ts': `${CURRENT.name} wug` });
  const { code, stdout } = await rename(NAMES);
  expect([code, stdout]).toEqual([0, expect.not.stringContaining('Not replaced')]);
  expect(read('a.ts')).toBe(`${NEW.name} wug`);
});

test('after a failure, the commands that it printed bring back every byte', async () => {
  const { rename, git, contents } = await createRepository({ fails: '' });
  const before = contents();
  const { code, stdout, stderr } = await rename(LINE);
  const [, first = '', second = ''] = /To undo this.*: git (.*) && git (.*)/.exec(stdout) ?? [];
  expect([code, stderr]).toEqual([
    1,
    `error: npm run format failed. To undo this: git ${first} && git ${second}\n`,
  ]);
  expect(contents()).not.toEqual(before);
  git(...first.split(' '));
  git(...second.split(' '));
  expect(contents()).toEqual(before);
  expect(git('status', '--porcelain', '--ignored')).toBe('');
});

test.each([
  [
    'a name that the code uses',
    `taken ${NEW.prefix}`,
    `${CURRENT.name} would become taken, which is used`,
  ],
  ['a word that the code uses', `${NAMES} blick taken`, 'wugs would become taken, which is used'],
  [
    'a name that is the word, too',
    `blicken ${NEW.prefix} blick blicken`,
    `wugs and ${CURRENT.name} would become blicken`,
  ],
])('%s is refused, and nothing is changed', async (_, line, message) => {
  const { rename, contents } = await createRepository();
  const before = contents();
  const { code, stderr } = await rename(line);
  expect([code, stderr]).toEqual([1, `error: ${message}. Choose another word\n`]);
  expect(contents()).toEqual(before);
});

test.each(['README.md', 'new.txt'])('a change of %s must be committed first', async (path) => {
  const { rename, write, contents } = await createRepository();
  write(path, 'changed');
  const before = contents();
  const { code, stderr } = await rename(LINE);
  expect([code, stderr]).toEqual([1, expect.stringContaining('there are uncommitted changes')]);
  expect(contents()).toEqual(before);
});

test('the word can be replaced once', async () => {
  const { rename, contents } = await createRepository();
  const before = contents();
  const replaced = { SINGULARS: ['wug', 'wug'], PLURALS: ['wugs', 'wugs'] };
  const { code, stderr } = await rename(LINE, { '../../ops/rename/resource.ts': replaced });
  expect([code, stderr]).toEqual([1, expect.stringContaining('which is possible once')]);
  expect(contents()).toEqual(before);
});

test('git is required', async () => {
  const { rename, path } = await createRepository();
  rmSync(path('.git'), { recursive: true });
  const { code, stderr } = await rename(LINE);
  expect([code, stderr]).toEqual([1, expect.stringContaining('git is required. In a copy')]);
});
