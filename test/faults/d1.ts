/** A D1 binding whose calls fail on demand. */
import { callBinding, setClock } from './clock.ts';

/** The fault of one call of D1: a query, or a batch. */
export type D1Fault =
  | 'works'
  | 'throws' // the connection is lost before the call takes effect
  | 'loses the response' // the call takes effect, then the connection is lost
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

const LOST = 'D1_ERROR: Network connection lost.';
const SLOW_MS = 3_000;
const SLOWER_MS = 4_000;

const never = () => new Promise<never>(() => {});

/** Runs a call with a fault. `waitUntil` keeps a write alive whose response is lost. */
async function call<T>(
  fault: D1Fault,
  query: () => Promise<T>,
  waitUntil: (promise: Promise<unknown>) => void,
): Promise<T> {
  const run = () => callBinding(query);
  if (typeof fault === 'object') {
    if ('text' in fault) throw new Error(fault.text);
    setClock(fault.ahead, false);
    return run();
  }
  switch (fault) {
    case 'works':
      return run();
    case 'throws':
      throw new Error(LOST);
    case 'loses the response':
      await run();
      throw new Error(LOST);
    case 'hangs':
      return never();
    case 'runs, then hangs':
      waitUntil(run());
      return never();
    case 'is slow': {
      await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
      return run();
    }
    case 'is slower': {
      await new Promise((resolve) => setTimeout(resolve, SLOWER_MS));
      return run();
    }
    case 'throws late': {
      await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
      throw new Error(LOST);
    }
    case 'is overloaded':
      throw new Error('D1_ERROR: D1 DB is overloaded. Requests queued for too long.');
    case 'is full':
      throw new Error('D1_ERROR: database or disk is full: SQLITE_FULL');
    case 'has another schema':
      throw new Error('D1_ERROR: no such table: pets: SQLITE_ERROR');
  }
}

/** The database, or a session of it; each call has the next fault. */
export function faultyDatabase<T extends D1Database | D1DatabaseSession>(
  database: T,
  next: () => D1Fault,
  waitUntil: (promise: Promise<unknown>) => void,
): T {
  const originals = new WeakMap<object, D1PreparedStatement>();

  function faultyStatement(statement: D1PreparedStatement): D1PreparedStatement {
    const proxy = new Proxy(statement, {
      get(target, name) {
        if (name === 'bind')
          return (...values: unknown[]) => faultyStatement(target.bind(...values));
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => call(next(), () => member.apply(target, args), waitUntil);
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
          return call(next(), () => target.batch(plain), waitUntil);
        };
      }
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== 'withSession') return member.bind(target);
      return (bookmark: string) =>
        faultyDatabase(member.call(target, bookmark) as D1DatabaseSession, next, waitUntil);
    },
  });
}
