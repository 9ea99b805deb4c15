/**
 * Wrangler runs this before each build (wrangler.toml): it packs the client, and sets the local
 * store up when `wrangler dev` starts.
 */
import { reportFailure } from '../command/command-line.ts';
import { packClient } from './client-package.ts';
import { isInUse, LOCAL_KEY, setUpLocalStore } from './store.ts';

/** Wrangler does not say at which port it will serve. */
const GUIDE = `The local store is set up. ADDRESS is what wrangler prints below, and ADDRESS/docs the docs page:
curl -i -w '\\n' ADDRESS/v1/pets -H 'Authorization: Bearer ${LOCAL_KEY}'
After Ctrl-C, npm run reset empties the store, also a damaged one.`;

/** After each change of a file in src, too. */
const SERVED =
  'The store is served. A second server, at another port, can find it locked (503): run one per clone.';

packClient();

// A deployment builds, too.
if (process.env.WRANGLER_COMMAND === 'dev') await start().catch(reportFailure);

async function start() {
  const message = isInUse() ? SERVED : GUIDE;
  await setUpLocalStore();
  console.log(message);
}
