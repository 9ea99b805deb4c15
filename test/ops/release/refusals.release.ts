/** What a release refuses, in one line each; what a dry run does, which is nothing; and where secrets are not. */
import { readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { TOKEN } from '../cloudflare/api.ts';
import { MIGRATIONS, nextMigration } from '../project.ts';
import { ACCOUNT, releaseProject } from './release-project.ts';

const project = releaseProject();
const path = (name: string) => join(project.path(), name);
const read = (name: string) => readFile(path(name), 'utf8');
const staging = () => project.cloudflare().script('animal-store-staging');
const production = () => project.cloudflare().script('animal-store-production');

/** Every argument of every Node process of the commands so far. */
const ARGUMENTS = 'arguments.txt';
let output = '';

async function release(...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await project.attempt(...args);
  output += stdout + stderr;
  expect(code, stdout + stderr).toBe(0);
}

/** Changes a file for the time of a test's actions. */
async function changed(name: string, change: (text: string) => string, use: () => Promise<void>) {
  const before = await read(name);
  await writeFile(path(name), change(before));
  try {
    await use();
  } finally {
    await writeFile(path(name), before);
  }
}

/** The calls that something makes which are no questions. */
async function writes(use: () => Promise<unknown>): Promise<string[]> {
  const { calls } = project.cloudflare();
  const before = calls.length;
  await use();
  return calls.slice(before).filter((call) => !call.startsWith('GET ') && !/graphql$/.test(call));
}

beforeAll(async () => {
  await writeFile(
    path('../record-arguments.mjs'),
    `import { appendFileSync } from 'node:fs';
     appendFileSync(${JSON.stringify(path(`.wrangler-${ARGUMENTS}`))}, process.argv.join('\\n') + '\\n');`,
  );
  await project.commit('.gitignore', (text) => `${text}.wrangler-*\n*.log\n`);
  await writeFile(path('public/debug.log'), 'secret');
  project.addEnv({
    NODE_OPTIONS: `${project.env().NODE_OPTIONS} --import=${new URL(`file://${path('../record-arguments.mjs')}`)}`,
    WRANGLER_LOG_PATH: path('.wrangler-logs'),
  });
  await release('staging');
  await release('promote', '--probes', '10');
}, 180_000);

test('what git ignores is not published', async () => {
  expect(await readdir(path('dist/public'))).not.toContain('debug.log');
  expect(await readdir(path('dist/public'))).toContain('docs.html');
});

test('no key or token is in an output, an argument or a file', async () => {
  const files = (await readdir(project.path(), { recursive: true, withFileTypes: true })).filter(
    (file) => file.isFile() && !file.parentPath.includes('node_modules'),
  );
  const texts = await Promise.all(
    files.map((file) => readFile(join(file.parentPath, file.name), 'utf8')),
  );
  expect(await read(`.wrangler-${ARGUMENTS}`)).toContain('versions');
  expect(files.some(({ parentPath }) => parentPath.includes('.wrangler-logs'))).toBe(true);
  const secrets = [
    TOKEN,
    ...(['staging', 'production'] as const).map((name) => project.env(name).SMOKE_API_KEY),
  ];
  for (const secret of secrets) {
    expect(secret).toBeTruthy();
    for (const text of [output, ...texts]) expect(text).not.toContain(secret);
  }
});

describe('a dry run says what would be done, and does nothing:', () => {
  test.each([
    [
      'setup',
      ['setup', '--env', 'staging', '--account', ACCOUNT],
      'write the ids into wrangler.toml',
    ],
    ['staging', ['staging'], 'deploy it, with its routes and crons'],
    ['promote', ['promote'], 'attach routes and crons'],
    ['smoke', ['smoke', '--env', 'staging'], 'smoke test of https://staging.api.animals.test'],
  ])('%s', async (_, args, step) => {
    const [config, manifest] = [await read('wrangler.toml'), await read('dist/manifest.json')];
    let said = '';
    const written = await writes(async () => {
      said = await project.release(...args, '--dry-run');
    });
    expect(said).toContain(`${step} … would be done\n`);
    // A question to D1 is a POST.
    expect(written.filter((call) => !/\/d1\/database\/[^/]+\/query$/.test(call))).toEqual([]);
    expect(await read('wrangler.toml')).toBe(config);
    expect(await read('dist/manifest.json')).toBe(manifest);
  });
});

describe('refuses', () => {
  test.each([
    [['setup', '--env', 'staging', '--account', ACCOUNT]],
    [['staging']],
    [['promote']],
    [['rollback']],
    [['status']],
    [['smoke', '--env', 'staging']],
  ])('%j without a login', async (args) => {
    const environment = args.includes('promote') ? 'production' : 'staging';
    const env = { ...project.env(environment), CLOUDFLARE_API_TOKEN: '', HOME: path('nobody') };
    const { code, stderr } = await project.run('release.ts', args, env);
    expect([code, stderr]).toEqual([
      1,
      'error: nobody is logged in: run npx wrangler login, or set CLOUDFLARE_API_TOKEN\n',
    ]);
  });

  test('a dirty tree', async () => {
    await changed(
      'src/app.ts',
      (text) => `${text}// Mine.\n`,
      async () => {
        expect(await project.refused('staging')).toContain(
          'not everything is committed (src/app.ts)',
        );
      },
    );
    // What is in production’s configuration is committed, too.
    await changed(
      'wrangler.toml',
      (text) => `${text}# Mine.\n`,
      async () => {
        expect(await project.refused('promote')).toContain(
          'not everything is committed (wrangler.toml)',
        );
      },
    );
  });

  test('an id that is missing, an address that nobody can have, and no key: all in one line', async () => {
    const unset = (text: string) =>
      text
        .replace('22222222-2222-4222-8222-222222222222', 'production-database-id')
        .replaceAll('api.animals.test', 'api.animals.example');
    await changed('wrangler.toml', unset, async () => {
      const env = { ...project.env('production'), SMOKE_API_KEY: '' };
      const { code, stderr } = await project.run('release.ts', ['promote'], env);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^error: [^\n]*\n$/);
      for (const problem of [
        'wrangler.toml has no id for the database of production: run npm run release -- setup --env production',
        'the base address of production is still on .example (https://api.animals.example/v1, ',
        'needs a key of production in the environment variable SMOKE_API_KEY',
      ]) {
        expect(stderr).toContain(problem);
      }
      expect(await project.refused('rollback')).toContain('no id for the database');
      expect(await project.refused('staging')).toContain('base address of staging is still');
      const status = await project.release('status');
      expect(status).toContain('production: wrangler.toml has no id for the database');
    });
  });

  test('a key of another environment, without showing it', async () => {
    const env = project.env('staging');
    const { code, stderr } = await project.run('release.ts', ['promote'], env);
    expect([code, stderr]).toEqual([
      1,
      'error: SMOKE_API_KEY holds a key of staging, not of production\n',
    ]);
  });

  test.each([
    ['worker/index.js', 'dist/worker/index.js'],
    ['public/docs.html', 'dist/public/docs.html'],
    ['migrations/0001_create_pets.sql', 'dist/migrations/0001_create_pets.sql'],
  ])('dist when %s was changed', async (name, file) => {
    await changed(
      file,
      (text) => `${text}\n`,
      async () => {
        expect(await project.refused('promote')).toBe(
          `error: dist is not what was built (${name} changed): run npm run release -- staging\n`,
        );
      },
    );
  });

  test('dist with something in it that is no file', async () => {
    await symlink(path('package.json'), path('dist/public/link.json'));
    expect(await project.refused('promote')).toContain('link.json is neither a file nor a folder');
    await rm(path('dist/public/link.json'));
  });

  test('settings of production that staging was not proved with', async () => {
    const more = (text: string) =>
      text.replace('ENVIRONMENT = "production"', 'ENVIRONMENT = "production"\nFEATURE = "new"');
    await project.commit('wrangler.toml', more);
    expect(await project.refused('promote')).toContain(
      'gives production other settings than staging',
    );
    await project.git('revert', '--no-edit', 'HEAD');
  });

  test('dist when it is not what staging serves, proved', async () => {
    const other = (text: string) =>
      text.replace(/"commit": "\w{40}"/, `"commit": "${'0'.repeat(40)}"`);
    await changed('dist/manifest.json', other, async () => {
      expect(await project.refused('promote')).toContain('dist is of commit 00000000');
    });
    const unproved = (text: string) => JSON.stringify({ ...JSON.parse(text), staging: undefined });
    await changed('dist/manifest.json', unproved, async () => {
      expect(await project.refused('promote')).toContain('staging did not prove what is in dist');
    });
    await changed(
      'dist/manifest.json',
      () => '{',
      async () => {
        expect(await project.refused('promote')).toContain('dist/manifest.json is not one');
      },
    );
  });

  test('another account, or other ids, than wrangler.toml has', async () => {
    const before = await read('wrangler.toml');
    expect(await project.refused('setup', '--env', 'staging', '--account', 'other')).toBe(
      `error: wrangler.toml has another account for staging, ${ACCOUNT}: nothing was done\n`,
    );
    await changed(
      'wrangler.toml',
      (text) => text.replace('11111111-1', '31111111-1'),
      async () => {
        const problem = await project.refused('setup', '--env', 'staging', '--account', ACCOUNT);
        expect(problem).toContain(
          'wrangler.toml has 31111111-1111-4111-8111-111111111111 for animal-store-staging',
        );
      },
    );
    expect(await read('wrangler.toml')).toBe(before);
  });

  test('a wrong token, in one line', async () => {
    const env = { ...project.env('staging'), CLOUDFLARE_API_TOKEN: 'wrong' };
    const { code, stderr } = await project.run('release.ts', ['status'], env);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: staging: wrangler: [^\n]*Invalid access token[^\n]*; production: wrangler: [^\n]*\n$/,
    );
  });
});

describe('a release that fails on staging', { shuffle: false }, () => {
  test('a migration that fails: what was served is served', async () => {
    const name = nextMigration('wrong');
    await project.commit(`migrations/${name}`, () => 'ALTER TABLE animals ADD COLUMN a TEXT;');
    await project.run('check-migrations.ts', ['--record']);
    await project.commit('src/app.ts', (text) => `${text}\n`);
    const before = staging().deployments.length;
    expect(await project.release('staging', '--dry-run')).toContain(
      `apply ${name} … would be done`,
    );
    const database = await project.cloudflare().database('11111111-1111-4111-8111-111111111111');
    const applied = database.prepare('SELECT count(*) AS n FROM d1_migrations');
    expect(await applied.first('n')).toBe(MIGRATIONS.length);
    expect(await project.refused('staging')).toContain('no such table: animals');
    expect(await applied.first('n')).toBe(MIGRATIONS.length);
    expect(staging().deployments).toHaveLength(before);
    expect(await project.refused('promote')).toContain('staging did not prove what is in dist');
    await project.git('rm', '--quiet', `migrations/${name}`);
    await project.commit('migrations/checksums.json', (text) =>
      text.replace(new RegExp(`,\\s*"${name}": "\\w+"`), ''),
    );
  });

  test('a smoke test that fails: staging is back on what was proved', async () => {
    const proved = staging().deployments.at(-1)?.versions;
    await project.commit('src/health/routes.ts', (text) =>
      text.replace('c.env.ENVIRONMENT', "'other'"),
    );
    const problem = await project.refused('staging');
    expect(problem).toContain('smoke test, health: environment is "other", not "staging"');
    expect(problem).toContain(`staging serves the old version, ${proved?.[0]?.version_id}, to all`);
    expect(staging().deployments.at(-1)?.versions).toEqual(proved);
    expect(production().deployments).toHaveLength(3);
  });
});
