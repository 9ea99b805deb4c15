/** Runs `npm run provision` in this process: a folder with wrangler.toml, a fake account, and a fake of wrangler. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import { startAccount } from './fake-account.ts';
import { runInProcess } from './in-process.ts';
import { readPlaceholders } from './placeholders.ts';

type Environment = 'staging' | 'production';
export type World = Awaited<ReturnType<typeof startWorld>>;

/** A world in which nothing is set up. */
export async function startWorld(folder: string) {
  const config = join(folder, 'wrangler.toml');
  const account = await startAccount();
  const realFetch = globalThis.fetch;
  writeFileSync(config, readPlaceholders());

  const world = {
    account,
    /** What the command runs beside calls of the API, such as `staging deploy --no-x-provision`. */
    commands: [] as string[],
    /** What a command prints or, if it is an error, throws. By the words that it begins with. */
    outcomes: {} as Record<string, string | Error>,
    /** The steps, each a call or a command, after which the process dies. */
    steps: Number.POSITIVE_INFINITY,
    /** Answers a call instead of the account. */
    answer: undefined as (() => Response) | undefined,
    /** Called before each step. */
    onStep(_step: string): void {},
    readConfig: () => readFileSync(config, 'utf8'),
    writeConfig: (text: string) => writeFileSync(config, text),
    /** The calls that create something. */
    created: () => account.calls.filter((call) => call.startsWith('POST')),
    deploy,
    provision,
  };

  /** A step of a process that has died takes no effect. */
  function step(name: string): void {
    if (world.steps === 0) throw new Error('killed');
    world.steps -= 1;
    world.onStep(name);
  }

  async function fetchOrDie(url: string, init: RequestInit): Promise<Response> {
    step(`${init.method ?? 'GET'} ${url.replace(/.*\/accounts\/\w+/, '')}`);
    return world.answer?.() ?? realFetch(url, init);
  }

  /** Deploys a version with the bindings of wrangler.toml. */
  function deploy(environment: Environment): void {
    const {
      name = '',
      vars,
      d1_databases,
      kv_namespaces,
    } = readConfig({ config, env: environment });
    const text = JSON.stringify([vars, d1_databases, kv_namespaces]);
    const values = text.match(/"[^"]+"/g)?.map((each) => ({ name: each, text: JSON.parse(each) }));
    const version = {
      id: `${name}-1`,
      code: '',
      annotations: {},
      resources: { bindings: values ?? [] },
    };
    const deployments = [{ id: '1', versions: [{ version_id: version.id, percentage: 100 }] }];
    account.workers.set(name, { versions: [version], deployments });
  }

  async function runWranglerIn(environment: Environment, args: string[]): Promise<string> {
    const command = [environment, ...args].join(' ');
    step(command);
    world.commands.push(command);
    const outcome = Object.entries(world.outcomes).find(([start]) =>
      command.startsWith(start),
    )?.[1];
    if (outcome instanceof Error) throw outcome;
    const { name = '', routes = [] } = readConfig({ config, env: environment });
    if (args[0] === 'deploy') deploy(environment);
    if (args[0] !== 'd1') for (const { pattern } of routes) account.hosts.set(pattern, name);
    return outcome ?? '';
  }

  async function runWrangler(args: string[]): Promise<string> {
    step(args.join(' '));
    return JSON.stringify({ type: 'api_token', token: account.env.CLOUDFLARE_API_TOKEN });
  }

  /** Runs `npm run provision -- <line>`. `typed`: on a terminal. */
  async function provision(line: string, typed?: string) {
    vi.stubEnv('CLOUDFLARE_API_BASE_URL', account.env.CLOUDFLARE_API_BASE_URL);
    vi.stubGlobal('fetch', fetchOrDie);
    type Done = (error: unknown) => void;
    const execFile = (_: string, [script = '']: string[], done: Done) => {
      const name = script.replace(folder, '');
      try {
        step(name);
        world.commands.push(name);
        done(null);
      } catch (error) {
        done(error);
      }
    };
    const mocks = {
      '../../ops/wrangler.ts': { PROJECT_ROOT: folder, runWranglerIn, runWrangler },
      'node:child_process': { execFile },
    };
    const args = line.split(' ').filter(Boolean);
    const result = await runInProcess('provision.ts', mocks, args, typed);
    vi.unstubAllEnvs();
    return result;
  }

  return world;
}
