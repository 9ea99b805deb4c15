/** The processes of workerd that this process started, and their CPU time. On Linux only. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Process ids. */
export function workerdPids(): string[] {
  const children = ['-P', String(process.pid), 'workerd'];
  return spawnSync('pgrep', children, { encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
}

/** CPU time of processes, in ms. Ended threads of workerd are left out: it keeps its own. */
export function cpuMs(pids: string[]): number {
  let ns = 0;
  for (const pid of pids)
    for (const thread of readdirSync(`/proc/${pid}/task`))
      ns += Number.parseInt(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'), 10);
  return ns / 1e6;
}
