/**
 * What the store is measured against: the same platform calls and nothing else. No validation, no errors,
 * no headers, no authentication beyond reading the key's record.
 */
const SELECT =
  'SELECT id, name, category_id AS categoryId, status FROM pets WHERE id > ?1 ORDER BY id LIMIT ?2';
const INSERT =
  'INSERT INTO pets (name, category_id, status) VALUES (?1, ?2, ?3) RETURNING id, name, category_id AS categoryId, status';

const handlers: Record<string, (request: Request, env: Env, url: URL) => Promise<Response>> = {
  '/constant': async () => Response.json([]),
  '/limiter': async (_, env) => {
    await env.RATE_LIMITER.limit({ key: 'bench' });
    return Response.json([]);
  },
  '/log': async () => {
    log(200);
    return Response.json([]);
  },
  '/kv': async (_, env) => Response.json(await env.API_KEYS.get('bench', { cacheTtl: 30 })),
  // (b) one limiter call, one statement, one log line
  '/list': async (_, env, url) => {
    await env.RATE_LIMITER.limit({ key: 'bench' });
    const limit = Number(url.searchParams.get('limit'));
    const { results } = await env.DB.prepare(SELECT).bind(0, limit).all();
    log(200);
    return Response.json(results);
  },
  '/create': async (request, env) => {
    await env.RATE_LIMITER.limit({ key: 'bench' });
    const pet = await request.json<{ name: string; categoryId: number; status: string }>();
    const statement = env.DB.prepare(INSERT).bind(pet.name, pet.categoryId, pet.status);
    const { results } = await statement.all();
    log(201);
    return Response.json(results[0], { status: 201 });
  },
  // (c) the same after a KV read
  '/kv-list': async (request, env, url) => {
    await env.API_KEYS.get('bench', { cacheTtl: 30 });
    return handlers['/list']?.(request, env, url) ?? new Response(null, { status: 404 });
  },
};

function log(status: number): void {
  console.log(JSON.stringify({ time: new Date().toISOString(), status }));
}

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const handler = handlers[url.pathname];
    return handler ? handler(request, env, url) : new Response(null, { status: 404 });
  },
} satisfies ExportedHandler<Env>;
