/** A baseline for the store: the same platform calls and log line, and nothing else. Below `/kv` it also reads KV. */
const COLUMNS = 'id, name, category_id AS categoryId, status';

async function answer(request: Request, { API_KEYS, DB, ...limiters }: Env): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const [, kv, petId] = /^(\/kv)?\/v1\/pets(?:\/(\d+))?$/.exec(pathname) ?? [];
  if (kv) await API_KEYS.get('key:bare', { cacheTtl: 30 });
  const read = limiters.RATE_LIMITER.limit({ key: 'bare' });
  if (request.method === 'POST') {
    await Promise.all([read, limiters.WRITE_RATE_LIMITER.limit({ key: 'bare' })]);
    const pet = await request.json<{ name: string; categoryId: number; status: string }>();
    const insert = DB.prepare('INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)');
    const { meta } = await insert.bind(pet.name, String(pet.categoryId), pet.status).run();
    return Response.json({ id: meta.last_row_id, ...pet }, { status: 201 });
  }
  await read;
  if (petId) {
    const select = DB.prepare(`SELECT ${COLUMNS} FROM pets WHERE id = CAST(? AS INTEGER)`);
    return Response.json(await select.bind(petId).first());
  }
  const select = DB.prepare(`SELECT ${COLUMNS} FROM pets ORDER BY id LIMIT ?`);
  const { results } = await select.bind(searchParams.get('limit')).all();
  return Response.json(results);
}

export default {
  async fetch(request, env) {
    const response = await answer(request, env);
    const { method, cf } = request;
    const id = { requestId: crypto.randomUUID(), environment: env.ENVIRONMENT, method };
    const result = { route: '/v1/pets', status: response.status, durationMs: 0, d1Ms: 0 };
    const client = { keyId: 'bare', operation: 'listPets', colo: cf?.colo, country: cf?.country };
    const line = { time: new Date().toISOString(), ...id, ...result, ...client, d1Attempts: 1 };
    console.log(JSON.stringify(line));
    return response;
  },
} satisfies ExportedHandler<Env>;
