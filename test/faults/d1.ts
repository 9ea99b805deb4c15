/** A D1 binding whose calls fail on demand. */
import { callBinding, setClock } from './clock.ts';

/** The fault of one call of D1: a query, or a batch. */
export type D1Fault =
  | 'works'
  | 'throws' // the connection is lost before the call takes effect
  | 'loses the response' // the call takes effect, then the connection is lost
  | 'runs late' // the connection is lost, and the call takes effect after the test releases it
  | 'is held' // the call takes effect, and returns after the test releases it
  | 'is held, then loses the response'
  | 'hangs'
  | 'runs, then hangs' // the call takes effect, and never returns
  | 'is slow' // it returns after three seconds
  | 'is overloaded'
  | 'is full'
  | 'has another schema'
  | 'throws late' // the connection is lost after three seconds
  | 'is slower' // it returns after four seconds
  | { text: string } // it throws with this message
  | { ahead: number }; // it works, and sets the time of day this many milliseconds ahead

/** What a call needs of its request. */
export type Request = {
  nextFault(): D1Fault;
  /** Keeps a call alive whose response is lost. */
  waitUntil(promise: Promise<unknown>): void;
  /** Runs a call, when it is its turn. */
  run<T>(call: () => Promise<T>): Promise<T>;
  /** Runs a call whose caller has received an error. */
  runLate(call: () => Promise<unknown>): Promise<unknown>;
  released(): Promise<void>;
};

const LOST = 'D1_ERROR: Network connection lost.';
const SLOW_MS = 3_000;
const SLOWER_MS = 4_000;

const never = () => new Promise<never>(() => {});
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function call<T>(query: () => Promise<T>, request: Request): Promise<T> {
  const fault = request.nextFault();
  const run = () => request.run(() => callBinding(query));
  const runHeld = () =>
    callBinding(async () => {
      const result = await query();
      await request.released();
      return result;
    });
  const fail = (message: string): never => {
    throw new Error(message);
  };
  if (typeof fault === 'object') {
    if ('text' in fault) return fail(fault.text);
    setClock({ ahead: fault.ahead });
    return run();
  }
  switch (fault) {
    case 'works':
      return run();
    case 'throws':
      return request.run(async () => fail(LOST));
    case 'loses the response':
      await run();
      return fail(LOST);
    case 'runs late':
      request.waitUntil(request.runLate(query));
      return request.run(async () => fail(LOST));
    case 'is held':
      return runHeld();
    case 'is held, then loses the response':
      await runHeld();
      return fail(LOST);
    case 'hangs':
      return never();
    case 'runs, then hangs':
      request.waitUntil(run());
      return never();
    case 'is slow':
      await pause(SLOW_MS);
      return run();
    case 'is slower':
      await pause(SLOWER_MS);
      return run();
    case 'throws late':
      await pause(SLOW_MS);
      return fail(LOST);
    case 'is overloaded':
      return fail('D1_ERROR: D1 DB is overloaded. Requests queued for too long.');
    case 'is full':
      return fail('D1_ERROR: database or disk is full: SQLITE_FULL');
    case 'has another schema':
      return fail('D1_ERROR: no such table: pets: SQLITE_ERROR');
  }
}

/** The database, or a session of it; each call has the next fault. */
export function faultyDatabase<T extends D1Database | D1DatabaseSession>(
  database: T,
  request: Request,
): T {
  const originals = new WeakMap<object, D1PreparedStatement>();

  function faultyStatement(statement: D1PreparedStatement): D1PreparedStatement {
    const proxy = new Proxy(statement, {
      get(target, name) {
        if (name === 'bind')
          return (...values: unknown[]) => faultyStatement(target.bind(...values));
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => call(() => member.apply(target, args), request);
      },
    });
    originals.set(proxy, statement);
    return proxy;
  }

  return new Proxy(database, {
    get(target, name) {
      if (name === 'prepare') return (sql: string) => faultyStatement(target.prepare(sql));
      if (name === 'batch') {
        return (statements: D1PreparedStatement[]) => {
          const plain = statements.map((statement) => originals.get(statement) ?? statement);
          return call(() => target.batch(plain), request);
        };
      }
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== 'withSession') return member.bind(target);
      return (bookmark: string) =>
        faultyDatabase(member.call(target, bookmark) as D1DatabaseSession, request);
    },
  });
}
