/** Sets an environment up with the commands of docs/set-up.md. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Clone } from './clone.ts';
import { ACCOUNT } from './fake-cloudflare.ts';
import { HOSTS } from './placeholders.ts';

/** The page as the reader of an environment at this host adapts it. */
function readPage(environment: string, host: string) {
  return readFileSync('docs/set-up.md', 'utf8')
    .replaceAll('animal-store-staging.<name>.workers.dev', host)
    .replaceAll('staging', environment);
}

/** The commands of the page, by its blocks: log in, create, deploy, send a request. */
export function readBlocks(environment: string, host: string) {
  const blocks = readPage(environment, host).matchAll(/```sh\n(.*?)```/gs);
  return Array.from(blocks, ([, lines = '']) => lines.trim().split('\n'));
}

/** Follows the page up to the deployment. Staging's host contains that of production, so staging must be set up first. */
export async function setUp(clone: Clone, environment: string, host: string) {
  const [, creates = [], deploys = []] = readBlocks(environment, host);
  const names = readPage(environment, host).matchAll(/`(\w+-[a-z-]+-id)`/g);
  const [account = '', ...ids] = Array.from(names, ([, name = '']) => name);
  clone.editConfig(account, ACCOUNT);
  if (host.endsWith('.workers.dev'))
    clone.editConfig(RegExp(`^routes = .*"${environment}\\..*$`, 'gm'), 'workers_dev = true');
  clone.editConfig(HOSTS[environment] ?? 'a placeholder', host);
  for (const [i, command] of creates.entries()) {
    const [, id = ''] = /id = "([\w-]+)"/.exec(await clone.run(command)) ?? [];
    clone.editConfig(ids[i] ?? 'a placeholder', id);
  }
  for (const command of deploys) expect(await clone.run(command)).not.toContain('❌');
}
