/** A D1 binding each of whose calls, a query or a batch, is made by another function. */
type Via = (call: () => Promise<unknown>) => Promise<unknown>;

/** The binding, with the methods that `replace` returns a function for; others are as they were. */
export function intercept<T extends object>(
  binding: T,
  replace: (name: string | symbol, method: CallableFunction) => unknown,
): T {
  return new Proxy(binding, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      const method = member.bind(target);
      return replace(name, method) ?? method;
    },
  });
}

/** The database, or a session of it. Each call goes through `via`. */
export function interceptD1<T extends D1Database | D1DatabaseSession>(
  database: T,
  via: Via,
  noteSession: (start: string) => void,
): T {
  const originals = new WeakMap<object, D1PreparedStatement>();

  function interceptStatement(statement: D1PreparedStatement): D1PreparedStatement {
    const proxy = intercept(statement, (name, method) =>
      name === 'bind'
        ? (...values: unknown[]) => interceptStatement(statement.bind(...values))
        : (...values: unknown[]) => via(() => method(...values)),
    );
    originals.set(proxy, statement);
    return proxy;
  }

  return intercept(database, (name, method) => {
    if (name === 'prepare') return (sql: string) => interceptStatement(database.prepare(sql));
    if (name === 'withSession') {
      return (start: string) => {
        noteSession(start);
        return interceptD1(method(start), via, noteSession);
      };
    }
    if (name !== 'batch') return undefined;
    return (statements: D1PreparedStatement[]) =>
      via(() => method(statements.map((one) => originals.get(one) ?? one)));
  });
}
