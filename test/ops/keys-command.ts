/** Running `npm run keys`. */
import { expect } from 'vitest';
import type { Project } from './project.ts';

export type NewKey = {
  id: string;
  key: string;
  label: string;
  scopes: string[];
  createdAt: string;
  expiresAt: string | null;
};
export type Listed = Omit<NewKey, 'key'> & { state: string };

/** `npm run keys -- …` in a copy of the project: what it prints, once it has succeeded. */
export function keysCommand(project: Project) {
  async function keys(args: string[], env: Record<string, string> = {}): Promise<string> {
    const { code, stdout, stderr } = await project.run('keys.ts', args, env);
    expect(code, stderr).toBe(0);
    return stdout;
  }

  async function json<T>(args: string[], env?: Record<string, string>): Promise<T> {
    return JSON.parse(await keys([...args, '--json'], env)) as T;
  }

  return { keys, json };
}
