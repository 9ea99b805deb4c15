/** `npm run rehearse`: two promotions by the real commands, of which one fails and goes back, against the tests' fake of Cloudflare. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { generateKey } from '../ops/keys/generate-key.ts';
import { cloneProject } from './support/clone.ts';
import { error, startCloudflare } from './support/fake-cloudflare.ts';

const cloudflare = await startCloudflare();
const { folder: cwd, git, remove } = await cloneProject(cloudflare);

/** Runs a command. `bug`: the requests that get a 500. */
async function narrate(text: string, command: string, bug = /^$/) {
  console.log(`\n${text}\n$ node ${command}`);
  cloudflare.state.onCall = (line) =>
    bug.test(line) ? error(500, 0, 'a bug').getResponse() : undefined;
  const key = generateKey(command.includes('staging') ? 'staging' : 'production');
  const env = { ...process.env, ...cloudflare.env, SMOKE_API_KEY: key };
  await once(spawn(process.execPath, command.split(' '), { cwd, env, stdio: 'inherit' }), 'close');
}

await narrate('Staging:', 'ops/set-up.ts staging --domain staging.animals.test');
await narrate('Production:', 'ops/set-up.ts production --domain animals.test --yes');
git('commit', '-qam', 'Set up');
await narrate('Staging serves the commit:', 'ops/release.ts staging');
await narrate('A bug at 10 %:', 'ops/release.ts promote --yes --hold 5', /^GET \/pets 10%/);
await narrate('Without the bug:', 'ops/release.ts promote --yes --hold 5');
cloudflare.close();
await remove();
