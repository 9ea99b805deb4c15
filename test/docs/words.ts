/**
 * Counts what a reader must read: words outside code blocks, tables, link targets and comments. `node test/docs/words.ts` prints each
 * count with its limit, and fails beyond a limit.
 */
import { existsSync, readFileSync } from 'node:fs';

/** A page. A copy need not have the client's. */
const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
/** What everybody reads of a page. Below the mark is what they look up. */
const readStart = (path: string) => read(path).replace(/<!-- Below: to look up -->.*/s, '');
/** A changelog up to its newest version, without what is not released. */
const readNewest = (path: string) =>
  read(path).replace(/^## Unreleased.*?(?=^## )|(?<=^## \d.*?)^## .*/gms, '');

/** What an operator reads at night: the page up to its table of symptoms, and one procedure that the table names. */
function readProcedure(index: string, link: string) {
  const [file, anchor = ''] = link.split('#');
  const heading = RegExp(`^#+ ${anchor.replaceAll('-', '.')}$(.*?)^#`, 'ims');
  const [, procedure] = heading.exec(`${read(`docs/${file || 'operations.md'}`)}\n#`) ?? [];
  if (!procedure) throw new Error(`there is no procedure ${link}`);
  return index + procedure;
}

const [index = ''] = read('docs/operations.md').split(/^## (?!Symptoms)/m);
const links = new Set(index.match(/(?<=\]\()(?:keys\.md)?#[\w-]+/g));

/** Limit, reader, and the text that this reader must read. */
const texts: [number, string, string][] = [
  [1400, 'calls the API', read('README.md') + readStart('docs/api.md')],
  [1400, 'changes it', read('README.md') + readStart('CONTRIBUTING.md')],
  [600, 'deploys it', read('docs/set-up.md')],
  [1450, 'uses the client', read('client/README.md')],
  [200, 'upgrades', readNewest('CHANGELOG.md') + readNewest('client/CHANGELOG.md')],
  ...Array.from(links, (link): [number, string, string] => {
    return [600, `operates it: ${link}`, readProcedure(index, link)];
  }),
];

const SKIPPED = /^ *```.*?^ *```$|^ *\|[^\n]*$|<!--.*?-->|^\[[^\n]+\]: [^\n]*$|\]\([^)]*\)/gms;
for (const [limit, reader, text] of texts) {
  const words = text.replaceAll(SKIPPED, ' ').match(/\S*[\p{L}\p{N}]\S*/gu) ?? [];
  console.log(`${words.length} of ${limit}: who ${reader}`);
  if (words.length > limit) process.exitCode = 1;
}
