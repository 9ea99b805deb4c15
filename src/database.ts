/** Running a query for a request: measured for the log, and with D1's failures turned into ours. */
import type { Context } from 'hono';
import type { AppEnv } from './env.ts';
import { serviceUnavailable } from './errors.ts';

/**
 * Runs one query. Its result is D1's, whose `meta` says what it cost.
 *
 * @throws ApiError 503 when a local store was never set up; otherwise what D1 threw.
 */
export async function runQuery<Row>(
  c: Context<AppEnv>,
  query: (db: D1Database) => Promise<D1Result<Row>>,
): Promise<Row[]> {
  const log = c.get('log');
  const start = performance.now();
  try {
    const { results, meta } = await query(c.env.DB);
    if (meta.served_by_region) log.d1Region = meta.served_by_region;
    return results;
  } catch (error) {
    throw isMissingTable(error) ? notMigrated(c.env.ENVIRONMENT, error) : error;
  } finally {
    log.d1Ms = (log.d1Ms ?? 0) + performance.now() - start;
  }
}

function isMissingTable(error: unknown): error is Error {
  return error instanceof Error && error.message.includes('no such table');
}

/** On a developer's machine that is how a store begins; elsewhere it is our mistake. */
function notMigrated(environment: string, error: Error): Error {
  if (environment === 'local') {
    const cause = new Error(`${error.message}. Run \`npm start\` once: it sets the store up.`);
    return serviceUnavailable('The local store is not set up yet.', cause);
  }
  const command = `npx wrangler d1 migrations apply DB --remote --env ${environment}`;
  return new Error(`${error.message}. Migrations are not applied: ${command}`, { cause: error });
}
