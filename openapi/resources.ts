/** Finds the descriptions of the resources: every file in openapi/resources/ exports one. */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { app } from '../src/app.ts';
import type { ResourceDescription } from './describe.ts';

/** The descriptions, in the order of the routes. The docs page has the same order. */
export async function findResources(): Promise<ResourceDescription[]> {
  const files = readdirSync(join(import.meta.dirname, 'resources'));
  const modules = await Promise.all(files.map((file) => importResource(basename(file, '.ts'))));
  const resources = modules.map(({ resource }) => resource);
  return resources.toSorted((a, b) => firstRoute(a) - firstRoute(b));
}

function importResource(name: string): Promise<{ resource: ResourceDescription }> {
  return import(`./resources/${name}.ts`);
}

/** The index of the resource's first route among all routes. */
function firstRoute({ paths }: ResourceDescription): number {
  const routed = Object.keys(paths).map((path) => `/v1${path.replaceAll(/\{(\w+)\}/g, ':$1')}`);
  return app.routes.findIndex(({ path }) => routed.includes(path));
}
