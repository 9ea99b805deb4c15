/**
 * The order in which D1 runs the calls of concurrent clients. The next call is chosen when every client that still has
 * requests to send waits for one, so the order depends on a seed and not on the speed of the machine.
 */
import { until } from './clock.ts';

export type Turns = {
  seed: number;
  /** The number of requests that each client will send, one after another. */
  requests: number[];
};

/** A call; a late one is that of an attempt whose caller has received an error. */
type Call = { client: number; isLate: boolean };

let random = () => 0;
let unanswered: number[] = [];
let waiting: Call[] = [];
let chosen: Call | undefined;

export function setTurns({ seed, requests }: Turns): void {
  random = randomNumbers(seed);
  unanswered = [...requests];
  waiting = [];
  chosen = undefined;
}

/** Makes a call when it is its turn. */
export async function takeTurn<T>(
  client: number,
  call: () => Promise<T>,
  isLate = false,
): Promise<T> {
  const own = { client, isLate };
  waiting.push(own);
  choose();
  await until(() => chosen === own);
  try {
    return await call();
  } finally {
    chosen = undefined;
    choose();
  }
}

/** Counts a request that a client has received the response to. */
export function endRequest(client: number): void {
  unanswered[client] = (unanswered[client] ?? 0) - 1;
  choose();
}

/** Whether no call waits for its turn. */
export const haveEnded = (): boolean => waiting.length === 0 && chosen === undefined;

function choose(): void {
  const atWork = unanswered.filter((count) => count > 0).length;
  if (chosen || waiting.filter(({ isLate }) => !isLate).length < atWork) return;
  // They arrive in any order.
  waiting.sort((a, b) => a.client - b.client || Number(a.isLate) - Number(b.isLate));
  [chosen] = waiting.splice(Math.floor(random() * waiting.length), 1);
}

/** Random numbers from 0 to 1, the same for the same seed (the minimal standard generator of Park and Miller). */
function randomNumbers(seed: number): () => number {
  let state = (seed % 2147483646) + 1;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}
