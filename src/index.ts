/** The worker's entry: what Cloudflare calls. */
import { app } from './app.ts';
import { sweep } from './idempotency/sweep.ts';

export default { fetch: app.fetch, scheduled: sweep };
