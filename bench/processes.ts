/** The processes of workerd that this process started. Linux only: elsewhere there are none. */
import { readdirSync, readFileSync } from 'node:fs';

const isLinux = process.platform === 'linux';

/** Process ids. */
export function workerdPids(): number[] {
  const pids = isLinux ? readdirSync('/proc').map(Number).filter(Number.isInteger) : [];
  return pids.filter((pid) => {
    const [, name, parent] = /\((.*)\) \S (\d+)/.exec(read(`/proc/${pid}/stat`)) ?? [];
    return name === 'workerd' && Number(parent) === process.pid;
  });
}

/** CPU time of processes, in ms. On another system the clock stands in for it. */
export function cpuMs(pids: number[]): number {
  if (!isLinux) return performance.now();
  const tasks = pids.flatMap((pid) => readdirSync(`/proc/${pid}/task`).map((id) => [pid, id]));
  const times = tasks.map(([pid, id]) => read(`/proc/${pid}/task/${id}/schedstat`));
  return times.reduce((sum, time) => sum + (Number.parseInt(time, 10) || 0), 0) / 1e6;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // The process or thread has ended.
  }
}
