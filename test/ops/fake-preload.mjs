// Preloaded into the commands and into wrangler: requests to https go to the fake of Cloudflare,
// and pauses take a twentieth of their time.
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

const { fetch } = globalThis;
const { setTimeout } = timers;
globalThis.fetch = (url, options) =>
  fetch(String(url).replace('https:/', `${process.env.CLOUDFLARE_API_BASE_URL}/hosts`), options);
timers.setTimeout = (ms, ...rest) => setTimeout(ms / 20, ...rest);
syncBuiltinESMExports();
