/** Runs the suite in another runtime, bundled, and controls the store over HTTP. */
import type * as Client from '../../client/src/index.ts';
import { type Control, runBehaviour } from './context.ts';
import { suite } from './suite.ts';

export type Outcome = { name: string; error?: string };

/** Runs test cases, by default all, and returns the outcome of each. */
export async function runSuite(
  client: typeof Client,
  baseUrl: string,
  control: Control,
  names: string[] = Object.keys(suite),
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const name of names) {
    const behaviour = suite[name];
    if (!behaviour) throw new Error(`no such behaviour: ${name}`);
    try {
      await runBehaviour(behaviour, client, baseUrl, control);
      outcomes.push({ name });
    } catch (error) {
      outcomes.push({ name, error: error instanceof Error ? `${error.stack}` : String(error) });
    }
  }
  return outcomes;
}

/** The control that `serveControl` serves at this address. */
export function remoteControl(address: string): Control {
  async function ask(name: keyof Control, argument: unknown = null) {
    const response = await fetch(`${address}/${name}`, {
      method: 'POST',
      body: JSON.stringify(argument),
    });
    if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
    return response.text();
  }
  return {
    reset: async () => void (await ask('reset')),
    sql: async (statements) => void (await ask('sql', statements)),
    fault: async (faults) => void (await ask('fault', faults)),
    issueKey: (record = {}) => ask('issueKey', record),
  };
}
