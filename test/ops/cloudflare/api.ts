/**
 * A fake of the part of Cloudflare's API that our commands call through wrangler: it keeps state, pages
 * its lists, checks the token, remembers what it was sent, and can fail.
 * https://developers.cloudflare.com/api/resources/kv/
 */
import { createServer, type IncomingMessage } from 'node:http';

export const TOKEN = 'fake-api-token';
const PAGE = 1000;

export type FakeCloudflare = {
  /** Environment variables that send wrangler here. */
  env: Record<string, string>;
  /** What a KV namespace holds, by name. */
  namespace(id: string): Map<string, { value: string; metadata: unknown }>;
  /** The calls so far, such as `PUT /accounts/…`. */
  calls: string[];
  /** Answers the next call that matches with an error. */
  failNext(call: RegExp): void;
  close(): Promise<void>;
};

type Answer = { status?: number; body: unknown };

/** Starts the fake on a free port of the loopback interface. */
export async function startFakeCloudflare(): Promise<FakeCloudflare> {
  const namespaces = new Map<string, Map<string, { value: string; metadata: unknown }>>();
  const calls: string[] = [];
  let failing: RegExp | undefined;

  function namespace(id: string) {
    const found = namespaces.get(id) ?? new Map();
    namespaces.set(id, found);
    return found;
  }

  async function answer(request: IncomingMessage): Promise<Answer> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const call = `${request.method} ${decodeURIComponent(pathname.replace('/client/v4', ''))}`;
    calls.push(call);
    const body = await read(request);
    if (request.headers.authorization !== `Bearer ${TOKEN}`) {
      return error(401, 9109, 'Invalid access token');
    }
    if (failing?.test(call)) {
      failing = undefined;
      return error(500, 10001, 'internal error');
    }
    return route(call, searchParams, body, request.headers['content-type'] ?? '');
  }

  async function route(call: string, query: URLSearchParams, body: Buffer, contentType: string) {
    const [, id = '', rest = ''] =
      /^\w+ \/accounts\/[^/]+\/storage\/kv\/namespaces\/([^/]+)\/(.*)$/.exec(call) ?? [];
    const stored = namespace(id);
    if (rest === 'keys') return list(stored, query);
    const name = rest.replace(/^values\//, '');
    if (call.startsWith('PUT ')) {
      const form = await new Response(body, {
        headers: { 'content-type': contentType },
      }).formData();
      const [value, metadata] = [await text(form.get('value')), await text(form.get('metadata'))];
      stored.set(name, { value, metadata: metadata === '' ? undefined : JSON.parse(metadata) });
      return ok(null);
    }
    const found = stored.get(name);
    return call.startsWith('GET ') && found
      ? { body: found.value }
      : error(404, 10009, 'key not found');
  }

  const server = createServer(async (request, response) => {
    const { status = 200, body } = await answer(request);
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
    namespace,
    calls,
    failNext(call) {
      failing = call;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function list(stored: Map<string, { metadata: unknown }>, query: URLSearchParams): Answer {
  const names = [...stored.keys()]
    .filter((name) => name.startsWith(query.get('prefix') ?? ''))
    .sort();
  const from = Number(query.get('cursor') ?? 0);
  const page = names.slice(from, from + PAGE);
  const cursor = from + PAGE < names.length ? String(from + PAGE) : '';
  const result = page.map((name) => ({ name, metadata: stored.get(name)?.metadata }));
  return { body: { ...envelope(result), result_info: { count: page.length, cursor } } };
}

function envelope(result: unknown) {
  return { success: true, errors: [], messages: [], result };
}

function ok(result: unknown): Answer {
  return { body: envelope(result) };
}

function error(status: number, code: number, message: string): Answer {
  return {
    status,
    body: { success: false, errors: [{ code, message }], messages: [], result: null },
  };
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function text(field: File | string | null): Promise<string> {
  return field instanceof Blob ? field.text() : (field ?? '');
}
