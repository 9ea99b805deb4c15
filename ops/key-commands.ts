/** The commands of `npm run keys`. */
import Table from 'cli-table3';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type KeyRecord, scopesOf, stateOf } from '../src/keys/record.ts';
import { confirm, createProgram, environmentOption } from './command-line.ts';
import {
  type Environment,
  issueKey,
  listKeys,
  type Namespaces,
  putKey,
  READ_ONLY,
  readRecord,
  type StoredKey,
  throughWrangler,
} from './key-namespace.ts';
import { parseDuration, parseExpiry } from './times.ts';

type Options = {
  env: Environment;
  label: string;
  expires?: Date;
  readOnly?: boolean;
  overlap: number;
  json?: boolean;
  yes?: boolean;
};

const DAY = 86_400_000;

const JSON_HELP = 'print JSON, and nothing else, on standard output';
const YES_HELP = 'do not ask before changing production';
const EXPIRES_HELP = 'a duration (90d, 12h) or a date (2027-01-31: the end of that day, UTC)';

/** The program, on the KV namespaces of the environments. */
export function keysProgram(namespaces: Namespaces = throughWrangler): Command {
  const program = createProgram(
    'npm run keys --',
    'Issues, lists, rotates and revokes API keys: of the local store, or with --env of another.',
  );

  program
    .command('create')
    .description('Issues a key and prints it, once.')
    .requiredOption(
      '--label <text>',
      'whose key it is, or what for; up to 100 characters',
      labelArgument,
    )
    .option('--expires <when>', EXPIRES_HELP, expiryArgument)
    .option('--read-only', 'the key has the scope read alone; default read and write')
    .option('--json', JSON_HELP)
    .option('--yes', YES_HELP)
    .addOption(environmentOption())
    .action(async ({ env, label, expires, readOnly, json, yes }: Options) => {
      await confirm('create a key', env, yes);
      const scopes = readOnly ? READ_ONLY : undefined;
      const { key, record } = await issueKey(env, label, { expires, scopes }, namespaces);
      printNewKey(key, record, env, json);
    });

  program
    .command('list')
    .description('Lists the keys: id, label, scopes, created, expires, state. Never a key.')
    .option('--json', JSON_HELP)
    .addOption(environmentOption())
    .action(async ({ env, json }: Options) => {
      const keys = (await listKeys(env, namespaces)).map(({ record }) => ({
        id: record.id,
        label: record.label,
        scopes: scopesOf(record),
        createdAt: record.createdAt,
        expiresAt: record.expiresAt ?? null,
        state: stateOf(record),
      }));
      if (json) {
        console.log(JSON.stringify(keys, null, 2));
        return;
      }
      const table = new Table({
        head: ['id', 'label', 'scopes', 'created', 'expires', 'state'],
        style: { head: [], border: [], compact: true },
      });
      table.push(
        ...keys.map(({ id, label, scopes, createdAt, expiresAt, state }) => [
          id,
          label,
          scopes.join(', '),
          createdAt,
          expiresAt ?? 'never',
          state,
        ]),
      );
      console.log(table.toString());
    });

  program
    .command('revoke')
    .description('Makes a key invalid for good. To do it again changes nothing.')
    .argument('<id>', 'the id that `list` shows')
    .option('--yes', YES_HELP)
    .addOption(environmentOption())
    .action(async (id: string, { env, yes }: Options) => {
      const stored = await keyById(env, id, namespaces);
      if (stored.record.revokedAt) {
        console.log(`Key ${id} was revoked already, at ${stored.record.revokedAt}.`);
        return;
      }
      await confirm(`revoke the key ${id} (${stored.record.label})`, env, yes);
      const record = { ...stored.record, revokedAt: new Date().toISOString() };
      await putKey(env, { ...stored, record }, namespaces);
      console.log(`Key ${id} is revoked. Within about two minutes it works nowhere any more.`);
    });

  program
    .command('rotate')
    .description('Issues a key with the same label and scopes, and lets the old one expire.')
    .argument('<id>', 'the id that `list` shows')
    .addOption(
      new Option('--overlap <duration>', 'how long the old key still works (15m, 24h)')
        .argParser(durationArgument)
        .default(DAY, '24h'),
    )
    .option('--json', JSON_HELP)
    .option('--yes', YES_HELP)
    .addOption(environmentOption())
    .action(async (id: string, { env, overlap, json, yes }: Options) => {
      const old = await keyById(env, id, namespaces);
      const state = stateOf(old.record);
      if (state !== 'active') throw new Error(`key ${id} is ${state}: create a new one`);
      // Its end is that of the overlap, no longer the lifetime that it was issued for.
      const { rotatedTo } = old.record;
      if (rotatedTo) throw new Error(`key ${id} was rotated already: rotate ${rotatedTo} instead`);
      await confirm(`rotate the key ${id} (${old.record.label})`, env, yes);

      const lifetime = lifetimeOf(old.record);
      const expires = lifetime === undefined ? undefined : new Date(Date.now() + lifetime);
      // The same family: an Idempotency-Key that was sent with the old key is known with the new one.
      const family = old.record.family ?? id;
      const { key, record } = await issueKey(
        env,
        old.record.label,
        { expires, family, scopes: old.record.scopes ?? undefined },
        namespaces,
      );
      // Printed before anything else can fail: it cannot be shown again.
      printNewKey(key, record, env, json);

      const end = Date.now() + overlap;
      const expiresAt = new Date(
        old.record.expiresAt ? Math.min(end, Date.parse(old.record.expiresAt)) : end,
      ).toISOString();
      const ended = { ...old.record, expiresAt, rotatedTo: record.id };
      await putKey(env, { ...old, record: ended }, namespaces).catch((error) => {
        throw new Error(
          `the new key is issued, but the old one, ${id}, stays as it was: ${error.message}`,
        );
      });
      console.error(`The old key, ${id}, expires at ${expiresAt}.`);
    });
  return program;
}

function printNewKey(key: string, record: KeyRecord, env: Environment, json = false): void {
  const { id, label, createdAt, expiresAt = null } = record;
  const scopes = scopesOf(record);
  if (json) {
    console.log(JSON.stringify({ id, key, label, scopes, createdAt, expiresAt }));
    return;
  }
  console.log(`Key ${id} (${label}) for ${env}, scopes ${scopes.join(' and ')}, expires ${expiresAt ?? 'never'}:

  ${key}

Keep it now: it is stored nowhere, and cannot be shown again.`);
}

async function keyById(env: Environment, id: string, namespaces: Namespaces): Promise<StoredKey> {
  const found = (await listKeys(env, namespaces)).filter(({ record }) => record.id === id);
  const [key] = found;
  if (!key) throw new Error(`there is no key with the id "${id}" in ${env}`);
  if (found.length > 1) throw new Error(`${found.length} keys in ${env} have the id "${id}"`);
  return { ...key, record: (await readRecord(env, key.name, namespaces)) ?? key.record };
}

/** How long a key was issued for, in milliseconds. */
function lifetimeOf({ createdAt, expiresAt }: KeyRecord): number | undefined {
  return expiresAt ? Date.parse(expiresAt) - Date.parse(createdAt) : undefined;
}

function labelArgument(text: string): string {
  const length = [...text].length;
  if (text.trim() !== '' && length <= 100 && !/[\p{Cc}\p{Cs}\p{Bidi_Control}]/u.test(text))
    return text;
  throw new InvalidArgumentError('A label is 1 to 100 characters, without control characters.');
}

function expiryArgument(text: string): Date {
  const expires = parseExpiry(text);
  if (!expires)
    throw new InvalidArgumentError('It is a duration such as 90d, or a date such as 2027-01-31.');
  if (expires.getTime() <= Date.now()) throw new InvalidArgumentError('That is not in the future.');
  return expires;
}

function durationArgument(text: string): number {
  const duration = parseDuration(text);
  if (duration === undefined)
    throw new InvalidArgumentError('It is a duration such as 15m, 24h or 7d.');
  return duration;
}
