/** Serves an app with stub bindings. Each statement returns a row, or 21 if it has a LIMIT. */
export function serveStubbed(
  fetch: (request: Request, env: object, context: ExecutionContext) => Response | Promise<Response>,
  row: object,
  keyRecord: unknown,
): ExportedHandler {
  const statementOf = (rows: object[]) => {
    // Drizzle reads rows without names.
    const values = rows.map((each) => Object.values(each));
    const statement = {
      bind: () => statement,
      all: async () => ({ results: rows, meta: {} }),
      raw: async () => values,
    };
    return statement;
  };
  const page = statementOf(Array(21).fill(row));
  const single = statementOf([row]);
  const limiter = { limit: async () => ({ success: true }) };
  const DB = {
    withSession: (): object => DB,
    prepare: (sql: string) => (/\blimit\b/i.test(sql) ? page : single),
    getBookmark: () => '00000001-00000002-00000003-ffffffffffffffffffffffffffffffff',
  };
  const bindings = {
    ENVIRONMENT: 'local',
    API_KEYS: { get: async () => keyRecord },
    RATE_LIMITER: limiter,
    WRITE_RATE_LIMITER: limiter,
    DB,
  };
  // The log line is built, and not printed.
  console.log = () => {};
  return { fetch: (request, _env, context) => fetch(request, bindings, context) };
}

/** A row as it is stored. The store reads its integers as text. */
export const STORED_ROW = { id: 12, name: 'Rex 12', categoryId: 12, status: 'available' };
