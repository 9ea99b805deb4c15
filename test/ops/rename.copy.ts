/** A copy of the newest commit that is renamed. Installs the packages in it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { SINGULARS } from '../../ops/rename/resource.ts';
import { temporaryFolder } from '../support/project.ts';

/** Whether this repository is renamed itself, and cannot be renamed again. */
const IS_RENAMED = new Set(SINGULARS).size === 1;

/** The words in which the old ones are a part by chance. */
const LOOK_ALIKES = /^repetition/i;

test.skipIf(IS_RENAMED)('a renamed copy passes every check and test', async () => {
  const copy = await temporaryFolder();
  const git = (...args: string[]) => execFileSync('git', args, { cwd: copy, encoding: 'utf8' });
  const npm = (line: string) => {
    const command = [process.env.npm_execpath ?? '', ...line.split(' ')];
    const { status } = spawnSync(process.execPath, command, { cwd: copy, stdio: 'inherit' });
    expect(status, `npm ${line}`).toBe(0);
  };
  git('clone', '--quiet', PROJECT_ROOT, '.');
  // A long name, and a word that begins with a vowel, comes early in the alphabet and has an irregular plural.
  npm('run rename -- neighbourhood-tool-library ntl activity activities');

  const paths = git('ls-files', ':!package-lock.json', ':!public/docs/swagger-ui*').split('\n');
  const texts = paths.map((path) => path && path + readFileSync(join(copy, path), 'utf8'));
  const words =
    texts.join('\n').match(new RegExp(`\\w*(?:${SINGULARS.join('|')})\\w*`, 'gi')) ?? [];
  expect(words.filter((word) => !LOOK_ALIKES.test(word))).toEqual([]);

  npm('run check');
  npm('test');
});
