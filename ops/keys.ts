/**
 * `npm run keys`: issues, lists, shows, rotates and revokes API keys, in the local store, even while it is served, or in
 * Cloudflare's KV.
 */
import { environmentOfKey } from '../src/auth/key-format.ts';
import { recordName, scopesOf, stateOf } from '../src/auth/key-record.ts';
import type { Environment } from './command/command-line.ts';
import {
  confirm,
  createProgram,
  environmentOption,
  readLine,
  run,
  yesOption,
} from './command/command-line.ts';
import { issueKey } from './keys/issue.ts';
import { expiresOption, labelOption, overlapOption } from './keys/options.ts';
import { idAndLabel, listKeys, namesById, readRecord } from './keys/records.ts';
import { revokeAll } from './keys/revoke.ts';
import { rotate } from './keys/rotate.ts';

type Options = { env: Environment; yes?: boolean };
type NewKey = Options & { label: string; expires?: string; readOnly?: boolean };

export const program = createProgram('npm run keys --', 'Issues, rotates and revokes API keys.');
program
  .command('create')
  .description('Issues a key and prints it once.')
  .addOption(environmentOption)
  .addOption(labelOption)
  .addOption(expiresOption)
  .option('--read-only', 'give the key only the scope read (default read and write)')
  .addOption(yesOption)
  .action(create);
program
  .command('list')
  .description('Lists all keys: id, label, scopes, creation, expiry and state, never the key.')
  .addOption(environmentOption)
  .action(list);
program
  .command('show')
  .description('Reads a key from standard input, and prints its id.')
  .addOption(environmentOption)
  .action(show);
program
  .command('revoke [id]')
  .description('Revokes a key permanently: by its id, or reads the key from standard input.')
  .addOption(environmentOption)
  .addOption(yesOption)
  .action(revoke);
program
  .command('rotate <id>')
  .description('Issues a key with the same label and scopes. The old one expires.')
  .addOption(environmentOption)
  .addOption(overlapOption)
  .addOption(yesOption)
  .action(rotate);
if (import.meta.main) await run(program);

async function create({ env, yes, label, expires, readOnly }: NewKey) {
  await confirm('create a key', env, yes);
  // Without scopes, a key may read and write.
  const scopes = readOnly ? ['read'] : undefined;
  await issueKey(env, { label, expiresAt: expires, scopes });
}

async function list({ env }: Options) {
  const keys = await listKeys(env);
  const rows = keys.map(({ record }) => ({
    ...record,
    state: stateOf(record),
    scopes: scopesOf(record).join(' and '),
  }));
  // `console.table` escapes control characters.
  console.table(rows, ['id', 'label', 'createdAt', 'expiresAt', 'state', 'scopes']);
}

async function show({ env }: Options) {
  const record = await readRecord(env, await nameOfInput(env));
  console.log(`${idAndLabel(record)} is ${stateOf(record)}.`);
}

async function revoke(id: string | undefined, { env, yes }: Options) {
  const names = id ? await namesById(env, id) : [await nameOfInput(env)];
  await revokeAll(env, names, id, yes);
}

/** The name of the record of the key that is read from standard input, also of one that a list does not show yet. */
async function nameOfInput(env: Environment): Promise<string> {
  const key = (await readLine('Paste the key, and press Enter:')).trim();
  if (environmentOfKey(key) !== env)
    throw new Error(`it is not an API key of --env ${env}: paste the key alone`);
  return recordName(key);
}
