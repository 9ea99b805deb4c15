/** One life of the store: set up, released, promoted, rolled back; and what is refused on the way. */
import { expect, test } from 'vitest';
import { PROMOTE, releaseProject } from './release-project.ts';

const project = releaseProject();
const { release, refused, production, staging } = project;

test('x', async () => {
  for (const args of [
    ['first', '--env', 'staging'],
    ['first', '--env', 'production', '--yes'],
  ]) {
    const t = Date.now();
    console.log(await release(...args), Date.now() - t);
  }
  await project.addMigration('add_note', 'ALTER TABLE pets ADD COLUMN note TEXT;');
  for (const args of [['staging'], PROMOTE]) {
    const t = Date.now();
    console.log(await release(...args), Date.now() - t);
  }
  console.log(project.cloudflare().calls.join('\n'), project.changes());
  console.log(project.cloudflare().served.length);
});
