/**
 * A fake of the part of Cloudflare's API that our commands call through wrangler. It keeps state, checks the
 * token, remembers what it was called for, and can fail any call before or after it took effect.
 * https://developers.cloudflare.com/api/
 */
import { createServer, type IncomingMessage } from 'node:http';
import type * as z from 'zod';

export const TOKEN = 'fake-api-token';

/** `path` is what follows `/accounts/<id>`. */
export type Call = { query: URLSearchParams; body: Buffer; contentType: string };

/** Text goes out as it is, anything else as JSON. */
export type Answer = { status?: number; body: unknown };

/** What answers the calls whose `<method> <path>` matches, with the groups of the expression. */
export type Route = [
  RegExp,
  (call: Call, ...groups: string[]) => Answer | undefined | Promise<Answer | undefined>,
];

export type Api = {
  /** Environment variables that send wrangler here. */
  env: Record<string, string>;
  /** The calls so far, such as `PUT /accounts/…`. */
  calls: string[];
  /** Answers the next call that matches with an error: before it takes effect unless told. */
  failNext(call: RegExp, when?: 'before' | 'after'): void;
  /** Runs something once, when a call that matches has arrived, or has taken effect; then it goes on. */
  onNext(call: RegExp, when: 'before' | 'after', action: () => void): void;
  close(): Promise<void>;
};

type Hook = { call: RegExp; when: 'before' | 'after'; action: () => Answer | undefined };

/** Starts the fake on a free port of the loopback interface. */
export async function startApi(routes: Route[]): Promise<Api> {
  const calls: string[] = [];
  const hooks: Hook[] = [];

  function hook(call: string, when: Hook['when']): Answer | undefined {
    const index = hooks.findIndex((each) => each.when === when && each.call.test(call));
    return index < 0 ? undefined : hooks.splice(index, 1)[0]?.action();
  }

  async function answer(request: IncomingMessage): Promise<Answer> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const call = `${request.method} ${decodeURIComponent(pathname.replace('/client/v4', ''))}`;
    const body = await read(request);
    // An upload of assets carries the token of its session.
    const upload = /^POST .*\/assets\/upload$/.test(call);
    if (!upload && request.headers.authorization !== `Bearer ${TOKEN}`) {
      calls.push(call);
      return error(401, 9109, 'Invalid access token');
    }
    const failure = hook(call, 'before');
    calls.push(call);
    if (failure) return failure;
    const contentType = request.headers['content-type'] ?? '';
    const answered = await route(call, { query: searchParams, body, contentType });
    return hook(call, 'after') ?? answered;
  }

  async function route(call: string, details: Call): Promise<Answer> {
    const own = call.replace(/ \/accounts\/[^/]+/, ' ');
    for (const [pattern, handle] of routes) {
      const groups = pattern.exec(own)?.slice(1);
      const answered = groups && (await handle(details, ...groups));
      if (answered) return answered;
    }
    return error(404, 7003, `No route for ${call}`);
  }

  const server = createServer(async (request, response) => {
    const { status = 200, body } = await answer(request).catch((failure) =>
      error(500, 10001, String(failure)),
    );
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;

  return {
    env: {
      CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${port}/client/v4`,
      CLOUDFLARE_API_TOKEN: TOKEN,
    },
    calls,
    failNext(call, when = 'before') {
      hooks.push({ call, when, action: () => error(500, 10001, 'internal error') });
    },
    onNext(call, when, action) {
      hooks.push({
        call,
        when,
        action: () => {
          action();
          return undefined;
        },
      });
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

export function envelope(result: unknown) {
  return { success: true, errors: [], messages: [], result };
}

export function ok(result: unknown, status = 200): Answer {
  return { status, body: envelope(result) };
}

export function error(status: number, code: number, message: string): Answer {
  return {
    status,
    body: { success: false, errors: [{ code, message }], messages: [], result: null },
  };
}

/** The page of a list that a call asks for. */
export function page({ query }: Call, list: unknown[]): Answer {
  const size = Number(query.get('per_page') ?? 20);
  const from = (Number(query.get('page') ?? 1) - 1) * size;
  return ok(list.slice(from, from + size));
}

/** The fields of a multipart body. */
export function form({ body, contentType }: Call): Promise<FormData> {
  return new Response(body, { headers: { 'content-type': contentType } }).formData();
}

/** A field of a multipart body, as text. */
export async function text(field: File | string | null): Promise<string> {
  return field instanceof Blob ? field.text() : (field ?? '');
}

/** A body of JSON. */
export function json<T>({ body }: Call, schema: z.ZodType<T>): T {
  return schema.parse(JSON.parse(body.toString()));
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
