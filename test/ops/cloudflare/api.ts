/**
 * A fake of the part of Cloudflare's API that our commands call through wrangler. It keeps state, checks the token,
 * records its calls, and can run a test's code at any of them. https://developers.cloudflare.com/api/
 */
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';

export const TOKEN = 'fake-api-token';

/** Handlers by `<method> <path after /accounts/id>`, with `:name` for a segment. A thrown response is the answer. */
export type Routes = Record<string, Handler>;
type Handler = (request: Request, ...segments: string[]) => Response | Promise<Response>;

export type Api = Awaited<ReturnType<typeof startApi>>;

/** Starts the fake. `visit` answers requests with `X-Fake-Host`, which are those of a worker's clients. */
export async function startApi(routes: Routes, visit?: (request: Request) => Promise<Response>) {
  /** The calls so far, such as `GET /accounts/…`; with the shares of a deployment, the first words of a query. */
  const calls: string[] = [];
  let token = TOKEN;
  const hooks = new Map<RegExp, () => unknown>();
  const handlers = Object.entries(routes).map(([route, handle]) => ({
    pattern: new RegExp(`^${route.replaceAll(/:\w+/g, '([^/]+)')}$`),
    handle,
  }));

  /** Runs a hook once, at a point such as `after GET /accounts/…`. Its response replaces the call's. */
  const on = (point: RegExp, hook: () => unknown) => void hooks.set(point, hook);

  /** Makes a call fail once: `before` it takes effect, or `after`. */
  const failNext = (point: RegExp) => on(point, () => error(500, 10001, 'internal error'));

  async function runHooks(point: string): Promise<void> {
    const due = [...hooks].filter(([pattern]) => pattern.test(point));
    for (const [pattern] of due) hooks.delete(pattern);
    const results = await Promise.all(due.map(([, hook]) => hook()));
    const instead = results.find((result) => result instanceof Response);
    if (instead) throw instead;
  }

  async function answer(request: Request, body: string): Promise<Response> {
    if (visit && request.headers.has('x-fake-host')) return visit(request);
    const { pathname } = new URL(request.url);
    const path = decodeURIComponent(pathname.replace('/client/v4', ''));
    const call = `${request.method} ${path}${summary(path, body)}`;
    // An upload of assets carries a token of its own.
    const isAllowed = request.headers.get('authorization') === `Bearer ${token}`;
    if (!isAllowed && !path.endsWith('/assets/upload')) {
      throw error(401, 9109, 'Invalid access token');
    }
    await runHooks(`before ${call}`);
    calls.push(call);
    const routed = `${request.method} ${path.replace(/^\/accounts\/[^/]+/, '')}`;
    const handler = handlers.find(({ pattern }) => pattern.test(routed));
    if (!handler) throw error(404, 7003, `No route for ${routed}`);
    const [, ...segments] = handler.pattern.exec(routed) ?? [];
    const response = await handler.handle(request, ...segments);
    await runHooks(`after ${call}`);
    return response;
  }

  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    const response = await answer(toRequest(incoming, body), body.toString()).catch((thrown) =>
      thrown instanceof Response ? thrown : error(500, 10001, String(thrown)),
    );
    const headers = [...response.headers].filter(([name]) => !/^content-(enc|len)/.test(name));
    outgoing.writeHead(response.status, Object.fromEntries(headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  /** Environment variables that send wrangler here. */
  const env = {
    CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${port}/client/v4`,
    CLOUDFLARE_API_TOKEN: TOKEN,
  };

  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  /** Replaces the token that is accepted. */
  const setToken = (accepted: string) => {
    token = accepted;
  };
  return { env, port, calls, on, failNext, setToken, close };
}

export function envelope(result: unknown) {
  return { success: true, errors: [], messages: [], result };
}

export function ok(result: unknown, status = 200): Response {
  return Response.json(envelope(result), { status });
}

export function error(status: number, code: number, message: string): Response {
  const errors = [{ code, message }];
  return Response.json({ success: false, errors, messages: [], result: null }, { status });
}

/** A field of a multipart body, as text. */
export async function text(field: File | string | null): Promise<string> {
  return field instanceof Blob ? field.text() : (field ?? '');
}

/** What tells a deployment or a query from others in `calls`. */
function summary(path: string, body: string): string {
  const shares = [...body.matchAll(/"percentage":(\d+)/g)].map(([, share]) => share);
  if (path.endsWith('/deployments') && shares.length > 0) return ` ${shares.join('/')}`;
  if (!path.endsWith('/query')) return '';
  const sql = /"sql":"(.*?)("|$)/.exec(body)?.[1] ?? '';
  return ` ${sql.split(/(?:\\[nt]|\s)+/, 5).join(' ')}`;
}

function toRequest({ method = 'GET', url, headers }: IncomingMessage, body: Buffer): Request {
  const sent = Object.entries(headers)
    .filter(([name]) => !/^(host|connection|content-length)$/.test(name))
    .map(([name, value]): [string, string] => [name, String(value)]);
  const content = body.length > 0 && { body: new Uint8Array(body) };
  return new Request(`http://localhost${url}`, { method, headers: sent, ...content });
}
