/** Plain Hono with the store's cache of API keys and its rate limiter, so that both wait for the same. */
import { plainHono } from './plain-hono.ts';

const records = new Map<string, unknown>();

export default {
  async fetch(request, env, context) {
    await env.RATE_LIMITER.limit({ key: 'plain' });
    const get = async (name: string) => {
      if (!records.has(name)) records.set(name, await env.API_KEYS.get(name, 'json'));
      return records.get(name);
    };
    return plainHono.fetch(request, { ...env, API_KEYS: { get } }, context);
  },
} satisfies ExportedHandler<Env>;
