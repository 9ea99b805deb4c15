/** A baseline for the store: the same platform calls and log line, and nothing else. */
const COLUMNS = 'id, name, category_id AS categoryId, status';

async function answer(request: Request, { DB, ...limiters }: Env): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const petId = pathname.split('/')[3];
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
    const line = {
      time: new Date().toISOString(),
      requestId: crypto.randomUUID(),
      environment: env.ENVIRONMENT,
      method: request.method,
      route: '/v1/pets',
      status: response.status,
      durationMs: 0,
      keyId: 'bare',
      colo: request.cf?.colo,
      country: request.cf?.country,
      operation: 'listPets',
      d1Attempts: 1,
      d1Ms: 0,
    };
    console.log(JSON.stringify(line));
    return response;
  },
} satisfies ExportedHandler<Env>;
