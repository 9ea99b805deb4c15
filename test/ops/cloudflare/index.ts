/** The whole fake of Cloudflare: what wrangler calls, and what clients are served. */
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';
import { error, ok, startApi } from './api.ts';
import { startRuntime } from './runtime.ts';
import { fakeWorkers } from './workers.ts';

export type Cloudflare = Awaited<ReturnType<typeof startCloudflare>>;

export async function startCloudflare() {
  const runtime = startRuntime();
  const { routes, ...account } = fakeWorkers(runtime.load);
  /** The versions that answered clients who named none. */
  const answered: string[] = [];
  /** The versions that answer reads of animals with a 500. */
  const broken = new Set<string>();

  /** Answers a client by the version that it names, or one of the deployed, spread by their shares. */
  async function visit(host: string, request: Request): Promise<Response> {
    const worker = account.hosts.get(host);
    const newest = worker?.deployments.at(-1);
    if (!worker || !newest) return new Response('', { headers: { 'x-fake': 'none' } });
    const { versions } = worker.seen ?? newest;
    worker.seen = newest;
    const override = request.headers.get('cloudflare-workers-version-overrides');
    const named = versions.find((each) => override === `${worker.name}="${each.version_id}"`);
    const [first, second] = versions;
    const byShare = (answered.length * 37) % 100 < (first?.percentage ?? 0) ? first : second;
    const id = (named ?? byShare)?.version_id ?? '';
    if (!named) answered.push(id);
    const { pathname, search } = new URL(request.url);
    const isRead = request.method === 'GET' && pathname.startsWith('/v1/pets');
    if (broken.has(id) && isRead) return new Response('', { status: 500 });
    const version = await runtime.version(id);
    const init = { method: request.method, headers: [...request.headers] };
    const body = (await request.text()) || null;
    const response = await version.fetch(`https://${host}${pathname}${search}`, { ...init, body });
    const { status, headers } = response;
    return new Response((await response.text()) || null, { status, headers: [...headers] });
  }

  // https://developers.cloudflare.com/api/resources/d1/
  routes.get('/d1/database/:id', ({ req }) => ok({ uuid: req.param('id'), name: req.param('id') }));
  routes.post('/d1/database/:id/query', async ({ req }) => {
    const database = await runtime.database(req.param('id'));
    const { sql } = await req.json<{ sql: string }>();
    const statements = splitSqlQuery(sql).map((each) => database.prepare(each));
    return database.batch(statements).then(ok, (problem) => {
      throw error(400, 7500, String(problem).replace(/^Error: D1_ERROR: /, ''));
    });
  });
  const api = await startApi(routes, ({ req }, next) => {
    const host = req.header('x-fake-host');
    return host ? visit(host, req.raw) : next();
  });
  const close = () => Promise.all([api.close(), runtime.close()]);
  return { ...api, ...account, ...runtime, answered, broken, close };
}
