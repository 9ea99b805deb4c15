/**
 * `npm run rehearse`: the real release, against the tests' fake of Cloudflare: staging, a promotion
 * that fails, a good one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createProgram, run } from '../ops/command/command-line.ts';
import { cloneProject, SMOKE_KEYS } from './ops/clone.ts';
import { error, startCloudflare } from './ops/fake-cloudflare.ts';

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

  /** Narrates and runs a command. */
  async function rehearse(text: string, environment: 'staging' | 'production', command: string) {
    console.log(`\n${text}\n$ ${command}`);
    const env = { ...process.env, ...cloudflare.env, SMOKE_API_KEY: SMOKE_KEYS[environment] };
    const [node, ...args] = command
      .replace(/^npm run release --/, 'node ops/release.ts')
      .split(' ');
    await once(spawn(node ?? '', args, { cwd, env, stdio: 'inherit' }), 'close');
  }

  const promote = 'npm run release -- promote --yes';
  await rehearse('Staging serves the commit.', 'staging', 'npm run release -- staging');
  cloudflare.state.before = (line) =>
    line.startsWith('GET /pets 0%') ? error(500, 0, 'a bug').getResponse() : undefined;
  await rehearse(
    'Production has a bug, which the test at 0 % finds. The old version goes on serving.',
    'production',
    promote,
  );
  cloudflare.state.before = () => undefined;
  await rehearse('Without the bug, it serves all.', 'production', promote);
  cloudflare.close();
  await remove();
}
