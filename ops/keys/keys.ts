/** `npm run keys`: issues, lists, rotates and revokes API keys. */
import { randomBytes } from 'node:crypto';
import Table from 'cli-table3';
import { type Command, Option } from 'commander';
import { generateKey } from '../../src/auth/key-format.ts';
import { recordName, scopesOf, stateOf } from '../../src/auth/key-record.ts';
import type { Environment } from '../command-line.ts';
import { confirm, createProgram, environmentOption, run } from '../command-line.ts';
import { duration, expiry, label } from './arguments.ts';
import type { Namespace, WholeRecord } from './namespace.ts';
import { keyById, listKeys, wranglerNamespace } from './namespace.ts';

type Options = { env: Environment; json?: boolean; yes?: boolean };
type NewKey = Options & { label: string; expires?: Date; readOnly?: boolean };

/** The command, on the KV namespaces that `open` returns. */
export function keysProgram(open: (env: Environment) => Namespace = wranglerNamespace): Command {
  const program = createProgram(
    'npm run keys --',
    'Issues, lists, rotates and revokes API keys of the local store, or of another environment with --env.',
  );
  const command = (name: string, description: string) =>
    program.command(name).description(description).addOption(environmentOption);
  const changing = (name: string, description: string) =>
    command(name, description).option('--yes', 'do not ask before changing production');
  const json = ['--json', 'print only JSON on standard output'] as const;
  const id = ['<id>', 'the id that `list` shows'] as const;

  changing('create', 'Issues a key and prints it once.')
    .requiredOption('--label <text>', 'the owner or purpose, up to 100 characters', label)
    .option('--expires <when>', 'a duration (90d) or a date (2027-01-31: its end, UTC)', expiry)
    .option('--read-only', 'give the key only the scope read (default read and write)')
    .option(...json)
    .action(async ({ env, label, expires, readOnly, json, yes }: NewKey) => {
      await confirm('create a key', env, yes);
      const scopes = readOnly ? ['read'] : undefined;
      await issueKey(open(env), env, json, { label, expiresAt: expires?.toISOString(), scopes });
    });

  command('list', 'Lists all keys: id, label, scopes, creation, expiry and state, never the key.')
    .option(...json)
    .action(async ({ env, json }: Options) => {
      const keys = (await listKeys(open(env))).map(({ record }) => {
        const { id, label, createdAt, expiresAt = null } = record;
        const [scopes, state] = [scopesOf(record), stateOf(record)];
        return { id, label, scopes, createdAt, expiresAt, state };
      });
      if (json) return console.log(JSON.stringify(keys, null, 2));
      const head = ['id', 'label', 'scopes', 'created', 'expires', 'state'];
      const table = new Table({ head, style: { head: [], border: [], compact: true } });
      for (const { id, label, scopes, createdAt, expiresAt, state } of keys)
        table.push([id, label, scopes.join(', '), createdAt, expiresAt ?? 'never', state]);
      console.log(table.toString());
    });

  changing('revoke', 'Revokes a key permanently. Revoking it again changes nothing.')
    .argument(...id)
    .action(async (id: string, { env, yes }: Options) => {
      const namespace = open(env);
      const { name, record } = await keyById(namespace, id);
      if (record.revokedAt)
        return console.log(`Key ${id} was already revoked at ${record.revokedAt}.`);
      await confirm(`revoke the key ${id} (${record.label})`, env, yes);
      const revokedAt = new Date().toISOString();
      await namespace.put(name, { ...record, revokedAt });
      console.log(
        env === 'local' && id === 'local'
          ? 'Key local is revoked. The next npm start restores it.'
          : `Key ${id} is revoked. It stops working everywhere in about two minutes, or later if KV spreads the change slowly.`,
      );
    });

  changing('rotate', 'Issues a key with the same label and scopes, and lets the old one expire.')
    .argument(...id)
    .addOption(
      new Option('--overlap <duration>', 'how long the old key stays valid (15m, 24h)')
        .argParser(duration)
        .default(86_400_000, '24h'),
    )
    .option(...json)
    .action(async (id: string, { env, overlap, json, yes }: Options & { overlap: number }) => {
      const namespace = open(env);
      const { name, record: old } = await keyById(namespace, id);
      const state = stateOf(old);
      if (state !== 'active') throw new Error(`key ${id} is ${state}: create a new one`);
      // After a rotation `expiresAt` is the end of the overlap, so the key's original lifetime is unknown.
      const { rotatedTo } = old;
      if (rotatedTo) throw new Error(`key ${id} was already rotated: rotate ${rotatedTo} instead`);
      await confirm(`rotate the key ${id} (${old.label})`, env, yes);

      const now = Date.now();
      const lifetime = old.expiresAt && Date.parse(old.expiresAt) - Date.parse(old.createdAt);
      // Printed before anything else can fail, because the key cannot be shown again.
      const next = await issueKey(namespace, env, json, {
        label: old.label,
        scopes: scopesOf(old),
        // The same family, so that an Idempotency-Key sent with the old key stays valid with the new one.
        family: old.family ?? id,
        ...(lifetime && { expiresAt: new Date(now + lifetime).toISOString() }),
      });

      const end = Math.min(now + overlap, Date.parse(old.expiresAt ?? '') || Infinity);
      const expiresAt = new Date(end).toISOString();
      const record = { ...old, expiresAt, rotatedTo: next.id };
      await namespace.put(name, record).catch((error) => {
        throw new Error(`the new key is issued, but key ${id} is unchanged: ${error.message}`);
      });
      console.error(`The old key ${id} expires at ${expiresAt}.`);
    });
  return program;
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

  const { createdAt, expiresAt = null } = record;
  const scopes = scopesOf(record);
  if (json) console.log(JSON.stringify({ id, key, label, scopes, createdAt, expiresAt }));
  else
    console.log(`Key ${id} (${label}) for ${env}, scopes ${scopes.join(' and ')}, expires ${expiresAt ?? 'never'}:

  ${key}

Save it now. It is not stored and cannot be shown again.`);
  return record;
}

if (import.meta.main) await run(keysProgram());
