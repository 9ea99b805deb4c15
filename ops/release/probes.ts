/**
 * Watching which version answers, from outside: until a change has spread over Cloudflare's network, and then
 * whether the answers are good.
 */
import { randomUUID } from 'node:crypto';
import { affinityHeader, type Client, pause } from './client.ts';
import { Health } from './smoke.ts';

const PAUSE_MS = 500;
/** Requests at a time. */
const CONCURRENCY = 4;
/** Of its answers, how many may be bad: anything in the world fails now and then. */
const MAX_BAD = 0.01;
/** While a change spreads, one answer says nothing about the next. */
const IN_A_ROW = 5;
/** Fewer answers of a version prove nothing: so many more rounds of probes are sent for them. */
const LEAST_ANSWERS = 3;
const ROUNDS = 10;
/** Stands for the version when nobody answered. */
const NOBODY = 'nobody';

export type Answers = Record<string, { answers: number; bad: number }>;

/**
 * Asks until this version answers, several times in a row.
 *
 * @throws Error when it has not within `limitMs`.
 */
export async function untilAnswers(
  client: Client,
  version: string,
  limitMs: number,
  signal: AbortSignal,
): Promise<void> {
  await until(limitMs, signal, `version ${version} has not answered`, async () => {
    for (let answers = 0; answers < IN_A_ROW; answers += 1) {
      if ((await answeringVersion(client)) !== version) return false;
    }
    return true;
  });
}

/**
 * Asks `count` clients at a time until the version answers its share of them: half of that, as it is chance;
 * but all, when it is to answer all.
 *
 * @throws Error when it has not within `limitMs`.
 */
export async function untilSpread(
  client: Client,
  { version, percentage }: { version: string; percentage: number },
  count: number,
  limitMs: number,
  signal: AbortSignal,
): Promise<void> {
  const wanted = percentage === 100 ? count : (count * percentage) / 100 / 2;
  const what = `the change to ${percentage} % has not spread`;
  await until(limitMs, signal, what, async () => {
    const versions = await times(count, () =>
      answeringVersion(client, affinityHeader(randomUUID())),
    );
    return versions.filter((answering) => answering === version).length >= wanted;
  });
}

/**
 * Sends `count` probes, each as a client of its own: which version is it, and does it list animals? Counts the
 * answers by version.
 *
 * @throws Error when more answers of this version are bad than may be, or more probes are answered by nobody.
 */
export async function probe(
  client: Client,
  apiKey: string,
  version: string,
  count: number,
  signal: AbortSignal,
): Promise<Answers> {
  const answers: Answers = {};
  const send = async () => {
    signal.throwIfAborted();
    const affinity = affinityHeader(randomUUID());
    const answering = (await answeringVersion(client, affinity)) ?? NOBODY;
    const headers = { ...affinity, Authorization: `Bearer ${apiKey}` };
    const list = await client.send('/v1/pets?limit=1', { headers }).catch(() => undefined);
    answers[answering] ??= { answers: 0, bad: 0 };
    answers[answering].answers += 1;
    if (list?.status !== 200 || !Array.isArray(list.body)) answers[answering].bad += 1;
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    await times(count, send);
    if ((answers[version]?.answers ?? 0) >= LEAST_ANSWERS) break;
  }
  signal.throwIfAborted();
  const own = answers[version] ?? { answers: 0, bad: 0 };
  const unanswered = answers[NOBODY]?.answers ?? 0;
  const isEnough = own.answers >= LEAST_ANSWERS;
  if (!isEnough || own.bad > own.answers * MAX_BAD || unanswered > count * MAX_BAD) {
    throw new Error(`${isEnough ? 'bad' : 'too few'} answers: ${answersInWords(answers)}`);
  }
  return answers;
}

/** Such as `90 from 1b4e28ba, 10 from 6fa459ea of which 3 bad`. */
export function answersInWords(answers: Answers): string {
  return Object.entries(answers)
    .map(([version, { answers, bad }]) => {
      return `${answers} from ${version.slice(0, 8)}${bad > 0 ? ` of which ${bad} bad` : ''}`;
    })
    .join(', ');
}

/** The version that answers, or `undefined` when there is no healthy answer. */
async function answeringVersion(
  client: Client,
  headers: Record<string, string> = {},
): Promise<string | undefined> {
  const answer = await client.send('/health', { headers }).catch(() => undefined);
  return answer?.status === 200 ? Health.safeParse(answer.body).data?.version : undefined;
}

async function until(
  limitMs: number,
  signal: AbortSignal,
  failure: string,
  check: () => Promise<boolean>,
): Promise<void> {
  const end = Date.now() + limitMs;
  while (!(await check())) {
    if (Date.now() > end) throw new Error(`${failure} within ${limitMs / 1000} s`);
    await pause(PAUSE_MS, signal);
  }
}

async function times<T>(count: number, action: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      results.push(await action());
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return results;
}
