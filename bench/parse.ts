/** How much longer the client takes to parse JSON than `JSON.parse`, which rounds integers. */
import { parseJson } from '../client/src/json.ts';
import { parseBody } from '../client/src/response.ts';
import { median, show, table } from './statistics.ts';

const ROUNDS = 61;

/** In characters: the longest body that the client parses. */
const LENGTH = 524_288;

/** A list of as many of these items as the body can have. */
function listOf(item: string, last = item): string {
  const count = Math.floor((LENGTH - last.length - 2) / (item.length + 1));
  return `[${`${item},`.repeat(count)}${last}]`;
}

/** A list of a long text and a long integer. */
function textOf(part: string): string {
  const count = Math.floor((LENGTH - 21) / part.length);
  return `["${part.repeat(count)}",9007199254740993]`;
}

const PET = '{"id":7,"name":"Rex","categoryId":4,"status":"sold"}';
const LARGE_PET = PET.replaceAll(/\d/g, '9007199254740993');

const BODIES: Record<string, string> = {
  'a page of 100 animals': `[${Array(100).fill(PET)}]`,
  'a page of 100 animals with large ids': `[${Array(100).fill(LARGE_PET)}]`,
  animals: listOf(PET),
  'animals with large ids': listOf(LARGE_PET),
  'small numbers': listOf('1'),
  'small numbers and one of 16 digits': listOf('1', '9007199254740993'),
  'a long text with escapes': textOf('\\\\'),
  'a large number and white space': '9007199254740993'.padEnd(LENGTH),
};

/** Parses each body in turn with `JSON.parse` and with the client. Returns a table. */
export async function measureParsing(): Promise<string> {
  const rows = Object.entries(BODIES).map(([name, body]) => {
    const plain: number[] = [];
    const response: number[] = [];
    const all: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const time = timeOf(JSON.parse, body);
      plain.push(time);
      response.push(timeOf(parseBody, body) / time);
      all.push(timeOf(parseJson, body) / time);
    }
    return [name, ...[response, all, plain].map((values) => show(median(values)))];
  });
  return table(['body', 'response', '`parseJson`', '`JSON.parse`, CPU µs'], rows);
}

/** The CPU time of this process, in microseconds: other work on the machine does not count. */
function timeOf(parse: (text: string) => unknown, body: string): number {
  const begin = process.cpuUsage();
  parse(body);
  const { user, system } = process.cpuUsage(begin);
  return user + system;
}
