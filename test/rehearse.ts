/**
 * `npm run rehearse`: the real release, against the tests' fake of Cloudflare: staging, a promotion
 * that fails, a good one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createProgram, run } from '../ops/command/command-line.ts';
import { cloneProject, SMOKE_KEYS } from './ops/clone.ts';
import { fail, startCloudflare } from './ops/fake-cloudflare.ts';

/** What is told, and the call that fails. */
const STEPS = [
  ['Staging serves the commit.', 'staging', 'staging', ''],
  [
    'Production has a bug, which the test at 0 % finds. The old version goes on serving.',
    'production',
    'promote --yes',
    'GET /pets 0%',
  ],
  ['Without the bug, it serves all.', 'production', 'promote --yes', ''],
] as const;

await run(
  createProgram(
    'npm run rehearse --',
    'Releases to a model of Cloudflare: to staging, with a bug to production, and without it.',
  ).action(rehearseAll),
);

async function rehearseAll() {
  console.log('A rehearsal: nothing real is touched, and a minute lasts three seconds.');
  // Otherwise, the clone's commits need the user's name, and may be signed.
  process.env.GIT_CONFIG_GLOBAL = `${import.meta.dirname}/ops/gitconfig`;
  const cloudflare = await startCloudflare();
  const { folder: cwd, git, first, remove } = await cloneProject(true);
  for (const environment of ['staging', 'production'] as const) cloudflare.seed(environment, first);
  git('commit', '--allow-empty', '--quiet', '--message', 'Add a feature');

  for (const [text, environment, command, fault] of STEPS) {
    cloudflare.state.before = (line) => line === fault && fail(500, 0, 'a bug');
    console.log(`\n${text}\n$ npm run release -- ${command}`);
    const env = { ...process.env, ...cloudflare.env, SMOKE_API_KEY: SMOKE_KEYS[environment] };
    const options = { cwd, env, stdio: 'inherit', shell: true } as const;
    await once(spawn(`node ops/release.ts ${command}`, options), 'close');
  }
  cloudflare.close();
  await remove();
}
