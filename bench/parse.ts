/** How much longer the client takes to parse the body of a response than `JSON.parse`, which rounds integers. */
import { parseBody } from '../client/src/response.ts';
import { median, show, table } from './statistics.ts';

const ROUNDS = 61;

/** In characters: the longest body that the client parses. */
const LENGTH = 524_288;

/** A list of as many of these items as the body can have. */
function listOf(item: string): string {
  const count = Math.floor((LENGTH - item.length - 2) / (item.length + 1));
  return `[${`${item},`.repeat(count)}${item}]`;
}

/** A list of a long text and a long integer. */
function textOf(part: string): string {
  const count = Math.floor((LENGTH - 21) / part.length);
  return `["${part.repeat(count)}",9007199254740993]`;
}

/** A list in a list, and so on, with an integer in the last. */
function nested(begin: string, end: string): string {
  const depth = Math.floor((LENGTH - 16) / (begin.length + end.length));
  return `${begin.repeat(depth)}9007199254740993${end.repeat(depth)}`;
}

const PET = '{"id":9007199254740993,"name":"Rex","categoryId":9007199254740993,"status":"sold"}';

const BODIES: Record<string, string> = {
  'animals with small ids': listOf('{"id":7,"name":"Rex","categoryId":4,"status":"sold"}'),
  'animals with large ids': listOf(PET),
  'a page of 100 animals': `[${`${PET},`.repeat(99)}${PET}]`,
  'small numbers': listOf('1'),
  'numbers of 16 digits': listOf('9007199254740993'),
  'numbers of 19 digits': listOf('9223372036854775807'),
  'fractions of 17 digits': listOf('0.12345678901234567'),
  'texts of 17 digits': listOf('"90071992547409930"'),
  'a long text with escapes': textOf('\\\\'),
  'lists in lists': nested('[', ']'),
};

/** Parses each body in turn with the client and with `JSON.parse`. Returns a table. */
export async function measureParsing(): Promise<string> {
  const rows = Object.entries(BODIES).map(([name, body]) => {
    const ours: number[] = [];
    const plain: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      plain.push(timeOf(() => JSON.parse(body)));
      ours.push(timeOf(() => parseBody(body)));
    }
    const ratios = ours.map((time, round) => time / Number(plain[round]));
    return [name, ...[ratios, ours, plain].map((values) => show(median(values)))];
  });
  return table(['body', 'ratio', 'client, CPU µs', '`JSON.parse`, CPU µs'], rows);
}

/** The CPU time of this process, in microseconds: other work on the machine does not count. */
function timeOf(work: () => unknown): number {
  const begin = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(begin);
  return user + system;
}
