/** The app with bindings that fail on demand. */
import app from '../../src/index.ts';
import { failOnDemand, withFaults } from './worker.ts';

// The classes of bindings, such as a Durable Object's.
export * from '../../src/index.ts';

export default {
  ...app,
  fetch: failOnDemand(app.fetch),
  scheduled: (controller, env) => app.scheduled(controller, withFaults(env, new Headers())),
} satisfies ExportedHandler<Env>;
