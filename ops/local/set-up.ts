/** Wrangler runs this before each build (wrangler.toml): it packs the client, and sets the local store up when `wrangler dev` starts. */
import { reportFailure } from '../command/command-line.ts';
import { packClient } from './client-package.ts';
import { isInUse, LOCAL_KEY, setUpLocalStore } from './store.ts';

packClient();

// A deployment builds, too. So does a running server, maybe while a new migration is being written.
if (process.env.WRANGLER_COMMAND === 'dev' && !isInUse())
  await setUpLocalStore().then(printGuide, reportFailure);

function printGuide() {
  console.log(`The local store is set up. Docs page: http://localhost:8787/docs
curl -i -w '\\n' http://localhost:8787/v1/pets -H 'Authorization: Bearer ${LOCAL_KEY}'`);
}
