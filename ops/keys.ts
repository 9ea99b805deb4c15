/**
 * `npm run keys`: issues, lists, rotates and revokes API keys, in the local store, even while it is served, or in Cloudflare's
 * KV.
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
import { issueKey, timeAfter } from './keys/issue.ts';
import { expiresOption, labelOption, overlapOption } from './keys/options.ts';
import { readKeys, readRecord, type StoredKey, visible } from './keys/records.ts';
import { revokeKeys } from './keys/revoke.ts';
import { rotateKey } from './keys/rotate.ts';

type Options = { env: Environment; yes?: boolean };
type NewKey = Options & { label: string; expires?: number; readOnly?: boolean };

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
  const expiresAt = expires && timeAfter(expires);
  // Without scopes, a key may read and write.
  await issueKey(env, {
    label,
    expiresAt: expiresAt || undefined,
    scopes: readOnly ? ['read'] : undefined,
  });
}

async function list({ env }: Options) {
  const rows = (await readKeys(env)).map(({ record }) => ({
    ...record,
    label: visible(record.label),
    state: stateOf(record),
    scopes: scopesOf(record).join(' and '),
  }));
  console.table(rows, ['id', 'label', 'createdAt', 'expiresAt', 'state', 'scopes']);
}

async function revoke(id: string | undefined, { env, yes }: Options) {
  const keys = id ? await findKeys(env, id) : [await readKeyOfInput(env)];
  await revokeKeys(env, keys, yes);
}

async function rotate(id: string, { env, overlap, yes }: Options & { overlap: number }) {
  const [key, ...others] = await findKeys(env, id);
  if (!key || others.length > 0) {
    const names = [key, ...others].map((each) => each?.name).join(', ');
    throw new Error(`several records have the id ${id}: ${names}. Revoke it, and create a key`);
  }
  await rotateKey(env, key, overlap, yes);
}

/** The keys with an id. There are several if somebody has planted a record. */
async function findKeys(env: Environment, id: string): Promise<StoredKey[]> {
  const keys = (await readKeys(env)).filter(({ record }) => record.id === id);
  if (keys.length > 0) return keys;
  const reason = 'a new key is listed within about a minute; revoke also takes the key itself';
  throw new Error(`there is no key with the id "${id}": ${reason}`);
}

/** The key that is read from standard input, also one that KV does not list yet. */
async function readKeyOfInput(env: Environment): Promise<StoredKey> {
  const key = (await readLine('Paste the key, and press Enter:')).trim();
  if (environmentOfKey(key) !== env)
    throw new Error(`it is not an API key of --env ${env}: paste the key alone`);
  const name = await recordName(key);
  return { name, record: await readRecord(env, name) };
}
