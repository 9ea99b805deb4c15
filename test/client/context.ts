/** The context in which a test case of the client runs, in any runtime, and its assertions. */
import type * as Client from '../../client/src/index.ts';
import type { KeyRecord } from '../../src/auth/keys/record.ts';
import type { Faults } from '../faults/worker.ts';

/** Controls the store under test, also from another process. */
export type Control = {
  /** Empties the database. */
  reset(): Promise<void>;
  /** Runs statements, separated by `;`. */
  sql(statements: string): Promise<void>;
  /** Sets the faults from now on. */
  fault(faults: Faults): Promise<void>;
  issueKey(record?: Partial<KeyRecord>): Promise<string>;
};

export type Fetch = typeof fetch;

export type Context = Control & {
  client: typeof Client;
  baseUrl: string;
  /** A client with a key of its own. */
  connect(options?: Partial<Client.StoreOptions>): Client.AnimalStore;
};

export type Behaviour = (context: Context) => Promise<void>;

/** Runs one test case on an empty store. */
export async function runBehaviour(
  behaviour: Behaviour,
  client: typeof Client,
  baseUrl: string,
  control: Control,
): Promise<void> {
  await control.reset();
  await control.fault({});
  const apiKey = await control.issueKey();
  const connect = (options = {}) => client.createAnimalStore({ baseUrl, apiKey, ...options });
  await behaviour({ ...control, client, baseUrl, connect });
}

/** Compares as JSON does, and bigints exactly. */
export function expectEqual(actual: unknown, expected: unknown): void {
  const [shown, wanted] = [actual, expected].map((value) =>
    JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? { bigint: `${part}` } : part)),
  );
  if (shown !== wanted) throw new Error(`expected ${wanted}, but got ${shown}`);
}

/** The StoreError that a call is rejected with. */
export async function failureOf(
  { client }: Context,
  call: PromiseLike<unknown>,
): Promise<Client.StoreError> {
  const outcome = await call.then(
    () => 'nothing',
    (error: unknown) => error,
  );
  if (outcome instanceof client.StoreError) return outcome;
  throw new Error(`expected a StoreError, but got ${outcome}`);
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** A fetch that records its requests. */
export function recording(then: Fetch = fetch): { requests: Request[]; fetch: Fetch } {
  const requests: Request[] = [];
  return {
    requests,
    fetch(input, init) {
      requests.push(new Request(input, { ...init, signal: null }));
      return then(input, init);
    },
  };
}

/** A fetch that sends all requests, and loses the responses to the first `count`. */
export function losingAnswers(count: number): Fetch {
  let left = count;
  return async (input, init) => {
    const response = await fetch(input, init);
    left -= 1;
    if (left >= 0) throw new TypeError('connection reset');
    return response;
  };
}

/** A fetch that first returns these responses, without sending anything. */
export function answering(...answers: (() => Response)[]): Fetch {
  return async (input, init) => answers.shift()?.() ?? fetch(input, init);
}

/** An error response of the service. */
export function errorAnswer(
  code: string,
  status: number,
  headers: Record<string, string> = {},
): () => Response {
  return () => Response.json({ code, message: 'a message', status }, { status, headers });
}

/** A fetch that never resolves, until it is aborted. */
export const silent: Fetch = (_, init) =>
  new Promise((_resolve, reject) => {
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
  });

/** A fetch that removes Retry-After: five seconds after a 503 are too long for a test. */
export const impatient: Fetch = async (input, init) => {
  const response = await fetch(input, init);
  const headers = new Headers(response.headers);
  headers.delete('Retry-After');
  return response.status === 204
    ? response
    : new Response(response.body, { status: response.status, headers });
};
