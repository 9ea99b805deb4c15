/** A database that reports the result of each statement. If `use` throws, D1 has carried the statement out, and its answer is lost. */
export function observe(db: D1Database, use: (result: D1Result) => void): D1Database {
  const report = <T extends D1Result>(result: T): T => {
    use(result);
    return result;
  };
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement =>
    Object.assign(Object.create(statement), {
      statement,
      bind: (...values: unknown[]) => wrap(statement.bind(...values)),
      all: async () => report(await statement.all()),
      run: async () => report(await statement.run()),
    });
  const wrapQueries = (original: D1Database | D1DatabaseSession) => ({
    prepare: (sql: string) => wrap(original.prepare(sql)),
    batch: async (wrapped: { statement: D1PreparedStatement }[]) =>
      (await original.batch(wrapped.map(({ statement }) => statement))).map(report),
  });
  return Object.assign(Object.create(db), {
    ...wrapQueries(db),
    withSession: (start: string) => {
      const session = db.withSession(start);
      return { ...wrapQueries(session), getBookmark: () => session.getBookmark() };
    },
  });
}
