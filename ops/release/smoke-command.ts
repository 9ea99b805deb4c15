/** `npm run release -- smoke`: the smoke test by itself. */
import type { Environment } from '../key-namespace.ts';
import { apiKey, apiKeyProblem, checkUp, type Subject } from './checkup.ts';
import { login } from './cloudflare.ts';
import type { Steps } from './steps.ts';
import { missing, readTarget, refuse } from './target.ts';

const LOCAL = new URL('http://localhost:8787');

/** @returns `checks`: what each of them has seen. */
export async function smoke(steps: Steps, environment: Environment, url: URL | undefined) {
  const subject = subjectOf(environment, url);
  apiKey(environment);
  // What is added to staging is removed from its database, through wrangler.
  if (environment === 'staging') await steps.look('check the login', login);
  const checks = await steps.take(
    `smoke test of ${subject.origin ?? new URL(subject.baseUrl).origin}`,
    () =>
      checkUp(subject, steps.signal).catch((error: Error) => {
        const isStarted = environment !== 'local' || !error.message.includes('ECONNREFUSED');
        throw isStarted
          ? error
          : new Error(`${error.message}: npm start, or name its address by --url`);
      }),
    [],
    (found) => `${found.length} checks`,
  );
  for (const { check, result } of checks) steps.say(`  ${check}: ${result}`);
  return { environment, checks };
}

function subjectOf(environment: Environment, url: URL | undefined): Subject {
  if (environment === 'local') {
    const { origin } = url ?? LOCAL;
    return { environment, baseUrl: `${origin}/v1`, origin };
  }
  const target = readTarget(environment);
  refuse(url ? [] : [...missing(target), apiKeyProblem(environment)]);
  return { environment, baseUrl: target.baseUrl, ...(url && { origin: url.origin }) };
}
