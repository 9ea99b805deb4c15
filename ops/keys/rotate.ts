/** Replaces an API key: `npm run keys -- rotate`. The old key stays valid for a while, the overlap. */
import { scopesOf, stateOf } from '../../src/auth/key-record.ts';
import { confirm, type Environment, safeMessage } from '../command/command-line.ts';
import { issueKey, timeAfter } from './issue.ts';
import {
  changeRecord,
  nameOf,
  readRecord,
  requireNotFixed,
  type StoredKey,
  type StoredRecord,
} from './records.ts';

/** `overlap`: milliseconds. */
export async function rotateKey(
  env: Environment,
  { name, record: old }: StoredKey,
  overlap: number,
  yes?: boolean,
) {
  requireNotFixed(env, old);
  requireActive(old);
  await confirm(`rotate the key ${nameOf(old)}`, env, yes);
  // Printed before anything else can fail, because the key cannot be shown again.
  await issueKey(env, {
    label: old.label,
    scopes: scopesOf(old),
    // The same family, so that an Idempotency-Key sent with the old key stays valid with the new one.
    family: old.family ?? old.id,
    expiresAt: sameLifetime(old),
  });
  try {
    // Another operator may have changed the old key since it was read.
    const current = await readRecord(env, name);
    requireActive(current);
    const expiresAt = earlier(timeAfter(overlap), current.expiresAt);
    await changeRecord(env, name, { ...current, expiresAt });
    console.error(`The old key ${nameOf(old)} expires at ${expiresAt}.`);
  } catch (cause) {
    const problem = `the new key is valid, but it is unknown whether the old key ${nameOf(old)} expires`;
    throw new Error(`${problem}: ${safeMessage(cause)}`, { cause });
  }
}

function requireActive(record: StoredRecord) {
  const state = stateOf(record);
  if (state !== 'active') throw new Error(`the key ${nameOf(record)} is ${state}`);
}

/** The expiry of a key that is issued now, and lives as long as another. */
function sameLifetime(old: StoredRecord): string | undefined {
  const { createdAt, expiresAt } = old;
  if (!expiresAt) return undefined;
  const lifetimeMs = Date.parse(expiresAt) - Date.parse(createdAt);
  if (lifetimeMs > 0) return timeAfter(lifetimeMs);
  throw new Error(`the key ${nameOf(old)} expires before its creation: create a key`);
}

function earlier(end: string, expiresAt: StoredRecord['expiresAt']): string {
  return expiresAt && Date.parse(expiresAt) < Date.parse(end) ? expiresAt : end;
}
