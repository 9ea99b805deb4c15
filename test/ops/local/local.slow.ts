/** The local store with the real wrangler: killed set-ups, damaged files, lost output. */
import { existsSync, globSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../../../ops/local/store.ts';
import { startClone } from '../clone.ts';

const { start, run, path } = await startClone(false);

const SERVE = 'node_modules/.bin/wrangler dev --port 0';
const SEED = 'node ops/seed.ts --pets 1';
const KEYS = 'node ops/keys.ts';

test('a fresh clone: an interrupted set-up, then one that serves a store', async () => {
  await run('node ops/reset.ts');
  const interrupted = start(SERVE);
  await expect.poll(() => interrupted.output.stdout).toContain('Setting up');
  await interrupted.end();
  const { process: child, output, exited } = start(SERVE);
  await expect.poll(() => output.stdout).toContain('Ready on');
  expect(output.stdout).toContain(LOCAL_KEY);
  const [url = ''] = /http:.*/.exec(output.stdout) ?? [];
  await run(SEED);
  const headers = { authorization: `Bearer ${LOCAL_KEY}` };
  const pets = await fetch(`${url}/v1/pets`, { headers });
  expect(await pets.json()).toMatchObject([{ name: 'Animal 1' }]);
  expect(await fetch(`${url}/client-1.0.0.tgz`)).toMatchObject({ status: 200 });
  // Its key is public, so no other machine may reach it.
  await expect(fetch(url.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow('fetch failed');
  expect(await run('node ops/reset.ts', 1)).toContain('stop wrangler dev');
  child.kill('SIGINT');
  await exited;
});

test('npm run reset deletes a store whose files are damaged', async () => {
  await run(SEED);
  const databases = globSync(path('.wrangler/state/**/*.sqlite*'));
  expect(databases.length).toBeGreaterThan(1);
  for (const name of databases) writeFileSync(name, 'garbage '.repeat(99));
  expect(await run(`${KEYS} list`, 1)).toContain(': npm run reset ');
  await run('node ops/reset.ts');
  // Before the first start, seed sets the store up.
  await run(SEED);
});

test.skipIf(!existsSync('/dev/full'))(
  'a rotation whose new key cannot be printed fails, and leaves the old key as it is',
  async () => {
    const [id = ''] = /key_\w+/.exec(await run(`${KEYS} create --label Anna`)) ?? [];
    await run(`${KEYS} rotate ${id} >/dev/full`, 1);
    const row = new RegExp(`${id}\t.*\tnever\tactive\t.*\tAnna\n`);
    expect(await run(`${KEYS} list`)).toMatch(row);
  },
);

// Nobody gets the key without standard output.
test.each([
  ['stdout', 1],
  ['stderr', 0],
] as const)('a create whose %s is closed ends with the exit code %i', async (stream, code) => {
  const { process, exited } = start(`${KEYS} create --label Bob`);
  process[stream].destroy();
  expect(await exited).toMatchObject({ code });
});
