/** `npm run release -- status`: what staging and production serve, and whether they are the same. */
import { PROJECT_ROOT } from '../wrangler.ts';
import { login } from './cloudflare.ts';
import { appliedMigrations } from './database.ts';
import { commitsApart } from './git.ts';
import { type Identity, sameBytes } from './identity.ts';
import { pendingMigrations } from './migrate.ts';
import { readServed, short } from './rollout.ts';
import type { Steps } from './steps.ts';
import { ENVIRONMENTS, type EnvironmentName, missing, readTarget, type Target } from './target.ts';

type Served = { version: string; percentage: number; identity?: Identity };

/** `problems` are why the rest is not known: not set up yet, or `unreadable`. */
type EnvironmentStatus = {
  environment: EnvironmentName;
  problems: string[];
  unreadable: boolean;
  serves: Served[];
  migrations: { applied: string[]; pending: string[] };
};

/**
 * @returns both environments, and whether production is `behind` staging (`null`: not known); `ok` is false when
 *   one of them could not be read.
 */
export async function status(steps: Steps) {
  await steps.look('check the login', login);
  const environments: EnvironmentStatus[] = [];
  for (const environment of ENVIRONMENTS) {
    environments.push(
      await steps.look(
        `read ${environment}`,
        () => statusOf(environment),
        ({ unreadable }) => (unreadable ? 'that failed' : undefined),
      ),
    );
  }
  for (const found of environments.filter(({ unreadable }) => !unreadable)) {
    for (const line of lines(found)) steps.say(line);
  }
  const failures = environments.filter(({ unreadable }) => unreadable);
  if (failures.length > 0) {
    const inWords = failures.map(({ environment, problems }) => `${environment}: ${problems[0]}`);
    return { ok: false, error: inWords.join('; '), environments, behind: null };
  }
  const [staging, production] = environments.map(({ serves }) => main(serves)?.identity);
  steps.say(await comparison(staging, production));
  return { environments, behind: staging ? !sameBytes(staging, production) : null };
}

async function statusOf(environment: EnvironmentName): Promise<EnvironmentStatus> {
  const target = readTarget(environment);
  const nothing = { environment, serves: [], migrations: { applied: [], pending: [] } };
  const problems = missing(target);
  if (problems.length > 0) return { ...nothing, problems, unreadable: false };
  try {
    return await readStatus(target);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { ...nothing, problems: [problem], unreadable: true };
  }
}

async function readStatus(target: Target): Promise<EnvironmentStatus> {
  const [{ deployments, versions }, applied] = await Promise.all([
    readServed(target),
    appliedMigrations(target),
  ]);
  const pending = await pendingMigrations(applied, PROJECT_ROOT);
  const serves = deployments.at(-1)?.shares.map(({ version, percentage }) => {
    const identity = versions.find(({ id }) => id === version)?.identity;
    return { version, percentage, ...(identity && { identity }) };
  });
  const { environment } = target;
  return {
    environment,
    problems: [],
    unreadable: false,
    serves: serves ?? [],
    migrations: { applied, pending },
  };
}

function lines({ environment, problems, serves, migrations }: EnvironmentStatus): string[] {
  if (problems.length > 0) return [`${environment}: ${problems.join('; ')}`];
  const served = serves.map(({ version, percentage, identity }) => {
    const commit = identity ? `commit ${identity.commit}` : 'not released by this command';
    return `  ${percentage} %  version ${version}  ${commit}`;
  });
  const { applied, pending } = migrations;
  return [
    `${environment}:`,
    ...(served.length > 0 ? served : ['  nothing is deployed']),
    `  migrations applied: ${applied.join(', ') || 'none'}; pending: ${pending.join(', ') || 'none'}`,
  ];
}

/** The version that most of the requests are served by. */
function main(serves: Served[]): Served | undefined {
  return serves.toSorted((a, b) => b.percentage - a.percentage)[0];
}

async function comparison(staging?: Identity, production?: Identity): Promise<string> {
  if (!staging) return 'Staging serves no release that could be promoted.';
  if (!production) return 'Production serves no release: npm run release -- promote';
  if (sameBytes(staging, production)) return 'Production serves what staging serves.';
  const apart = await commitsApart(production.commit, staging.commit);
  const both = `production ${short(production.commit)}, staging ${short(staging.commit)}`;
  if (!apart) return `Production does not serve what staging serves: ${both}.`;
  if (apart.other === 0)
    return `Production is ahead of staging, by ${commits(apart.one)}: ${both}.`;
  return `Production is behind staging, by ${commits(apart.other)}: ${both}.`;
}

function commits(count: number): string {
  return count === 1 ? '1 commit' : `${count} commits`;
}
