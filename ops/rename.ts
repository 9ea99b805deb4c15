/**
 * `npm run rename -- <service> <prefix> [<singular> <plural>]`: gives a copy of this project a name, a prefix of API keys and
 * a main resource of its own.
 */
import packageJson from '../package.json' with { type: 'json' };
import { createProgram, run, runScript } from './command/command-line.ts';
import { LOCAL_KEY } from './local/store.ts';
import { parseName, parsePrefix, parseWord, rejectUsed } from './rename/checks.ts';
import { readTracked, rejectUncommitted, renameFiles, UNDO } from './rename/files.ts';
import { PLURALS, SINGULARS } from './rename/resource.ts';
import { addName, addPrefix, type Replacements, replace } from './rename/text.ts';

const NAME = packageJson.name;
const PREFIX = LOCAL_KEY.slice(0, LOCAL_KEY.indexOf('_'));

export const program = createProgram(
  'npm run rename --',
  'Replaces the name of the service, the prefix of its API keys, and the word of its main resource in every file that git tracks. The word can be replaced once, before the first deployment.',
)
  .argument('<service>', 'name of packages, workers and hosts, such as library-desk', parseName)
  .argument('<prefix>', 'beginning of API keys, such as desk', parsePrefix)
  .argument('[singular]', 'word of the main resource, such as inquiry', parseWord)
  .argument('[plural]', 'its plural, such as inquiries', parseWord)
  .action((service: string, prefix: string, singular?: string, plural?: string) => {
    const replacements: Replacements = new Map();
    addPrefix(replacements, PREFIX, prefix);
    addName(replacements, NAME, service);
    if (singular) addResource(replacements, singular, plural);
    const files = readTracked();
    rejectUncommitted();
    rejectUsed(files, NAME, replacements);
    console.log(`To undo this, also after an interrupt: ${UNDO}`);
    renameFiles(files, (text) => replace(text, replacements));
    for (const script of ['openapi', 'format'])
      if (!runScript(script)) throw new Error(`npm run ${script} failed. To undo this: ${UNDO}`);
    if (singular) listLookAlikes();
    console.log('Next: npm run reset, git commit, npm run check, npm test');
  });

if (import.meta.main) await run(program);

function addResource(replacements: Replacements, singular: string, plural = ''): void {
  if (['', singular].includes(plural))
    program.error('error: a plural is required that differs from the singular');
  if (new Set(SINGULARS).size === 1)
    throw new Error('the word of the main resource was replaced before, which is possible once');
  for (const word of SINGULARS) addName(replacements, word, singular);
  for (const word of PLURALS) addName(replacements, word, plural);
}

function listLookAlikes(): void {
  const pattern = new RegExp(`\\b\\w{0,15}(?:${SINGULARS.join('|')})\\w{0,15}\\b`, 'gi');
  const found = new Set([...readTracked().values()].join(' ').match(pattern));
  console.log(`Not replaced, because these are other words: ${[...found].join(', ')}`);
}
