/** `npx node bench/against.ts COMMIT`: the CPU time of a request beside an earlier commit's, both with stub bindings. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { OPERATIONS } from './calls.ts';
import { compare } from './load.ts';
import { thresholdTable } from './page.ts';

const { listPets, getPet, createPet } = OPERATIONS;
const [commit = 'main'] = process.argv.slice(2);
const folder = `node_modules/.cache/bench/${commit}`;
if (!existsSync(folder)) execFileSync('git', ['worktree', 'add', '--detach', folder, commit]);

const section = await compare(
  {
    store: 'bench/workers/stubbed.ts',
    baseline: `${folder}/bench/workers/stubbed.ts`,
    pets: 0,
    requestsPerConnection: 20,
  },
  [
    { name: 'list of 20', call: listPets, max: 1.05 },
    { name: 'get', call: getPet, max: 1.05 },
    { name: 'create', call: createPet, max: 1.05 },
  ],
);
console.log(thresholdTable({ [commit]: section }));
for (const { name, estimate } of section.figures ?? []) {
  console.log(`${name}: the median of the rounds' ratios is ${estimate.median?.toFixed(3)}`);
}
