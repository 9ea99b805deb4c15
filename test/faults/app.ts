/** The unmodified app with bindings that fail on demand. */
import app from '../../src/index.ts';
import { type FaultyEnv, failOnDemand, withFaults } from './worker.ts';

export default {
  fetch: failOnDemand(app.fetch),
  scheduled: (controller, env) => app.scheduled(controller, withFaults(env, new Headers())),
} satisfies ExportedHandler<FaultyEnv>;
