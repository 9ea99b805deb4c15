/**
 * The worker that the store is compared with: the same platform calls and log line, and nothing else. It checks no
 * key, validates nothing, handles no error and sets no header but Content-Type.
 */
const COLUMNS = 'id, name, category_id AS categoryId, status';

async function answer(request: Request, env: Env): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const [, kv, call, id = ''] = /^(\/kv)?\/(\w+)(?:\/(\d+))?$/.exec(pathname) ?? [];
  if (kv) await env.API_KEYS.get('key:bare', { cacheTtl: 30 });
  const read = env.RATE_LIMITER.limit({ key: 'bare' });
  if (call === 'list') {
    await read;
    const select = env.DB.prepare(`SELECT ${COLUMNS} FROM pets ORDER BY id LIMIT ?`);
    const { results } = await select.bind(searchParams.get('limit')).all();
    return Response.json(results);
  }
  if (call === 'get') {
    await read;
    const select = env.DB.prepare(`SELECT ${COLUMNS} FROM pets WHERE id = CAST(? AS INTEGER)`);
    return Response.json(await select.bind(id).first());
  }
  await Promise.all([read, env.WRITE_RATE_LIMITER.limit({ key: 'bare' })]);
  const pet = await request.json<{ name: string; categoryId: number; status: string }>();
  const { meta } = await env.DB.prepare(
    'INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)',
  )
    .bind(pet.name, String(pet.categoryId), pet.status)
    .run();
  return Response.json({ id: meta.last_row_id, ...pet }, { status: 201 });
}

/** The log line of the store. */
function log({ method, cf }: Request, { status }: Response, { ENVIRONMENT }: Env): void {
  console.log(
    JSON.stringify({
      time: new Date().toISOString(),
      requestId: crypto.randomUUID(),
      environment: ENVIRONMENT,
      method,
      route: '/v1/pets',
      status,
      durationMs: 0,
      d1Ms: 0,
      keyId: 'bare',
      operation: 'listPets',
      colo: cf?.colo,
      country: cf?.country,
      d1Attempts: 1,
    }),
  );
}

export default {
  async fetch(request, env) {
    const response = await answer(request, env);
    log(request, response, env);
    return response;
  },
} satisfies ExportedHandler<Env>;
