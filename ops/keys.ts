/**
 * `npm run keys`: issues, lists, shows, rotates and revokes API keys, in the local store, even while it is served, or in
 * Cloudflare's KV. KV holds records under the hashes of keys, never a key.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod/mini';
import { generateKey } from '../src/auth/key-format.ts';
import { KEY_PREFIX, KeyRecord, recordName, scopesOf, stateOf } from '../src/auth/key-record.ts';
import type { Environment } from './command-line.ts';
import {
  confirm,
  createProgram,
  environmentOption,
  oneLine,
  readLine,
  run,
} from './command-line.ts';
import { runIn } from './wrangler.ts';

/** Keeps unknown members, which a newer version may have written. */
const WholeRecord = z.looseObject(KeyRecord.shape);
type WholeRecord = z.infer<typeof WholeRecord>;
/** The metadata is the record itself, so that listing needs no reads. */
const Listing = z.array(z.object({ name: z.string(), metadata: z.optional(z.unknown()) }));

/** The KV namespace of an environment. */
export type Namespace = {
  list(): Promise<z.infer<typeof Listing>>;
  get(name: string): Promise<string>;
  /** Writes a record, as JSON, as the value and as the metadata. */
  put(name: string, record: WholeRecord): Promise<void>;
};

type Options = { env: Environment; json?: boolean; yes?: boolean };
type Rotation = Options & { overlap: number };
type NewKey = Options & { label: string; expires?: Date; readOnly?: boolean };

const yes = ['--yes', 'do not ask before changing production'] as const;
const json = ['--json', 'print only JSON on standard output'] as const;

/** The command, on the KV namespaces that `open` returns. */
export function keysProgram(open: (env: Environment) => Namespace = wranglerNamespace): Command {
  const program = createProgram('npm run keys --', 'Issues, lists, rotates and revokes API keys.');
  const command = (name: string, description: string) =>
    program.command(name).description(description).addOption(environmentOption);

  command('create', 'Issues a key and prints it once.')
    .requiredOption('--label <text>', 'the owner or purpose, up to 100 characters', label)
    .option('--expires <when>', 'a duration (90d) or a date (2027-01-31: its end, UTC)', expiry)
    .option('--read-only', 'give the key only the scope read (default read and write)')
    .option(...json)
    .option(...yes)
    .action(async ({ env, label, expires, readOnly, json, yes }: NewKey) => {
      await confirm('create a key', env, yes);
      const scopes = readOnly ? ['read'] : undefined;
      await issueKey(open(env), env, json, { label, expiresAt: expires?.toISOString(), scopes });
    });
  command('list', 'Lists all keys: id, label, scopes, creation, expiry and state, never the key.')
    .option(...json)
    .action(async ({ env, json }: Options) => {
      const keys = (await listKeys(open(env))).map(({ record }) => describe(record));
      if (json) console.log(JSON.stringify(keys, null, 2));
      else console.table(keys.map(({ scopes, ...key }) => ({ ...key, scopes: scopes.join(' ') })));
    });
  command('show', 'Reads a key from standard input, and prints its id.').action(
    async ({ env }: Options) => {
      const key = (await readLine('Paste the key, and press Enter:')).trim();
      if (!key.startsWith(`animal_${env}_`)) throw new Error(`it is not a key of --env ${env}`);
      const record = await readRecord(open(env), await recordName(key));
      console.log(`${record.id} (${record.label}) is ${stateOf(record)}.`);
    },
  );
  command('revoke <id>', 'Revokes a key permanently. Revoking it again changes nothing.')
    .option(...yes)
    .action((id: string, options: Options) => revoke(open(options.env), id, options));
  const overlap = new Option('--overlap <duration>', 'how long the old key stays valid');
  command('rotate <id>', 'Issues a key with the same label and scopes. The old one expires.')
    .addOption(overlap.argParser(duration).default(duration('24h'), '24h'))
    .option(...json)
    .option(...yes)
    .action((id: string, options: Rotation) => rotate(open(options.env), id, options));
  return program;
}

async function revoke(namespace: Namespace, id: string, { env, yes }: Options): Promise<void> {
  const { name, record } = await keyById(namespace, id);
  if (record.revokedAt) return console.log(`Key ${id} was already revoked at ${record.revokedAt}.`);
  await confirm(`revoke the key ${id} (${record.label})`, env, yes);
  await namespace.put(name, { ...record, revokedAt: new Date().toISOString() });
  const { revokedAt } = await readRecord(namespace, name);
  if (!revokedAt) throw new Error(`key ${id} is not revoked: run the command again`);
  const restored = 'The next npm start restores it.';
  const spread = 'It stops working within about two minutes, or later if KV is slow.';
  console.log(`Key ${id} is revoked. ${id === 'local' ? restored : spread}`);
}

async function rotate(namespace: Namespace, id: string, options: Rotation): Promise<void> {
  const { env, overlap, json, yes } = options;
  const { name, record: old } = await keyById(namespace, id);
  refuseInactive(old);
  // After a rotation `expiresAt` is the end of the overlap, so the key's original lifetime is unknown.
  const { rotatedTo } = old;
  if (rotatedTo) throw new Error(`key ${id} was already rotated: rotate ${rotatedTo} instead`);
  await confirm(`rotate the key ${id} (${old.label})`, env, yes);
  // Printed before anything else can fail, because the key cannot be shown again.
  const next = await issueKey(namespace, env, json, {
    label: old.label,
    scopes: scopesOf(old),
    // The same family, so that an Idempotency-Key sent with the old key stays valid with the new one.
    family: old.family ?? id,
    expiresAt: sameLifetime(old),
  });
  const end = Math.min(Date.now() + overlap, Date.parse(old.expiresAt ?? '') || Infinity);
  const expiresAt = new Date(end).toISOString();
  try {
    // Another operator may have revoked it since it was read.
    const current = await readRecord(namespace, name);
    refuseInactive(current);
    await namespace.put(name, { ...current, expiresAt, rotatedTo: next.id });
  } catch (cause) {
    const problem = `the new key ${next.id} is issued, but key ${id} is unchanged`;
    throw new Error(`${problem}: ${oneLine(cause)}`, { cause });
  }
  console.error(`The old key ${id} expires at ${expiresAt}.`);
}

/** The expiry of a key that is issued now, and lives as long as another. */
function sameLifetime({ createdAt, expiresAt }: WholeRecord): string | undefined {
  if (!expiresAt) return undefined;
  return new Date(Date.now() + Date.parse(expiresAt) - Date.parse(createdAt)).toISOString();
}

function refuseInactive(record: WholeRecord): void {
  const state = stateOf(record);
  if (state !== 'active') throw new Error(`key ${record.id} is ${state}`);
}

function describe(record: WholeRecord) {
  const { id, label, createdAt, expiresAt = null } = record;
  return { id, label, scopes: scopesOf(record), createdAt, expiresAt, state: stateOf(record) };
}

/** Generates a key, writes its record, and prints the key. */
async function issueKey(
  namespace: Namespace,
  env: Environment,
  json = false,
  { label, ...others }: Pick<WholeRecord, 'label' | 'scopes' | 'family' | 'expiresAt'>,
): Promise<WholeRecord> {
  const key = generateKey(env);
  const id = `key_${randomBytes(6).toString('hex')}`;
  const record = { id, label, createdAt: new Date().toISOString(), ...others };
  await namespace.put(await recordName(key), record);
  const { scopes, createdAt, expiresAt } = describe(record);
  if (json) console.log(JSON.stringify({ id, key, label, scopes, createdAt, expiresAt }));
  else {
    console.log(`Key ${id} (${label}) for ${env}, ${scopes}, expires ${expiresAt ?? 'never'}:`);
    console.log(`\n  ${key}\n\nSave it now. It is not stored and cannot be shown again.`);
  }
  return record;
}

// --------------------------------------------------------------------------------- the records

/** All records, by time of creation. Those without valid metadata are only counted, so that a list is one call. */
async function listKeys(namespace: Namespace) {
  const listed = await namespace.list();
  const keys = listed.flatMap(({ name, metadata }) => {
    const { data: record } = WholeRecord.safeParse(metadata);
    return record ? [{ name, record }] : [];
  });
  const invalid = listed.length - keys.length;
  if (invalid > 0) console.error(`warning: ${invalid} records in KV have no valid metadata`);
  return keys.sort((a, b) => a.record.createdAt.localeCompare(b.record.createdAt));
}

/** The key with this id, with its current record: the metadata of a list can be outdated. */
async function keyById(namespace: Namespace, id: string) {
  // Not quoted, because the output of a command is often shared.
  if (id.startsWith('animal_')) throw new Error('it is a key. To get its id: npm run keys -- show');
  const key = (await listKeys(namespace)).find(({ record }) => record.id === id);
  if (!key) throw new Error(`there is no key with the id "${id}"`);
  return { name: key.name, record: await readRecord(namespace, key.name) };
}

/** @throws Error unless there is a valid record. */
async function readRecord(namespace: Namespace, name: string): Promise<WholeRecord> {
  const stored = await namespace.get(name);
  try {
    return WholeRecord.parse(JSON.parse(stored));
  } catch {
    throw new Error('KV has no valid record of this key');
  }
}

/** The namespace, read and written with wrangler. Each call runs wrangler once. */
export function wranglerNamespace(environment: Environment): Namespace {
  const where = environment === 'local' ? '--local' : '--remote';
  const kv = (command: string, ...args: string[]) =>
    runIn(environment, ['kv', 'key', command, ...args, '--binding', 'API_KEYS', where]);
  return {
    list: async () => Listing.parse(JSON.parse(await kv('list', '--prefix', KEY_PREFIX))),
    get: (name) => kv('get', name),
    async put(name, record) {
      const json = JSON.stringify(WholeRecord.parse(record));
      // In a file, because wrangler prints a value that is an argument.
      const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
      try {
        const path = join(folder, 'record.json');
        await writeFile(path, json);
        await kv('put', name, '--path', path, '--metadata', json);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  };
}

// ------------------------------------------------------------------------------- the arguments

const UNITS = new Map(Object.entries({ s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }));

/** The milliseconds of a duration such as `15m`, `24h`, `90d`. */
function duration(text: string): number {
  const [, count, unit = ''] = /^([0-9]{1,6})([smhd])$/.exec(text) ?? [];
  const milliseconds = Number(count) * (UNITS.get(unit) ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  throw new InvalidArgumentError(
    'It must be a duration such as 15m, 24h or 7d. An expiry may also be a date such as 2027-01-31.',
  );
}

/** The time of an expiry: a duration from now, or a date, which means the end of that day in UTC. */
function expiry(text: string): Date {
  const isDate = z.iso.date().safeParse(text).success;
  const expires = new Date(isDate ? `${text}T23:59:59.999Z` : Date.now() + duration(text));
  if (expires.getTime() > Date.now()) return expires;
  throw new InvalidArgumentError('It must be in the future.');
}

function label(text: string): string {
  const length = [...text].length;
  if (text.trim() !== '' && length <= 100 && !/[\p{Cc}\p{Cs}\p{Bidi_Control}]/u.test(text))
    return text;
  throw new InvalidArgumentError('It must be 1 to 100 characters without control characters.');
}

if (import.meta.main) await run(keysProgram());
