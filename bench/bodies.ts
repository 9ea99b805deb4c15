/**
 * `npm run bench:bodies`: what the largest bodies that the service takes cost to read and to refuse, in
 * milliseconds of CPU, in one process. Whatever their shape, it should be a few.
 */

import { parseJson } from '../src/json.ts';
import { NewPet } from '../src/pets/schema.ts';

const SIZE = 16 * 1024;
const RUNS = 50;

const fill = (start: string, item: (i: number) => string, end: string) => {
  let text = start;
  for (let i = 0; text.length + item(i).length + end.length <= SIZE; i += 1) text += item(i);
  return text.replace(/,$/, '') + end;
};
const pet = '{"name":"Rex","categoryId":';

const BODIES: Record<string, string> = {
  'an ordinary animal': `${pet}3,"status":"sold"}`,
  'a name as long as fits': fill('{"categoryId":1,"name":"', () => 'x', '"}'),
  'an integer of 16,000 digits': fill(pet, () => '9', '}'),
  'zeros, then a one': fill(`${pet}0.`, () => '0', '1}'),
  'an exponent of 16,000 digits': fill(`${pet}1e`, () => '9', '}'),
  'thousands of numbers in an array': fill(`${pet}[`, () => '1,', ']}'),
  'thousands of unknown fields': fill('{', (i) => `"${i}":${i},`, '}'),
  'thousands of huge exponents': fill('{', (i) => `"${i}":1e1000000000,`, '}'),
  'one field, again and again': fill('{', () => '"name":1,', '}'),
  'arrays nested 8,000 deep': '['.repeat(SIZE / 2) + ']'.repeat(SIZE / 2),
  'objects nested 2,700 deep': '{"a":'.repeat(2700) + 1 + '}'.repeat(2700),
  'nothing but white space': ' '.repeat(SIZE),
  'quotes and backslashes': fill('{"name":"', () => '\\"', '","categoryId":1}'),
};

const read = (body: string) => {
  try {
    NewPet.safeParse(parseJson(body));
  } catch {
    // Refused: that is what is measured.
  }
};

for (const body of Object.values(BODIES)) for (let i = 0; i < RUNS; i += 1) read(body);
for (const [name, body] of Object.entries(BODIES)) {
  const times = Array.from({ length: RUNS }, () => {
    const { user, system } = process.cpuUsage();
    const start = performance.now();
    read(body);
    void (user + system);
    return performance.now() - start;
  }).sort((a, b) => a - b);
  const median = times[Math.floor(RUNS / 2)] ?? 0;
  console.log(`${median.toFixed(3).padStart(8)} ms  ${name}`);
}
