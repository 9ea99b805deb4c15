import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../../ops/command/project-root.ts';
import { LOCAL_KEY } from '../../../ops/local/store.ts';
import { copyProject, freePort, startProcess } from '../../support/project.ts';

const project = copyProject();

async function fetchPets(port: number, key: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`http://localhost:${port}/v1/pets`, { headers });
  return response.json();
}

const startDev = (port: number) => {
  const bin = join(PROJECT_ROOT, 'node_modules/wrangler/bin/wrangler.js');
  return startProcess([bin, 'dev', '--port', `${port}`], project.path());
};

test('a fresh clone: start, seed, issue a key, call, stop, wrangler dev', async () => {
  const port = await freePort();
  // Wrangler reads this file, and would serve that environment.
  const envFile = join(project.path(), '.env');
  writeFileSync(envFile, 'CLOUDFLARE_ENV=staging\n');
  const store = await project.serve(port);

  const seeded = await project.run('seed.ts', ['--pets', '2'], { CLOUDFLARE_ENV: 'staging' });
  expect(seeded).toMatchObject({ code: 0, stderr: '' });
  // After a line of wrangler about that file.
  expect(seeded.stdout).toMatch(/2 animals were added\.\n$/);
  const { stdout: key } = await project.run('keys.ts', ['create', '--label', 'Anna']);
  const { stdout: keys } = await project.run('keys.ts', ['list']);
  expect(keys).toMatch(/^local\t.*\nkey_.*\tAnna\n$/);

  const pets = [
    { id: 1, name: 'Animal 1', categoryId: 1, status: 'available' },
    { id: 2, name: 'Animal 2', categoryId: 2, status: 'pending' },
  ];
  expect(await fetchPets(port, key.trimEnd())).toEqual(pets);
  await store.printed('"route":"/v1/pets"');
  // Its key is public, so no other machine may reach it.
  await expect(fetch(`http://127.0.0.2:${port}/health`)).rejects.toThrow('fetch failed');
  expect(store.output.stdout).not.toContain('[wrangler:info]');
  // By default wrangler serves an editor of the database there, which other pages can frame.
  expect((await fetch(`http://localhost:${port}/cdn-cgi/local/explorer`)).status).toBe(404);

  const stderr =
    'error: the store of this folder is running: stop it (Ctrl-C), or use another clone\n';
  for (const script of ['start.ts', 'reset.ts'])
    expect(await project.run(script)).toEqual({ code: 1, stdout: '', stderr });
  store.process.kill('SIGINT');
  const { code, stderr: lastWords } = await store.exited;
  expect(code).toBe(0);
  // On a busy machine, esbuild, which wrangler starts, may print a deadlock of its own when its parent ends.
  expect(lastWords.replace(/^fatal error: all goroutines are asleep[\s\S]*/, '')).toBe('');

  // `npx wrangler dev` serves the same animals.
  rmSync(envFile);
  const dev = startDev(port);
  await dev.printed('Ready on');
  expect(await fetchPets(port, key.trimEnd())).toEqual(pets);
  dev.process.kill('SIGINT');
  await dev.exited;
});

test('wrangler dev alone sets up a store that does not exist yet, and a deployment does not', async () => {
  await project.run('reset.ts');
  const deployment = { WRANGLER_COMMAND: 'deploy' };
  expect(await project.run('local/build.mjs', [], deployment)).toMatchObject({ stdout: '' });
  const port = await freePort();
  const dev = startDev(port);
  await dev.printed('Ready on');
  expect(await fetchPets(port, LOCAL_KEY)).toEqual([]);
  dev.process.kill('SIGINT');
  await dev.exited;
});
