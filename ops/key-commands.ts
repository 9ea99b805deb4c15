/** The commands of `npm run keys`. */
import Table from 'cli-table3';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type KeyRecord, scopesOf, stateOf } from '../src/auth/keys/record.ts';
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
  wranglerNamespaces,
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

const JSON_HELP = 'print only JSON on standard output';
const YES_HELP = 'do not ask before changing production';
const EXPIRES_HELP = 'a duration (90d, 12h) or a date (2027-01-31: the end of that day, UTC)';

/** The command, with the KV namespaces that it uses. */
export function keysProgram(namespaces: Namespaces = wranglerNamespaces): Command {
  const program = createProgram(
    'npm run keys --',
    'Issues, lists, rotates and revokes API keys of the local store, or of another environment with --env.',
  );

  program
    .command('create')
    .description('Issues a key and prints it once.')
    .requiredOption(
      '--label <text>',
      'the owner or purpose of the key, up to 100 characters',
      labelArgument,
    )
    .option('--expires <when>', EXPIRES_HELP, expiryArgument)
    .option('--read-only', 'give the key only the scope read (default read and write)')
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
    .description(
      'Lists id, label, scopes, creation, expiry and state of all keys, but not the keys themselves.',
    )
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
    .description('Revokes a key permanently. Revoking it again changes nothing.')
    .argument('<id>', 'the id that `list` shows')
    .option('--yes', YES_HELP)
    .addOption(environmentOption())
    .action(async (id: string, { env, yes }: Options) => {
      const stored = await keyById(env, id, namespaces);
      if (stored.record.revokedAt) {
        console.log(`Key ${id} was already revoked at ${stored.record.revokedAt}.`);
        return;
      }
      await confirm(`revoke the key ${id} (${stored.record.label})`, env, yes);
      const record = { ...stored.record, revokedAt: new Date().toISOString() };
      await putKey(env, { ...stored, record }, namespaces);
      console.log(`Key ${id} is revoked. It stops working everywhere within about two minutes.`);
    });

  program
    .command('rotate')
    .description('Issues a key with the same label and scopes, and lets the old one expire.')
    .argument('<id>', 'the id that `list` shows')
    .addOption(
      new Option('--overlap <duration>', 'how long the old key stays valid (15m, 24h)')
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
      // After a rotation `expiresAt` is the end of the overlap, so the key's original lifetime is unknown.
      const { rotatedTo } = old.record;
      if (rotatedTo) throw new Error(`key ${id} was already rotated: rotate ${rotatedTo} instead`);
      await confirm(`rotate the key ${id} (${old.record.label})`, env, yes);

      const lifetime = lifetimeOf(old.record);
      const expires = lifetime === undefined ? undefined : new Date(Date.now() + lifetime);
      // The same family, so that an Idempotency-Key sent with the old key stays valid with the new one.
      const family = old.record.family ?? id;
      const { key, record } = await issueKey(
        env,
        old.record.label,
        { expires, family, scopes: old.record.scopes ?? undefined },
        namespaces,
      );
      // Printed before anything else can fail, because the key cannot be shown again.
      printNewKey(key, record, env, json);

      const end = Date.now() + overlap;
      const expiresAt = new Date(
        old.record.expiresAt ? Math.min(end, Date.parse(old.record.expiresAt)) : end,
      ).toISOString();
      const ended = { ...old.record, expiresAt, rotatedTo: record.id };
      await putKey(env, { ...old, record: ended }, namespaces).catch((error) => {
        throw new Error(
          `the new key is issued, but the old key ${id} is unchanged: ${error.message}`,
        );
      });
      console.error(`The old key ${id} expires at ${expiresAt}.`);
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

Save it now. It is not stored and cannot be shown again.`);
}

async function keyById(env: Environment, id: string, namespaces: Namespaces): Promise<StoredKey> {
  const found = (await listKeys(env, namespaces)).filter(({ record }) => record.id === id);
  const [key] = found;
  if (!key) throw new Error(`there is no key with the id "${id}" in ${env}`);
  if (found.length > 1) throw new Error(`${found.length} keys in ${env} have the id "${id}"`);
  return { ...key, record: (await readRecord(env, key.name, namespaces)) ?? key.record };
}

/** The lifetime of a key, in milliseconds. */
function lifetimeOf({ createdAt, expiresAt }: KeyRecord): number | undefined {
  return expiresAt ? Date.parse(expiresAt) - Date.parse(createdAt) : undefined;
}

function labelArgument(text: string): string {
  const length = [...text].length;
  if (text.trim() !== '' && length <= 100 && !/[\p{Cc}\p{Cs}\p{Bidi_Control}]/u.test(text))
    return text;
  throw new InvalidArgumentError('It must be 1 to 100 characters without control characters.');
}

function expiryArgument(text: string): Date {
  const expires = parseExpiry(text);
  if (!expires)
    throw new InvalidArgumentError(
      'It must be a duration such as 90d, or a date such as 2027-01-31.',
    );
  if (expires.getTime() <= Date.now()) throw new InvalidArgumentError('It must be in the future.');
  return expires;
}

function durationArgument(text: string): number {
  const duration = parseDuration(text);
  if (duration === undefined)
    throw new InvalidArgumentError('It must be a duration such as 15m, 24h or 7d.');
  return duration;
}
