/** `npm run release -- staging`: builds once, releases that to staging, and proves it there. */
import { migrationProblems } from '../migrations.ts';
import { PROJECT_ROOT } from '../wrangler.ts';
import { build, type Manifest, writeProof } from './bundle.ts';
import { apiKeyProblem } from './checkup.ts';
import { deploy, login, settle } from './cloudflare.ts';
import { headCommit, uncommitted } from './git.ts';
import { identify } from './identity.ts';
import { migrate } from './migrate.ts';
import {
  ADDRESS_LIMIT_MS,
  lookAtServed,
  orReturn,
  prove,
  SPREAD_LIMIT_MS,
  short,
  stableVersion,
} from './rollout.ts';
import type { Steps } from './steps.ts';
import { missing, readTarget, refuse } from './target.ts';

/**
 * @returns what was released: `commit`, the SHA-256 of `index.js`, the `version` that staging serves, and the
 *   `bookmark` of its database before.
 */
export async function releaseToStaging(steps: Steps) {
  const target = readTarget('staging');
  const commit = await steps.look(
    'check that staging is set up and everything is committed',
    async () => {
      refuse([
        ...missing(target),
        await uncommitted(),
        apiKeyProblem('staging'),
        ...(await migrationProblems()),
      ]);
      return headCommit();
    },
    (head) => `commit ${head}`,
  );
  await steps.look('check the login', login);
  const old = stableVersion(await lookAtServed(target, steps));

  const manifest = await steps.take(
    'build dist',
    () => build(commit),
    notBuilt(commit),
    (built) => `index.js ${built['index.js']}`,
  );
  const bookmark = await migrate(target, PROJECT_ROOT, steps);
  const identity = { ...(await identify(manifest)), bookmark };
  let version = '';
  const isOwn = () => true;
  await orReturn(target, old, isOwn, steps, async () => {
    ({ version } = await steps.take(
      'deploy it, with its routes and crons',
      () => deploy(target, identity),
      { version: 'the new one', targets: [] },
      (deployed) => `version ${deployed.version}`,
    ));
    const limitMs = old ? SPREAD_LIMIT_MS : ADDRESS_LIMIT_MS;
    await prove({ ...target, version }, steps, undefined, limitMs);
    await steps.take(
      'note that it is proved',
      async () => {
        await settle(target, version, 'proved', bookmark);
        const provedAt = new Date().toISOString();
        await writeProof(manifest, { version, bookmark, provedAt });
      },
      undefined,
    );
  });
  if (!steps.dryRun)
    steps.say(`Staging serves ${short(version)}. Next: npm run release -- promote`);
  return { commit, 'index.js': manifest['index.js'], version, bookmark };
}

/** What a dry run says is released. */
function notBuilt(commit: string): Manifest {
  const none = { worker: {}, assets: {}, migrations: {}, tools: {} };
  return { commit, builtAt: '', 'index.js': '', settings: '', ...none };
}
