/**
 * Hono with one of its routers. Hono's default adds a second router, for patterns that the service does not use, and
 * every isolate would load it.
 */
import { HonoBase } from 'hono/hono-base';
import { RegExpRouter } from 'hono/router/reg-exp-router';
import { SmartRouter } from 'hono/router/smart-router';
import type { AppEnv } from './env.ts';

export function createRouter(): HonoBase<AppEnv> {
  // SmartRouter builds the routes for the first request, not when the worker starts.
  return new HonoBase<AppEnv>({ router: new SmartRouter({ routers: [new RegExpRouter()] }) });
}
