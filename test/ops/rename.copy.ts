/** A copy of the newest commit that is renamed, committed and cloned. Needs git. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { temporaryFolder } from '../support/project.ts';

/** Clones a repository, with the packages of this one. */
async function clone(from: string) {
  const folder = await temporaryFolder();
  const path = (name: string) => join(folder, name);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
  const npm = (line: string, stdio: 'inherit' | 'pipe' = 'inherit') => {
    const command = [process.env.npm_execpath ?? '', ...line.split(' ')];
    return spawnSync(process.execPath, command, { cwd: folder, stdio, encoding: 'utf8' });
  };
  git('clone', '--quiet', from, '.');
  for (const packages of ['node_modules', 'client/node_modules'])
    symlinkSync(join(PROJECT_ROOT, packages), path(packages), 'junction');
  writeFileSync(path('.git/info/exclude'), 'node_modules');
  return { folder, path, git, npm };
}

/** Whether this repository is renamed itself, and cannot be renamed again. */
const IS_RENAMED = packageJson.name !== ['animal', 'store'].join('-');

test.skipIf(IS_RENAMED)('a renamed copy passes every check and test', async () => {
  const copy = await clone(PROJECT_ROOT);
  // Those of the guide. A word that stands here in one piece would be refused, because it is used.
  const words = 'library-d_esk d_esk inq_uiry inq_uiries'.replaceAll('_', '');
  for (const [changed, line, error] of [
    ['new.txt', words, 'commit first'],
    ['', words.replace(/ \w+/, ' key'), 'the word key is used, choose another: '],
    ['', words.toUpperCase(), 'LIBRARY-'],
  ] as const) {
    if (changed) writeFileSync(copy.path(changed), '');
    const { status, stderr } = copy.npm(`run rename -- ${line}`, 'pipe');
    expect([status, stderr]).toEqual([1, expect.stringContaining(`error: ${error}`)]);
    copy.git('clean', '-fdq');
    expect(copy.git('status', '--porcelain')).toBe('');
  }
  expect(copy.npm(`run rename -- ${words}`).status).toBe(0);
  const paths = copy
    .git('ls-files', ':!package-lock.json', ':!public/docs/swagger-ui*')
    .split('\n');
  const texts = paths.map((path) => path && path + readFileSync(copy.path(path), 'utf8'));
  const left = texts.join('\n').match(/\w*(?:animal|pet)\w*/gi) ?? [];
  // In these words, an old one is a part by chance.
  expect(left.filter((word) => !/^(repetition|animal\)|pet\)$)/i.test(word))).toEqual([]);
  copy.git('-c', 'user.name=T', '-c', 'user.email=t@test', 'commit', '--quiet', '-m', 'Rename');
  expect(copy.git('status', '--porcelain')).toBe('');
  const renamed = await clone(copy.folder);
  for (const line of ['run check', 'test']) expect(renamed.npm(line).status, line).toBe(0);
});
