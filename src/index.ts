/** The worker's entry point: the handlers that Cloudflare calls. */
import { app } from './app.ts';
import { sweepIdempotencyKeys } from './idempotency/sweep.ts';

export default {
  fetch(request, env, context) {
    const responding = Promise.resolve(app.fetch(request, env, context));
    // When a client disconnects, the runtime cancels its request at the next `await`, and its log line would be lost.
    // waitUntil lets every request finish.
    // https://developers.cloudflare.com/workers/runtime-apis/context/#waituntil
    context.waitUntil(responding);
    return responding;
  },
  scheduled: sweepIdempotencyKeys,
} satisfies ExportedHandler<Env>;
