/** Plain Hono with a cache of the API key and a rate limiter, as the store has them, so that both wait for the same. */
import { plainHono } from './plain-hono.ts';

let record: unknown;

export default {
  async fetch(request, env, context) {
    await env.RATE_LIMITER.limit({ key: 'plain' });
    const get = async (name: string) => {
      record ??= await env.API_KEYS.get(name, 'json');
      return record;
    };
    return plainHono.fetch(request, { ...env, API_KEYS: { get } }, context);
  },
} satisfies ExportedHandler<Env>;
