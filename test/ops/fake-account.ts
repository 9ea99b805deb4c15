/**
 * A fake of what setting up an environment needs of an account of Cloudflare's, beside the workers of fake-cloudflare.ts:
 * the login, the account's name at workers.dev, databases (real SQLite) and KV namespaces.
 */
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { Hono } from 'hono';
import { error, ok, startCloudflare } from './fake-cloudflare.ts';

export const ACCOUNT = 'a'.repeat(32);

export type Account = Awaited<ReturnType<typeof startAccount>>;
type Database = { uuid: string; name: string; sql: string[]; sqlite: DatabaseSync };
type Namespace = { id: string; title: string; values: Map<string, string> };

/** Starts the fake. */
export async function startAccount() {
  const account = {
    accounts: [{ id: ACCOUNT, name: "Anna's account" }],
    /** The name at workers.dev. */
    subdomain: 'anna' as string | undefined,
    databases: [] as Database[],
    namespaces: [] as Namespace[],
    /** The workers that workers.dev serves. */
    atWorkersDev: new Set<string>(),
    isFree: false,
    /** Makes a migration fail inside of an answer that succeeds, as D1 can. */
    failsMigrations: false,
    /** A call that fails, without an effect, such as `POST /d1/database`. */
    failing: undefined as string | undefined,
  };

  const all = new Hono();
  all.get('/user/tokens/verify', () => ok({ status: 'active' }));
  // As for a token that may read neither the user nor the memberships.
  all.get('/user', () => error(403, 9109, 'Unauthorized').getResponse());
  all.get('/memberships', () => error(403, 10000, 'Unauthorized').getResponse());
  all.get('/accounts', () => ok(account.accounts));

  const routes = new Hono().basePath('/accounts/:account');
  routes.use(async ({ req }, next) => {
    const isKnown = account.accounts.some(({ id }) => id === req.param('account'));
    if (!isKnown) throw error(403, 10000, 'Authentication error');
    const call = `${req.method} ${req.path.replace(/\/accounts\/\w+/, '')}`;
    if (account.failing && call.endsWith(account.failing)) throw error(400, 1, 'It failed.');
    await next();
  });
  routes.get('/workers/subdomain', () => {
    const { subdomain } = account;
    if (!subdomain) throw error(404, 10007, 'You do not have a workers.dev subdomain.');
    return ok({ subdomain });
  });
  routes.post('/workers/scripts/:name/subdomain', async ({ req }) => {
    const { enabled } = await req.json<{ enabled: boolean }>();
    if (enabled) account.atWorkersDev.add(req.param('name'));
    return ok({ enabled });
  });
  routes.put('/workers/scripts/:name', async ({ req }, next) => {
    const fields = await req.formData();
    const metadata = await new Response(fields.get('metadata')).text();
    if (account.isFree && metadata.includes('"limits"'))
      throw error(400, 100328, 'CPU limits are not supported for the Free plan.');
    await next();
  });

  routes.get('/d1/database', () => ok(account.databases.map(({ uuid, name }) => ({ uuid, name }))));
  routes.post('/d1/database', async ({ req }) => {
    const { name } = await req.json<{ name: string }>();
    if (account.databases.some((each) => each.name === name))
      throw error(400, 7502, `A database with that name already exists`);
    const database = { uuid: randomUUID(), name, sql: [], sqlite: new DatabaseSync(':memory:') };
    account.databases.push(database);
    return ok({ uuid: database.uuid, name });
  });
  routes.post('/d1/database/:uuid/query', async ({ req }) => {
    const { sql } = await req.json<{ sql: string }>();
    const database = account.databases.find(({ uuid }) => uuid === req.param('uuid'));
    if (!database) throw error(404, 7404, 'The database does not exist.');
    const meta = { duration: 0 };
    const isMigration = sql.includes('INSERT INTO');
    if (account.failsMigrations && isMigration)
      return ok([{ results: [], success: false, error: 'it failed', meta }]);
    if (/^\s*SELECT/i.test(sql))
      return ok([{ results: database.sqlite.prepare(sql).all(), success: true, meta }]);
    database.sqlite.exec(`BEGIN; ${sql}; COMMIT`);
    database.sql.push(sql);
    return ok([{ results: [], success: true, meta }]);
  });

  const namespaces = '/storage/kv/namespaces';
  routes.get(namespaces, ({ req }) => {
    // Wrangler reads pages until one is empty.
    const page = Number(req.query('page') ?? 1) === 1 ? account.namespaces : [];
    return ok(page.map(({ id, title }) => ({ id, title })));
  });
  routes.post(namespaces, async ({ req }) => {
    const { title } = await req.json<{ title: string }>();
    if (account.namespaces.some((each) => each.title === title))
      throw error(400, 10014, 'A namespace with this account ID and title already exists.');
    const namespace = { id: randomUUID().replaceAll('-', ''), title, values: new Map() };
    account.namespaces.push(namespace);
    return ok({ id: namespace.id, title });
  });
  routes.put(`${namespaces}/:id/values/:key`, async ({ req }) => {
    const fields = await req.formData();
    const namespace = account.namespaces.find(({ id }) => id === req.param('id'));
    namespace?.values.set(req.param('key'), await new Response(fields.get('value')).text());
    return ok({});
  });

  all.route('/', routes);
  return Object.assign(account, await startCloudflare({ routesBefore: all }));
}
