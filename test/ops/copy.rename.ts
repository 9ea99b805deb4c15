/** A copy of the project that is renamed, committed and cloned. Needs git. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { copyRepository } from '../support/copy.ts';

/** Whether this repository is renamed itself. */
const IS_RENAMED = packageJson.name !== ['animal', 'store'].join('-');

test.skipIf(IS_RENAMED)('a renamed copy passes every check and test', async () => {
  const copy = await copyRepository();
  // A word that stands here in one piece would be refused, because it is used.
  const words = 'library-d_esk my-d_esk inq_uiry inq_uiries'.replaceAll('_', '');
  await copy.npm(`run rename -- ${words}`);
  // A dot, so that the word does not stand here.
  const readme = readFileSync(copy.path('README.md'), 'utf8');
  expect(readme).toMatch(/^# The library d.sk\n.*KEY=my-d.sk_local_/s);
  const paths = copy
    .git('ls-files', ':!package-lock.json', ':!public/docs/swagger-ui*', ':!*.png')
    .split('\n');
  const texts = paths.map((path) => path && path + readFileSync(copy.path(path), 'utf8'));
  const left = texts.join('\n').match(/\w*(?:animal|pet)\w*/gi) ?? [];
  // In these words, an old one is a part by chance.
  expect(left.filter((word) => !/^(repetition|animal\)|pet\)$)/i.test(word))).toEqual([]);
  copy.git('commit', '--quiet', '-m', 'Rename');
  expect(copy.git('status', '--porcelain')).toBe('');
  const renamed = await copyRepository(copy.folder);
  for (const line of ['run check', 'test']) await renamed.npm(line);
});
