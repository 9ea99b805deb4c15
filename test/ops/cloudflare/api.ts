/**
 * A fake of the part of Cloudflare's API that our commands call through wrangler. It keeps state, checks the token,
 * records its calls, and can run a test's code at any of them. https://developers.cloudflare.com/api/
 */
import { createServer, type IncomingMessage } from 'node:http';

export const TOKEN = 'fake-api-token';

/** Handlers by `<method> <path after /accounts/id>`, with `:name` for a segment. A thrown response is the answer. */
export type Routes = Record<
  string,
  (request: Request, ...segments: string[]) => Response | Promise<Response>
>;

export type Api = Awaited<ReturnType<typeof startApi>>;

/** Starts the fake. `visit` answers requests with `X-Fake-Host`, which are those of a worker's clients. */
export async function startApi(routes: Routes, visit?: (request: Request) => Promise<Response>) {
  /** The calls so far, such as `GET /accounts/…`; with the shares of a deployment, the start of a query. */
  const calls: string[] = [];
  const hooks: { call: RegExp; when: string; hook: () => unknown }[] = [];
  const patterns = Object.entries(routes).map(
    ([route, handle]) => [new RegExp(`^${route.replaceAll(/:\w+/g, '([^/]+)')}$`), handle] as const,
  );

  /** Runs a hook once, before or after the next matching call takes effect. Its response replaces the call's. */
  const on = (call: RegExp, when: 'before' | 'after', hook: () => unknown) =>
    void hooks.push({ call, when, hook });

  /** Makes the next call that matches fail: before it takes effect, or after. */
  const failNext = (call: RegExp, when: 'before' | 'after' = 'before') =>
    on(call, when, () => error(500, 10001, 'internal error'));

  async function runHooks(call: string, when: 'before' | 'after'): Promise<void> {
    for (const each of hooks.filter((one) => one.when === when && one.call.test(call))) {
      hooks.splice(hooks.indexOf(each), 1);
      const instead = await each.hook();
      if (instead instanceof Response) throw instead;
    }
  }

  async function answer(request: Request, body: string): Promise<Response> {
    if (visit && request.headers.has('x-fake-host')) return visit(request);
    const { pathname } = new URL(request.url);
    const path = decodeURIComponent(pathname.replace('/client/v4', ''));
    const call = `${request.method} ${path}${summary(path, body)}`;
    // An upload of assets carries the token of its session.
    const authorized = request.headers.get('authorization') === `Bearer ${TOKEN}`;
    if (authorized) await runHooks(call, 'before');
    calls.push(call);
    if (!authorized && !path.endsWith('/assets/upload')) {
      throw error(401, 9109, 'Invalid access token');
    }
    const response = await route(request, path.replace(/^\/accounts\/[^/]+/, ''));
    await runHooks(call, 'after');
    return response;
  }

  async function route(request: Request, path: string): Promise<Response> {
    for (const [pattern, handle] of patterns) {
      const segments = pattern.exec(`${request.method} ${path}`)?.slice(1);
      if (segments) return handle(request, ...segments);
    }
    throw error(404, 7003, `No route for ${request.method} ${path}`);
  }

  const server = createServer(async (incoming, outgoing) => {
    const body = await read(incoming);
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

  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  return { env, port, calls, on, failNext, close };
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
  const settled = body.includes('"settled release: ') ? ' settled' : '';
  if (path.endsWith('/deployments') && shares.length > 0) return ` ${shares.join('/')}${settled}`;
  if (!path.endsWith('/query')) return '';
  const sql = /"sql":"(.*?)("|$)/.exec(body)?.[1] ?? '';
  return ` ${sql.replaceAll(/(\\[nt]|\s)+/g, ' ').slice(0, 60)}`;
}

function toRequest({ method = 'GET', url, headers }: IncomingMessage, body: Buffer): Request {
  const sent = Object.entries(headers)
    .filter(([name]) => !/^(host|connection|content-length)$/.test(name))
    .map(([name, value]): [string, string] => [name, String(value)]);
  const content = body.length > 0 && { body: new Uint8Array(body) };
  return new Request(`http://localhost${url}`, { method, headers: sent, ...content });
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
