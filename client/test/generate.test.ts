/** `npm run client:types`: writes what is generated from the OpenAPI description. */
import { readFile as readReal } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { runInProcess } from '../../test/support/command.ts';

/** Files that are read and written in memory; all others are those of the project. */
const files = new Map<string, string>();
const readFile = async (path: string) => files.get(path) ?? readReal(path, 'utf8');
const writeFile = async (path: string, text: string) => void files.set(path, text);

const run = (...args: string[]) =>
  runInProcess('../client/generate.ts', { 'node:fs/promises': { readFile, writeFile } }, args);

test('client:types writes what is out of date, and --check only names it', async () => {
  const types = join(PROJECT_ROOT, 'client/schema.d.ts');
  files.set(types, 'old');
  const stderr = 'error: client/schema.d.ts is out of date. Run: npm run client:types\n';
  expect(await run('--check')).toMatchObject({ code: 1, stderr });
  expect(files.get(types)).toBe('old');
  expect(await run()).toMatchObject({ code: 0, stderr: '' });
  expect(files.get(types)).toBe(await readReal(types, 'utf8'));
  expect(await run('--check')).toMatchObject({ code: 0 });
});
