/**
 * The worker that the store is measured against: the same platform calls and nothing else. It validates
 * nothing, handles no error and sets no header but Content-Type. It runs under the store's own wrangler.toml,
 * so that bindings, assets and compatibility date are the same.
 */
import { KEY_RECORD } from './key-record.ts';

const COLUMNS = 'id, name, category_id AS categoryId, status';

async function answer(request: Request, env: Env): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const [, keys, call] = /^(\/kv)?\/(\w+)$/.exec(pathname) ?? [];
  const record = keys && (await env.API_KEYS.get(KEY_RECORD, { cacheTtl: 30 }));
  if (record === null) return new Response('no such key', { status: 401 });
  switch (call) {
    case 'log':
      return logged(Response.json([]), request, env);
    case 'limiter':
      await env.RATE_LIMITER.limit({ key: 'baseline' });
      return Response.json([]);
    case 'list': {
      await env.RATE_LIMITER.limit({ key: 'baseline' });
      const { results } = await env.DB.prepare(`SELECT ${COLUMNS} FROM pets ORDER BY id LIMIT ?`)
        .bind(searchParams.get('limit'))
        .all();
      return logged(Response.json(results), request, env);
    }
    case 'create': {
      await env.RATE_LIMITER.limit({ key: 'baseline' });
      const pet = await request.json<{ name: string; categoryId: number; status: string }>();
      const { meta } = await env.DB.prepare(
        'INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)',
      )
        .bind(pet.name, String(pet.categoryId), pet.status)
        .run();
      const created = Response.json({ id: meta.last_row_id, ...pet }, { status: 201 });
      return logged(created, request, env);
    }
    default:
      return Response.json([]);
  }
}

/** Writes the log line that the store writes. */
function logged(response: Response, request: Request, env: Env): Response {
  console.log(
    JSON.stringify({
      time: new Date().toISOString(),
      requestId: crypto.randomUUID(),
      environment: env.ENVIRONMENT,
      method: request.method,
      route: '/v1/pets',
      status: response.status,
      durationMs: 0,
      d1Ms: 0,
      keyId: 'baseline',
      operation: 'listPets',
      colo: request.cf?.colo,
      country: request.cf?.country,
      d1Attempts: 1,
    }),
  );
  return response;
}

export default { fetch: answer };
