/** Replaces an API key: `npm run keys -- rotate`. The old key stays valid for a while, the overlap. */
import { scopesOf, stateOf } from '../../src/auth/key-record.ts';
import { confirm, type Environment, safeMessage } from '../command/command-line.ts';
import { issueKey } from './issue.ts';
import type { StoredRecord } from './records.ts';
import {
  idAndLabel,
  namesById,
  readRecord,
  requireId,
  requireNotFixed,
  writeRecord,
} from './records.ts';

type Options = { env: Environment; overlap: number; yes?: boolean };

/** From the last read of the old record to the end of its write. `revoke` looks again after 15 s: see `revokeKey`. */
const DEADLINE_MS = 12_000;

export async function rotate(id: string, { env, overlap, yes }: Options) {
  const names = await namesById(env, id);
  if (names.length > 1)
    throw new Error(`${names.length} records have the id ${id}: revoke it, and create a key`);
  const [name = ''] = names;
  const old = await readRecord(env, name);
  requireId(id, name, old);
  requireRotatable(env, old);
  await confirm(`rotate the key ${idAndLabel(old)}`, env, yes);
  // Printed before anything else can fail, because the key cannot be shown again.
  const nextId = await issueKey(env, {
    label: old.label,
    scopes: scopesOf(old),
    // The same family, so that an Idempotency-Key sent with the old key stays valid with the new one.
    family: old.family ?? old.id,
    expiresAt: sameLifetime(old),
  });
  // What is known of the old key if the next step fails.
  let outcome = 'is not rotated';
  try {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    // Another operator may have revoked or rotated it since it was read.
    const current = await readRecord(env, name, signal);
    requireRotatable(env, current);
    const expiresAt = expiryAfter(overlap, current);
    // A write that fails may have taken effect all the same, or take effect later.
    outcome = 'is in an unknown state';
    await writeRecord(env, name, { ...current, expiresAt, rotatedTo: nextId }, signal);
    const stored = await readRecord(env, name);
    if (stored.rotatedTo !== nextId || stored.revokedAt) throw new Error('KV shows another record');
    console.error(`The old key ${idAndLabel(old)} expires at ${expiresAt}.`);
  } catch (cause) {
    const problem = `the new key ${nextId} is issued, but the old key ${old.id} ${outcome}`;
    const fix = `To see both, in two minutes: npm run keys -- list --env ${env}`;
    throw new Error(`${problem}: ${safeMessage(cause)}. ${fix}`, { cause });
  }
}

function requireRotatable(env: Environment, record: StoredRecord) {
  requireNotFixed(env, record);
  const { id, rotatedTo } = record;
  const state = stateOf(record);
  if (state !== 'active') throw new Error(`key ${id} is ${state}`);
  if (rotatedTo) throw new Error(`key ${id} was already rotated: rotate ${rotatedTo} instead`);
}

/** The expiry of a key that is issued now, and lives as long as another. */
function sameLifetime({ id, createdAt, expiresAt }: StoredRecord): string | undefined {
  if (!expiresAt) return undefined;
  const lifetimeMs = Date.parse(expiresAt) - Date.parse(createdAt);
  if (lifetimeMs <= 0) throw new Error(`key ${id} expires before its creation: create a key`);
  return new Date(Date.now() + lifetimeMs).toISOString();
}

/** The end of the overlap, unless the key expires before. */
function expiryAfter(overlap: number, { expiresAt }: StoredRecord): string {
  const end = new Date(Date.now() + overlap).toISOString();
  return expiresAt && Date.parse(expiresAt) < Date.parse(end) ? expiresAt : end;
}
