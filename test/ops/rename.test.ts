import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { generateKey } from '../../ops/keys/generate-key.ts';
import {
  CURRENT,
  parseName,
  parsePrefix,
  readTracked,
  rejectUsed,
  rename,
} from '../../ops/rename.ts';
import { checksum } from '../../src/auth/key-format.ts';
import { runInProcess } from './in-process.ts';
import { temporaryFolder } from './project.ts';

/** Joined here, so that renaming all files back does not rename this one. */
const NEW = { name: ['renamed', 'by', 'test'].join('-'), prefix: 'renamed9' };
const USED = { name: ['used', 'by', 'test'].join('-'), prefix: 'used9' };

afterEach(() => {
  vi.unstubAllEnvs();
});

test('no file has the old name or prefix afterwards, and renaming back restores it', () => {
  const name = CURRENT.name.replace('-', '[- ]?');
  const key = `\\b${CURRENT.prefix}_(local|staging|production|\\W)`;
  const old = new RegExp(`\\b${name}\\b|${name}(?=[A-Z])|${key}`, 'i');
  for (const [path, text] of readTracked()) {
    const renamed = rename(text, CURRENT, NEW);
    expect(renamed.match(old), path).toBe(null);
    expect(rename(renamed, NEW, CURRENT), path).toBe(text);
  }
});

test('names of packages, workers, hosts, types and sentences are replaced', () => {
  const text =
    'some-thing-client createSomeThing SomeThing.x api.some-thing.example Some thing, some thing; awesome-thing some-things SomeThings ASomeThing';
  expect(rename(text, { ...CURRENT, name: 'some-thing' }, { ...CURRENT, name: 'other-word' })).toBe(
    'other-word-client createOtherWord OtherWord.x api.other-word.example Other word, other word; awesome-thing some-things SomeThings ASomeThing',
  );
});

test('a name of one word is replaced once where a new name contains it', () => {
  const word = ['single', 'word'].join('');
  const [from, to] = [
    { ...CURRENT, name: word },
    { ...CURRENT, name: `my-${word}` },
  ];
  expect(rename(`${word}-client Singleword`, from, to)).toBe(`my-${word}-client MySingleword`);
});

test.each(['staging', 'production'])(
  'a key of %s gets the checksum of its new prefix unless its own is invalid',
  (environment) => {
    const key = generateKey(environment);
    const body = key.slice(0, -6).replace(CURRENT.prefix, NEW.prefix);
    expect(rename(key, CURRENT, NEW)).toBe(body + checksum(body));
    expect(rename(`${key.slice(0, -6)}______`, CURRENT, NEW)).toBe(`${body}______`);
  },
);

test('a prefix is replaced where a key can follow, but not in other words', () => {
  const text = (prefix: string) =>
    `\\b${prefix}_(?:staging) "${prefix}_" ${prefix}_production_ ${prefix}_\${environment}`;
  const others = `un${NEW.prefix}_ ${NEW.prefix}_id ${NEW.prefix}_locality`;
  expect(rename(text(NEW.prefix) + others, NEW, CURRENT)).toBe(text(CURRENT.prefix) + others);
});

const FREE = ['shelter', 'book', 'api', 'pet'];

test.each(FREE)('the prefix %s and a name of one or two words with it are free', (prefix) => {
  for (const name of [`${prefix}hop`, `${prefix}-hop`])
    expect(() => rejectUsed(readTracked(), { name, prefix })).not.toThrow();
});

test.each(['store', 'client', 'library', 'test'])('the word %s of the code is no name', (name) => {
  expect(() => rejectUsed(readTracked(), { ...CURRENT, name })).toThrow(
    `Choose a name of two words, such as my-${name}`,
  );
});

test('key is no prefix, because ids of keys begin with it', () => {
  expect(() => rejectUsed(readTracked(), { ...CURRENT, prefix: 'key' })).toThrow(
    /^key_ is already used in ops\/.*\. Choose another prefix$/,
  );
});

test.each(['Book-shop', '1shop', 'shop-', 'book-2', 'b'.repeat(51)])('%s is no name', (name) => {
  expect(() => parseName(name)).toThrow('lower-case letters');
});

test.each(['Book', 'b', 'b_', 'b'.repeat(21), '9k'])('%s is no prefix', (prefix) => {
  expect(() => parsePrefix(prefix)).toThrow('2 to 20 lower-case letters');
});

test('rename changes a committed repository, and takes no name that is used', async () => {
  const folder = await temporaryFolder();
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('README.md', `${CURRENT.name} (${NEW.name})`);
  write('code.ts', `'${CURRENT.name}' '${CURRENT.prefix}_' '${USED.name}' ${USED.prefix}_`);
  write('npm.cjs', "process.exit(process.argv.at(-1) === 'format' ? 1 : 0)");
  vi.stubEnv('npm_execpath', join(folder, 'npm.cjs'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder });
  const mocks = { '../../ops/wrangler.ts': { PROJECT_ROOT: folder } };
  const errorOf = async (...args: string[]) =>
    (await runInProcess('rename.ts', mocks, args)).stderr;

  expect(await errorOf(NEW.name)).toContain("missing required argument 'prefix'");
  expect(await errorOf(NEW.name, CURRENT.prefix)).toContain('git is required. ');
  git('init', '--quiet', '--initial-branch=main');
  git('add', 'README.md', 'code.ts');
  expect(await errorOf(NEW.name, CURRENT.prefix)).toContain('there are uncommitted changes');
  git('-c', 'user.name=Test', '-c', 'user.email=test@animals.test', 'commit', '-qm', 'First');
  expect(await errorOf(USED.name, CURRENT.prefix)).toContain(`${USED.name} is already used`);
  expect(await errorOf(CURRENT.name, USED.prefix)).toContain('used9_ is already used in code.ts');
  // The last script fails.
  expect(await errorOf(NEW.name, CURRENT.prefix)).toContain('but npm run format failed');
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toBe(`${NEW.name} (${NEW.name})`);
});
