// Wrangler runs this before it builds the worker (wrangler.toml): the first `wrangler dev` sets the local store up. Plain JavaScript,
// so that any Node.js can skip it for a deployment.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const store = join(import.meta.dirname, '../../.wrangler/state');
if (process.env.WRANGLER_COMMAND === 'dev' && !existsSync(store)) {
  const { setUpLocalStore } = await import('./store.ts');
  await setUpLocalStore();
}
