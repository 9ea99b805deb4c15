/** The worker's entry: what Cloudflare calls. */
import { app } from './app.ts';

export default { fetch: app.fetch };
