/** The worker's entry point: the handlers that Cloudflare calls. */
import { app } from './app.ts';
import { sweep } from './idempotency/sweep.ts';

export default {
  fetch(request, env, context) {
    const response = Promise.resolve(app.fetch(request, env, context));
    // When a client disconnects, the runtime cancels its request at the next `await`. A cancelled
    // request writes no log line and leaves its work half done, so each one runs to its end.
    // https://developers.cloudflare.com/workers/runtime-apis/context/#waituntil
    context.waitUntil(response);
    return response;
  },
  scheduled: sweep,
} satisfies ExportedHandler<Env>;
