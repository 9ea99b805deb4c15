/**
 * Which release a version of the worker is: Cloudflare keeps it as the version's message, so that it can be
 * read back on any machine. A message holds up to 1,000 bytes; this one takes some 450.
 */
import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { digest, type Manifest, sha256 } from './bundle.ts';
import { CONFIG } from './target.ts';

const Release = z.object({
  commit: z.string(),
  'index.js': z.string(),
  /** Of the assets, of the migrations: see `digest`. */
  assets: z.string(),
  migrations: z.string(),
  /** Of wrangler.toml: the same bytes with other limits are another version. */
  config: z.string(),
});
export type Release = z.infer<typeof Release>;

/** A release, and D1's state before its migrations, for Time Travel. */
const Identity = Release.extend({ bookmark: z.string() });
export type Identity = z.infer<typeof Identity>;

export async function identify(manifest: Manifest): Promise<Release> {
  return {
    commit: manifest.commit,
    'index.js': manifest['index.js'],
    assets: digest(manifest.assets),
    migrations: digest(manifest.migrations),
    config: sha256(await readFile(CONFIG)),
  };
}

export function formatIdentity(identity: Identity): string {
  return Object.entries(identity)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

/** `undefined` for the message of a version that was not released by us. */
export function parseIdentity(message: string | undefined): Identity | undefined {
  const pairs = message?.split(' ').map((pair) => pair.split('=', 2)) ?? [];
  return Identity.safeParse(Object.fromEntries(pairs)).data;
}

/** Whether two versions are the same bytes of the same commit. */
export function sameBytes(one: Release | undefined, other: Release | undefined): boolean {
  if (!one || !other) return false;
  return (['commit', 'index.js', 'assets', 'migrations'] as const).every(
    (name) => one[name] === other[name],
  );
}

/** Whether they are that, and configured alike. */
export function sameRelease(one: Release | undefined, other: Release | undefined): boolean {
  return sameBytes(one, other) && one?.config === other?.config;
}
