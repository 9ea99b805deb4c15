/** The worker's entry point: the handlers that Cloudflare calls. */
import { app } from './app.ts';
import { sweepIdempotencyKeys } from './idempotency/sweep.ts';

export default {
  fetch(request, env, context) {
    const responding = Promise.resolve(app.fetch(request, env, context));
    // Otherwise, the runtime cancels the request of a client that disconnects, and its log line
    // is lost: https://developers.cloudflare.com/workers/runtime-apis/context/#waituntil
    context.waitUntil(responding);
    return responding;
  },
  scheduled: sweepIdempotencyKeys,
} satisfies ExportedHandler<Env>;
