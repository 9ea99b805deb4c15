/** `npm run release -- status`: what staging and production serve, and whether they are the same. */
import { PROJECT_ROOT } from '../wrangler.ts';
import { login } from './cloudflare.ts';
import { appliedMigrations } from './database.ts';
import { commitsBetween } from './git.ts';
import { type Identity, sameBytes } from './identity.ts';
import { pendingMigrations } from './migrate.ts';
import { readServed, short } from './rollout.ts';
import type { Steps } from './steps.ts';
import { ENVIRONMENTS, type EnvironmentName, missing, readTarget } from './target.ts';

type Served = { version: string; percentage: number; identity?: Identity };

/** `problems` are why the rest is not known. */
type EnvironmentStatus = {
  environment: EnvironmentName;
  problems: string[];
  serves: Served[];
  migrations: { applied: string[]; pending: string[] };
};

/** @returns both environments, and whether production is behind staging (`null`: not known). */
export async function status(steps: Steps) {
  await steps.look('check the login', login);
  const environments: EnvironmentStatus[] = [];
  for (const environment of ENVIRONMENTS) {
    environments.push(await steps.look(`read ${environment}`, () => statusOf(environment)));
  }
  for (const found of environments) for (const line of lines(found)) steps.say(line);
  const [staging, production] = environments.map(({ serves }) => main(serves));
  const behind = staging ? !sameBytes(staging, production) : null;
  steps.say(await comparison(staging, production));
  return { environments, behind };
}

async function statusOf(environment: EnvironmentName): Promise<EnvironmentStatus> {
  const target = readTarget(environment);
  const problems = missing(target);
  const nothing = { environment, serves: [], migrations: { applied: [], pending: [] } };
  if (problems.length > 0) return { ...nothing, problems };
  const [{ deployments, versions }, applied] = await Promise.all([
    readServed(target),
    appliedMigrations(target),
  ]);
  const pending = await pendingMigrations(applied, PROJECT_ROOT);
  const serves = deployments.at(-1)?.shares.map(({ version, percentage }) => {
    const identity = versions.find(({ id }) => id === version)?.identity;
    return { version, percentage, ...(identity && { identity }) };
  });
  return { environment, problems, serves: serves ?? [], migrations: { applied, pending } };
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

/** The release that most of the requests are served by. */
function main(serves: Served[]): Identity | undefined {
  return serves.toSorted((a, b) => b.percentage - a.percentage)[0]?.identity;
}

async function comparison(staging?: Identity, production?: Identity): Promise<string> {
  if (!staging) return 'Staging serves no release that could be promoted.';
  if (!production) return 'Production serves no release yet: npm run release -- promote';
  if (sameBytes(staging, production)) return 'Production serves what staging serves.';
  const commits = await commitsBetween(production.commit, staging.commit);
  const by = commits === undefined ? '' : `, by ${commits} commits`;
  return `Production is behind staging${by}: ${short(production.commit)}, ${short(staging.commit)}.`;
}
