/**
 * A fake of the part of Cloudflare's API that our commands call through wrangler. It checks the token, and records its
 * calls. https://developers.cloudflare.com/api/
 */
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';

export const TOKEN = 'fake-api-token';

export type Api = Awaited<ReturnType<typeof startApi>>;

/** Starts the fake. `routes`: its calls, below `/accounts/<id>`. */
export async function startApi(routes: Hono) {
  /** The calls so far, such as `GET /accounts/…`; with the shares of a deployment, the first words of a query. */
  const calls: string[] = [];
  const tokens = new Set([TOKEN]);

  const app = new Hono().use(async ({ req }, next) => {
    const [, token = ''] = req.header('authorization')?.split('Bearer ') ?? [];
    if (!tokens.has(token)) throw error(401, 9109, 'Invalid access token');
    const call = `${req.method} ${decodeURIComponent(req.path)}${summary(req.path, await req.text())}`;
    calls.push(call);
    await next();
  });
  app.route('/accounts/:account', routes);
  app.notFound(({ req }) => error(404, 7003, `No route for ${req.path}`).getResponse());

  const started = Promise.withResolvers<AddressInfo>();
  const options = { fetch: app.fetch, hostname: '127.0.0.1', port: 0 };
  const server = serve({ ...options, overrideGlobalObjects: false }, started.resolve);
  const { port } = await started.promise;
  const base = `http://127.0.0.1:${port}`;
  /** Environment variables that send wrangler here. */
  const env = { CLOUDFLARE_API_BASE_URL: base, CLOUDFLARE_API_TOKEN: TOKEN };
  const close = () => new Promise((resolve) => server.close(resolve));
  return { env, calls, tokens, close };
}

/** `info`: of the page of a list. */
export function ok(result: unknown, info = {}): Response {
  return Response.json({ success: true, errors: [], messages: [], result, result_info: info });
}

export function error(status: 400 | 401 | 404 | 500, code: number, message: string): HTTPException {
  const errors = [{ code, message }];
  const res = Response.json({ success: false, errors, messages: [], result: null });
  return new HTTPException(status, { res });
}

/** What tells a deployment or a query from others in `calls`. */
function summary(path: string, body: string): string {
  const shares = [...body.matchAll(/"percentage":(\d+)/g)].map(([, share]) => share);
  if (path.endsWith('/deployments') && shares.length > 0) return ` ${shares.join('/')}`;
  if (!path.endsWith('/query')) return '';
  const sql = /"sql":"(.*?)("|$)/.exec(body)?.[1] ?? '';
  return ` ${sql.split(/(?:\\[nt]|\s)+/, 5).join(' ')}`;
}
