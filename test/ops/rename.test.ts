/** `npm run rename` in a small repository. copy.rename.ts renames the whole project. */
import { execSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { checksum } from '../../src/auth/key-format.ts';
import { runInProcess } from '../support/command.ts';
import { createRepository } from '../support/copy.ts';
import { temporaryFolder } from '../support/project.ts';

afterEach(() => {
  process.chdir(PROJECT_ROOT);
  vi.unstubAllEnvs();
});

/** A repository with a file of this text. Its settings must not change what rename does. */
async function repositoryWith(text: string) {
  const folder = await temporaryFolder();
  const npm = join(folder, 'npm.mjs');
  // In its place: copy.rename.ts runs the scripts that generate and format.
  writeFileSync(npm, '');
  mkdirSync(join(folder, 'pets'));
  writeFileSync(join(folder, 'pets/Pet.md'), text);
  writeFileSync(join(folder, '.gitignore'), 'pet.txt');
  writeFileSync(join(folder, 'pets/picture.png'), Buffer.from([0xff]));
  vi.stubEnv('npm_execpath', npm);
  process.chdir(folder);
  const git = createRepository(folder);
  git('config', 'color.ui', 'always');
  git('config', 'status.showUntrackedFiles', 'no');
  return git;
}

const rename = (words: string) => runInProcess('rename.ts', {}, words.split(' '));

test('rename replaces words and keys in texts and paths, and stages everything', async () => {
  // The last two are no words: a part of another one, and a hash.
  const words = `animal-store, an animal store. Animal store AnimalStore animals PET toyish ${'pet'}er ${'sha512'}-pets`;
  const git = await repositoryWith(`${words} ${LOCAL_KEY}`);
  const { code } = await rename('toy-shop my-shop toy toys');
  expect(code).toBe(0);
  const key = LOCAL_KEY.replace(/^[^_]+/, 'my-shop').slice(0, -6);
  expect(git('show', ':toys/Toy.md')).toBe(
    `toy-shop, an toy shop. Toy shop ToyShop toys TOY toyish ${'pet'}er ${'sha512'}-pets ${key}${checksum(key)}`,
  );
  // Sorted, because a renamed copy of this test has other words.
  const files = ['.gitignore', 'npm.mjs', 'pets/picture.png', 'toys/Toy.md'];
  expect(git('ls-files').trim().split('\n').sort()).toEqual(files.sort());
});

test('the undo that rename prints deletes no file of the developer', async () => {
  const git = await repositoryWith('Sold.');
  // Ignored, until rename changes .gitignore.
  writeFileSync('pet.txt', '');
  const { stdout } = await rename('toy-shop my-shop toy toys');
  writeFileSync('new.txt', '');
  execSync(/failure: (.*)/.exec(stdout)?.[1] ?? 'no undo', { stdio: 'pipe' });
  const left = git('status', '--porcelain', '--untracked-files=all', '--ignored');
  expect(left).toBe('?? new.txt\n!! pet.txt\n');
});

test('rename refuses invalid and used words, and changes that are not committed', async () => {
  const git = await repositoryWith('Sold.');
  const refusals = [
    ['toy-shop shop Toy toys', 'Toy must '],
    ['toy-shop shop sheep sheep', '<singular> and <plural> must be two words without hyphens'],
    ['toy-shop shop toy toy-s', '<singular> and <plural> must be two words without hyphens'],
    ['toy-shop shop to-y toys', '<singular> and <plural> must be two words without hyphens'],
    ['toy-shop shop toy sold', 'the word sold is used, choose another: pets/Pet.md\n'],
  ];
  for (const [words = '', error] of refusals)
    expect((await rename(words)).stderr).toContain(`error: ${error}`);
  expect(git('status', '--porcelain')).toBe('');
  writeFileSync('new.txt', '');
  const stderr = 'error: commit first, so that you can undo this\n';
  expect(await rename('toy-shop shop toy toys')).toEqual({ code: 1, stdout: '', stderr });
});
