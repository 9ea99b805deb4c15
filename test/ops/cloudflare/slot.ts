/** A worker of the runtime that a version is loaded into, with the bindings that it was uploaded with. */
import { join } from 'node:path';
import * as z from 'zod';
import type { StoredVersion } from './workers.ts';

export type Slot = { name: string; script: string; version?: StoredVersion };

const Limit = z.object({ limit: z.number(), period: z.literal([10, 60]) });

/** Wrangler's configuration of it; `placeholder` is the module of an empty one. */
export function configOf({ name, version }: Slot, folder: string, placeholder: string) {
  if (!version) return { name, main: placeholder, compatibility_date: '2026-11-17' };
  const of = (type: string) => version.bindings.filter((binding) => binding.type === type);
  return {
    name,
    main: join(folder, `${version.id}.js`),
    no_bundle: true,
    compatibility_date: version.compatibilityDate,
    vars: {
      ...Object.fromEntries(of('plain_text').map(({ name, text }) => [name, String(text)])),
      ...Object.fromEntries(of('version_metadata').map(({ name }) => [name, { id: version.id }])),
    },
    d1_databases: of('d1').map(({ name, id }) => ({
      binding: name,
      database_name: String(id),
      database_id: String(id),
    })),
    kv_namespaces: of('kv_namespace').map(({ name, namespace_id }) => ({
      binding: name,
      id: String(namespace_id),
    })),
    ratelimits: of('ratelimit').map(({ name, namespace_id, simple }) => ({
      name,
      namespace_id: String(namespace_id),
      simple: Limit.parse(simple),
    })),
  };
}
