import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { CURRENT, parseName, parsePrefix, readTracked, rename } from '../../ops/rename.ts';
import { generateKey } from '../../src/auth/key-format.ts';
import { runInProcess } from './in-process.ts';
import { temporaryFolder } from './project.ts';

/** Joined here, so that renaming all files back does not rename this one. */
const NEW = { name: ['renamed', 'by', 'test'].join('-'), prefix: 'renamed9' };

test('no file has the old name or prefix afterwards, and renaming back restores it', () => {
  const name = CURRENT.name.replace('-', '[- ]?');
  const old = new RegExp(`(?<![a-z])(${name}(?![a-z0-9])|${CURRENT.prefix}_)`, 'i');
  for (const [path, text] of readTracked()) {
    const renamed = rename(text, CURRENT, NEW);
    expect(old.exec(renamed)?.[0], path).toBe(undefined);
    expect(rename(renamed, NEW, CURRENT), path).toBe(text);
  }
});

test('names of packages, workers, hosts, types and sentences are replaced', () => {
  const text =
    'some-thing-client createSomeThing SomeThing.x api.some-thing.example Some thing, some thing; awesome-thing some-things SomeThings';
  expect(rename(text, { ...CURRENT, name: 'some-thing' }, { ...CURRENT, name: 'other-word' })).toBe(
    'other-word-client createOtherWord OtherWord.x api.other-word.example Other word, other word; awesome-thing some-things SomeThings',
  );
});

test('a key gets the checksum of its new prefix unless its checksum is invalid', () => {
  const [valid, invalid] = [generateKey('staging'), `${LOCAL_KEY.slice(0, -1)}_`];
  const renamed = rename(valid, CURRENT, NEW);
  expect(renamed).toMatch(new RegExp(`^${NEW.prefix}_staging_\\w{36}$`));
  expect(renamed.slice(-6)).not.toBe(valid.slice(-6));
  expect(rename(renamed, NEW, CURRENT)).toBe(valid);
  expect(rename(invalid, CURRENT, NEW).slice(-6)).toBe(invalid.slice(-6));
});

test('a prefix is replaced where a word begins, also after the \\b of an expression', () => {
  const text = '\\bsome_(?:staging) "some_" awesome_';
  expect(rename(text, { ...CURRENT, prefix: 'some' }, { ...CURRENT, prefix: 'other' })).toBe(
    '\\bother_(?:staging) "other_" awesome_',
  );
});

test.each(['Book-shop', '1shop', 'shop-', 'book-2', 'b'.repeat(51)])('%s is no name', (name) => {
  expect(() => parseName(name)).toThrow('lower-case letters');
});

test.each(['Book', 'b', 'book_', 'b'.repeat(21), '9k'])('%s is no prefix', (prefix) => {
  expect(() => parsePrefix(prefix)).toThrow('2 to 20 lower-case letters');
});

test('rename changes a committed repository, and takes no name that is used', async () => {
  const folder = await temporaryFolder();
  const file = (name: string) => join(folder, name);
  await writeFile(file('README.md'), `${CURRENT.name} (${NEW.name})`);
  await writeFile(file('code.ts'), `'${CURRENT.prefix}_' 'other-name'`);
  // Each script succeeds but the last.
  await writeFile(file('npm.cjs'), "process.exit(process.argv.at(-1) === 'format' ? 1 : 0)");
  vi.stubEnv('npm_execpath', file('npm.cjs'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder });
  const mocks = { '../../ops/wrangler.ts': { PROJECT_ROOT: folder } };
  const errorOf = async (name: string, ...prefix: string[]) =>
    (await runInProcess('rename.ts', mocks, [name, ...prefix])).stderr;

  expect(await errorOf(NEW.name)).toContain("error: missing required argument 'prefix'");
  expect(await errorOf(NEW.name, CURRENT.prefix)).toContain('error: git is required. ');
  git('init');
  git('add', 'README.md', 'code.ts');
  expect(await errorOf(NEW.name, CURRENT.prefix)).toContain('error: there are uncommitted changes');
  git('-c', 'user.name=Test', '-c', 'user.email=test@animals.test', 'commit', '--message=First');
  expect(await errorOf('other-name', 'x1')).toContain('other-name is already used in code.ts');
  expect(await errorOf(NEW.name, CURRENT.prefix)).toContain('but npm run format failed');
  vi.unstubAllEnvs();
  expect(await readFile(file('README.md'), 'utf8')).toBe(`${NEW.name} (${NEW.name})`);
});
