/** Sets an environment up with the commands and the edits of docs/set-up.md. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Clone } from './clone.ts';
import { ACCOUNT } from './fake-cloudflare.ts';

/** The page as the reader of an environment at this host adapts it. */
function readPage(environment: string, host: string) {
  return readFileSync('docs/set-up.md', 'utf8')
    .replaceAll('animal-store-staging.<name>.workers.dev', host)
    .replaceAll('<host>', host)
    .replaceAll('staging', environment);
}

/** The commands of the page, by its blocks: log in, create, deploy, send a request. */
export function readBlocks(environment: string, host: string) {
  const blocks = readPage(environment, host).matchAll(/```sh\n(.*?)```/gs);
  return Array.from(blocks, ([, lines = '']) => lines.trim().split('\n'));
}

/** The lines of wrangler.toml that the page changes, and what they become: the account, the address, two ids, another address. */
function readEdits(environment: string, host: string) {
  const edits = readPage(environment, host).matchAll(/^-(.*)\n\+(.*)/gm);
  return Array.from(edits, ([, from = '', to = '']) => ({ from, to }));
}

/** Follows the page up to the deployment. */
export async function setUp(clone: Clone, environment: string, host: string) {
  const [, creates = [], deploys = []] = readBlocks(environment, host);
  const edits = readEdits(environment, host);
  clone.editConfig(edits[0]?.from ?? '', `account_id = "${ACCOUNT}"`);
  const ids: string[] = [];
  for (const command of creates) {
    const [, id = ''] = /id = "([\w-]+)"/.exec(await clone.run(command)) ?? [];
    ids.push(id);
  }
  const made = host.endsWith('.workers.dev') ? edits.slice(1, 5) : edits.slice(3);
  for (const { from, to } of made)
    clone.editConfig(
      from,
      to.replace(/<[a-z]+-id>/, () => `${ids.shift()}`),
    );
  for (const command of deploys) expect(await clone.run(command)).not.toContain('❌');
}
